package main

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab/charts"
)

// TestStandInsRenderTwice: under Argo CD, a chart that renders differently each
// time is applied anew for ever. With the tree's values and those that the
// catalogue gives, the lab's charts do not.
func TestStandInsRenderTwice(t *testing.T) {
	pins, err := pinned(os.DirFS("../.."))
	assert.NilError(t, err)
	standIns, err := charts.Load(os.DirFS("../../lab/charts"))
	assert.NilError(t, err)
	rendered := 0
	for _, c := range standIns {
		for _, p := range pins {
			if p.Chart != c.Name {
				continue
			}
			rendered++
			file := filepath.Join(t.TempDir(), c.File())
			assert.NilError(t, os.WriteFile(file, c.Archive, 0o600))
			differ, err := renderedTwice(file, p.Values)
			assert.NilError(t, err, c.Name)
			assert.Check(t, len(differ) == 0, "%s: %v", c.Name, differ)
		}
	}
	assert.Check(t, rendered > 15, rendered)
}
