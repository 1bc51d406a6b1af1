package lab

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// TestSettingsOfTheLabGo: those with a key on this machine, and no others.
func TestSettingsOfTheLabGo(t *testing.T) {
	root := t.TempDir()
	assert.NilError(t, os.Mkdir(filepath.Join(root, "clusters"), 0o700))
	for name, text := range map[string]string{
		"Pulumi.lab-core.yaml":        "secretsprovider: awskms:///alias/tombolo?region=eu-central-1&endpoint=http://127.0.0.1:4566\nencryptedkey: x\n",
		"Pulumi.real-core.yaml":       "secretsprovider: awskms:///alias/tombolo?region=eu-central-1\nencryptedkey: x\n",
		"Pulumi.elsewhere-core.yaml":  "secretsprovider: awskms:///alias/tombolo?endpoint=https://kms.example.com\n",
		"Pulumi.passphrase-core.yaml": "encryptionsalt: v1:x\n",
		"lab.yaml":                    "secretsprovider: awskms:///alias/tombolo?endpoint=http://127.0.0.1:4566\n",
	} {
		assert.NilError(t, os.WriteFile(filepath.Join(root, "clusters", name), []byte(text), 0o600))
	}
	assert.NilError(t, Open(root).removeSettings())
	left, err := filepath.Glob(filepath.Join(root, "clusters", "*"))
	assert.NilError(t, err)
	assert.Equal(t, len(left), 4)
	_, err = os.Stat(filepath.Join(root, "clusters", "Pulumi.lab-core.yaml"))
	assert.Check(t, os.IsNotExist(err))
}
