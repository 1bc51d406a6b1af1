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
					assert.NilError(t, os.WriteFile(p.settingsFile(stack), []byte(text), 0o600))
				}
			}
			assert.NilError(t, p.ShareSalt("demo-core", "demo-bootstrap"))
			got, err := os.ReadFile(p.settingsFile("demo-bootstrap"))
			assert.Check(t, is.Equal(string(got), tt.want))
			assert.Check(t, is.Equal(os.IsNotExist(err), tt.want == ""))
		})
	}
}
