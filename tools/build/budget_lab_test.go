//go:build lab

package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// TestPackagesOfTools: a group of tools is compiled of no more packages than is written down, by
// a tenth. More of them is more minutes for everybody who sees this project first: where it is
// worth that, write the new number down.
func TestPackagesOfTools(t *testing.T) {
	tier.Short(t, "growth of what everybody builds first would go unseen")
	for _, g := range sets()["test"] {
		if g.installed() {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			want := budgets()[g.name].packages
			got, err := strconv.Atoi(strings.TrimSpace(files.Read(t, filepath.Join("..", "..", ".tools", g.name+packagesSuffix))))
			assert.NilError(t, err)
			assert.Check(t, got <= want*11/10, "%d packages are compiled for %s, %d are written down", got, g.name, want)
			assert.Check(t, got >= want*9/10, "%d packages are compiled for %s, %d are written down: write the smaller number down", got, g.name, want)
		})
	}
}
