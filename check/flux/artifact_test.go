package flux

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/tree/treetest"
)

// TestArtifact: what source-controller leaves out is not in the tree that is followed.
func TestArtifact(t *testing.T) {
	all := map[string]string{"a/.sops.yaml": "", "a/b.yaml": "", "a/c.yaml": "", "a/.github/ci.yaml": "", ".gitignore": "", "d/c.yaml": ""}
	for name, test := range map[string]struct {
		ignore map[string]string
		want   string
	}{
		"by default": {nil, "a/b.yaml a/c.yaml d/c.yaml"},
		"by a file of its own, without the defaults": {map[string]string{".sourceignore": "# all\nc.yaml\n"}, ".sourceignore a/.github/ci.yaml a/.sops.yaml a/b.yaml"},
		"all but":          {map[string]string{".sourceignore": "/*\n!/d\n"}, "d/c.yaml"},
		"by a nested file": {map[string]string{"a/.sourceignore": "c.yaml\n"}, "a/.github/ci.yaml a/.sops.yaml a/.sourceignore a/b.yaml d/c.yaml"},
		"an empty file":    {map[string]string{".sourceignore": "\n"}, ".sourceignore a/b.yaml a/c.yaml d/c.yaml"},
	} {
		texts := map[string]string{}
		for _, some := range []map[string]string{all, test.ignore} {
			for file, text := range some {
				texts[file] = text
			}
		}
		left := NewTrees(treetest.Index(t, treetest.FS(texts))).Platform().Files
		assert.Check(t, is.Equal(strings.Join(left.Names(), " "), test.want), name)
		assert.Check(t, test.ignore != nil || left.IsDir("d") && !left.IsDir("a/.github"), name)
	}
}
