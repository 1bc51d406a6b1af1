package pulumicli

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// What is encrypted in a stack's settings is read as ever; without any, nobody
// needs a passphrase.
func TestAside(t *testing.T) {
	for name, tt := range map[string]struct {
		settings            string
		secrets, passphrase string
	}{
		"no settings":            {"", "passphrase", "nothing is stored"},
		"settings, no secrets":   {"config: {}\n", "passphrase", "nothing is stored"},
		"encrypted by a phrase":  {"encryptionsalt: v1:abc\n", "passphrase", "theirs"},
		"encrypted by a key":     {"secretsprovider: awskms://alias/a\nencryptedkey: abc\n", "awskms://alias/a", "theirs"},
		"a salt that is not one": {"encryptionsalt: \"\"\n", "passphrase", "nothing is stored"},
	} {
		t.Run(name, func(t *testing.T) {
			p := New(Options{WorkDir: t.TempDir(), Env: map[string]string{
				"PULUMI_BACKEND_URL": "s3://theirs", "PULUMI_CONFIG_PASSPHRASE": "theirs",
			}})
			assert.NilError(t, p.prepareWorkDir())
			file := filepath.Join(stackConfigDir, "Pulumi.demo-core.yaml")
			if tt.settings != "" {
				assert.NilError(t, os.WriteFile(filepath.Join(p.WorkDir, file), []byte(tt.settings), 0o600))
			}
			dir := t.TempDir()
			at, err := p.Aside(dir, "demo-core", true)
			assert.NilError(t, err)
			got := []string{at.dir, at.secrets, at.env["PULUMI_CONFIG_PASSPHRASE"], at.env["PULUMI_BACKEND_URL"], p.Env["PULUMI_BACKEND_URL"]}
			want := []string{dir, tt.secrets, tt.passphrase, "file://" + filepath.Join(dir, "state") + "?metadata=skip", "s3://theirs"}
			assert.DeepEqual(t, got, want)
			copied, err := os.ReadFile(filepath.Join(dir, file))
			if string(copied) != tt.settings || err != nil && tt.settings != "" {
				t.Errorf("settings are %q, error %v, want %q", copied, err, tt.settings)
			}
		})
	}
}

// TestAsideWithoutSecrets: neither what is encrypted nor what decrypts it comes along.
func TestAsideWithoutSecrets(t *testing.T) {
	p := New(Options{WorkDir: t.TempDir(), Env: map[string]string{"PULUMI_BACKEND_URL": "s3://theirs"}})
	assert.NilError(t, p.prepareWorkDir())
	file := filepath.Join(stackConfigDir, "Pulumi.demo-core.yaml")
	assert.NilError(t, os.WriteFile(filepath.Join(p.WorkDir, file), []byte(`
secretsprovider: awskms://alias/a
encryptedkey: abc
encryptionsalt: v1:abc
environment: [shared]
config:
  tombolo:plain: a
  tombolo:token: {secure: AAAB}
  tombolo:deep: {list: [{inner: {secure: AAAC}}]}
  tombolo:object: {insecure: b}
  tombolo:tagged: {!!binary c2VjdXJl: AAAD}
  &key tombolo:merged: {<<: {secure: AAAE}}
<<: {secretsprovider: "awskms://alias/b"}
!!binary ZW5jcnlwdGVka2V5: abd
`), 0o600))
	dir := t.TempDir()
	at, err := p.Aside(dir, "demo-core", false)
	assert.NilError(t, err)
	assert.DeepEqual(t, []string{at.secrets, at.env["PULUMI_CONFIG_PASSPHRASE"]}, []string{"passphrase", "nothing is stored"})
	copied, err := os.ReadFile(filepath.Join(dir, file))
	assert.NilError(t, err)
	assert.Equal(t, string(copied), "config:\n    tombolo:object:\n        insecure: b\n    tombolo:plain: a\n")
}
