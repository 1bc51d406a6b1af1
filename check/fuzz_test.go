package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
	"gotest.tools/v3/assert"

	"tombolo/check/published"
	"tombolo/tests/bounded"
)

// FuzzCheck gives check a tree of any text: it finds something or nothing, soon. What
// kustomize takes has a bound of its own.
func FuzzCheck(f *testing.F) {
	sealed(f)
	trees, err := filepath.Glob(filepath.Join("testdata", "hostile", "*.txtar"))
	assert.NilError(f, err)
	assert.Assert(f, len(trees) > 8)
	for _, name := range trees {
		text, err := os.ReadFile(name)
		assert.NilError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tree := fstest.MapFS{}
		for _, file := range txtar.Parse(text).Files {
			if name := strings.TrimPrefix(filepath.Clean("/"+file.Name), "/"); name != "" {
				tree[name] = &fstest.MapFile{Data: file.Data}
			}
		}
		short(t)
		for _, clusters := range [][]published.Set{twoClusters(t), fleetOf(t, "clusters/mgmt")} {
			bounded.Read(t, func() {
				if _, err := Check(Tree{FS: tree, Name: "tree"}, clusters); err != nil && !wasLimited(err) {
					t.Error(err)
				}
			})
		}
	})
}

// wasLimited says that a check was ended by a limit: templates can take for ever, and all
// memory, with Argo CD too.
func wasLimited(err error) bool {
	return strings.Contains(err.Error(), "given up") || strings.Contains(err.Error(), "out of memory") || strings.Contains(err.Error(), "cannot allocate memory")
}
