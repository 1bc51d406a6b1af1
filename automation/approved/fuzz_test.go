package approved

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/bounded"
)

// FuzzRead gives an apply any file for a plan: it is read or refused.
func FuzzRead(f *testing.F) {
	whole, err := fleet().Bytes()
	assert.NilError(f, err)
	for _, text := range []string{string(whole), "", "{}", "null", "[]", `{"version": 1e99}`, `{"version":1}{"version":1}`, string(whole[:len(whole)/2]), `{"Clusters":[null]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		name := filepath.Join(t.TempDir(), "plan.json")
		assert.NilError(t, os.WriteFile(name, text, 0o600))
		bounded.Read(t, func() {
			p, digest, err := Read(name, "")
			if err == nil && (digest == "" || p.Version != Version) {
				t.Errorf("a plan of version %d with the digest %q", p.Version, digest)
			}
		})
	})
}
