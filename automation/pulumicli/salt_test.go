package pulumicli

import (
	"os"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestShareSalt: a new stack gets the salt of the other, where the CLI encrypts with a passphrase.
func TestShareSalt(t *testing.T) {
	const salted = "encryptionsalt: v1:abc=:v1:d:e\nconfig:\n  tombolo:x: 1\n"
	for name, tt := range map[string]struct {
		of, with          string
		provider, backend string
		want              string
	}{
		"salted":                 {of: salted, want: "encryptionsalt: v1:abc=:v1:d:e\n"},
		"salted, by name":        {of: salted, provider: "passphrase", want: "encryptionsalt: v1:abc=:v1:d:e\n"},
		"has settings":           {of: salted, with: "config: {}\n", want: "config: {}\n"},
		"without settings":       {},
		"no salt":                {of: "config: {}\n"},
		"encrypted by a key":     {of: "secretsprovider: awskms://alias/a\n" + salted},
		"new stacks have a key":  {of: salted, provider: "awskms://alias/a"},
		"Pulumi Cloud encrypts":  {of: salted, backend: "https://api.pulumi.com"},
		"another backend stores": {of: salted, backend: "s3://state", want: "encryptionsalt: v1:abc=:v1:d:e\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := New(Options{WorkDir: t.TempDir(), Secrets: tt.provider, Env: map[string]string{"PULUMI_BACKEND_URL": tt.backend}})
			assert.NilError(t, p.prepareWorkDir())
			for stack, text := range map[string]string{"demo-core": tt.of, "demo-bootstrap": tt.with} {
				if text != "" {
					assert.NilError(t, os.WriteFile(p.Place().settingsFile(stack), []byte(text), 0o600))
				}
			}
			assert.NilError(t, p.ShareSalt("demo-core", "demo-bootstrap"))
			got, err := os.ReadFile(p.Place().settingsFile("demo-bootstrap"))
			assert.Check(t, is.Equal(string(got), tt.want))
			assert.Check(t, is.Equal(os.IsNotExist(err), tt.want == ""))
		})
	}
}

// TestEmptyPassphrase: no new stack is encrypted by the empty passphrase of a variable of CI that
// has no value. Pulumi takes it for one.
func TestEmptyPassphrase(t *testing.T) {
	const set, file = "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"
	for name, tt := range map[string]struct {
		env                map[string]string
		provider, settings string
		refused            bool
	}{
		"empty":             {env: map[string]string{set: ""}, refused: true},
		"empty, by name":    {env: map[string]string{set: ""}, provider: "passphrase", refused: true},
		"salted":            {env: map[string]string{set: ""}, settings: "encryptionsalt: v1:abc=:v1:d:e\n", refused: true},
		"a passphrase":      {env: map[string]string{set: "x"}},
		"of a file":         {env: map[string]string{set: "", file: "/run/passphrase"}},
		"not set":           {}, // the CLI says so itself
		"a key":             {env: map[string]string{set: ""}, provider: "awskms://alias/a"},
		"a key of settings": {env: map[string]string{set: ""}, settings: "secretsprovider: awskms://alias/a\n"},
		"Pulumi Cloud":      {env: map[string]string{set: "", "PULUMI_BACKEND_URL": "https://api.pulumi.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := New(Options{WorkDir: t.TempDir(), Secrets: tt.provider, Env: tt.env})
			assert.NilError(t, p.prepareWorkDir())
			if tt.settings != "" {
				assert.NilError(t, os.WriteFile(p.Place().settingsFile("demo-core"), []byte(tt.settings), 0o600))
			}
			err := p.Place().refuseEmptyPassphrase("demo-core")
			if !tt.refused {
				assert.NilError(t, err)
				return
			}
			assert.Error(t, err, "make stack demo-core: PULUMI_CONFIG_PASSPHRASE is set to an empty passphrase, with which anybody decrypts its secrets; "+
				"set it to a passphrase, or encrypt by a key service with --secrets-provider")
		})
	}
}
