package enginefacts

import (
	"maps"
	"slices"
	"testing"

	"golang.org/x/mod/semver"
	"gotest.tools/v3/assert"
)

func TestUntested(t *testing.T) {
	for _, c := range []struct {
		engine, version, minor string
		untested               bool
	}{
		{"flux", "v2.7.5", "1.34", false},
		{"flux", "v2.7.5", "1.35", true},
		{"flux", "v2.8.0", "1.35", false},
		{"flux", "v2.99.0", "1.35", false},
		{"argocd", "v3.2.0", "1.35", true},
		{"argocd", "v3.3.1", "1.35", false},
		{"argocd", "v3.4.0-rc1", "1.31", true},
		{"kluctl", "v2.8.0", "1.35", false},
		{"flux", "2.8", "1.35", false},
	} {
		_, untested := Untested(c.engine, c.version, c.minor)
		assert.Check(t, untested == c.untested, "%v: %t", c, untested)
	}
}

func TestGap(t *testing.T) {
	gap, _ := Untested("flux", "v2.7.5", "1.35")
	assert.DeepEqual(t, gap, Gap{Tested: []string{"1.32", "1.33", "1.34"}, Releases: []string{"v2.8", "v2.9"}})
	gap, _ = Untested("flux", "v2.7.5", "1.99")
	assert.Equal(t, len(gap.Releases), 0)
}

// TestTableIsInOrder: each release's versions follow each other, and the next
// release never begins or ends before it.
func TestTableIsInOrder(t *testing.T) {
	for engine, releases := range kubernetes {
		var last []string
		for _, release := range slices.SortedFunc(maps.Keys(releases), semver.Compare) {
			minors := releases[release]
			assert.Check(t, slices.IsSortedFunc(minors, func(a, b string) int { return semver.Compare("v"+a, "v"+b) }) && len(minors) >= 3, "%s %s", engine, release)
			if last != nil {
				assert.Check(t, last[0] <= minors[0] && last[len(last)-1] <= minors[len(minors)-1], "%s %s: %v after %v", engine, release, minors, last)
			}
			last = minors
		}
	}
}
