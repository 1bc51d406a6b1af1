package nodes

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestSurge(t *testing.T) {
	for _, test := range []struct {
		surge string
		nodes int
		want  int
	}{{"10%", 3, 1}, {"33%", 10, 4}, {"100%", 5, 5}, {"3", 10, 3}, {"7", 4, 4}, {"", 10, 0}} {
		g := NodeGroup{Size: Size{Max: new(test.nodes)}, Update: NodeUpdate{MaxSurge: test.surge}}
		assert.Check(t, is.Equal(g.surge(), test.want), "%s of %d", test.surge, test.nodes)
	}
}
