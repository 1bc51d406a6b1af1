package enginefacts

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
)

func TestSupports(t *testing.T) {
	for _, c := range []struct {
		engine, version, minor string
		supported, known       bool
	}{
		{"flux", "v2.7.5", "1.34", true, true},
		{"flux", "v2.7.5", "1.35", false, true},
		{"flux", "v2.8.0", "1.35", true, true},
		{"flux", "v2.99.0", "1.35", false, false},
		{"argocd", "v3.2.0", "1.35", false, true},
		{"argocd", "v3.3.1", "1.35", true, true},
		{"argocd", "v3.4.0-rc1", "1.31", false, true},
		{"kluctl", "v2.8.0", "1.35", false, false},
		{"flux", "2.8", "1.35", false, false},
	} {
		supported, known := Supports(c.engine, c.version, c.minor)
		assert.Check(t, supported == c.supported && known == c.known, "%v: %t, %t", c, supported, known)
	}
}

func TestReleases(t *testing.T) {
	assert.DeepEqual(t, Releases("flux", "1.35"), []string{"v2.8", "v2.9"})
	assert.DeepEqual(t, Releases("argocd", "1.36"), []string{"v3.5", "v3.6"})
	assert.Equal(t, len(Releases("flux", "1.99")), 0)
}

// TestTableIsInOrder: each release's versions follow each other, and the next
// release never begins or ends before it.
func TestTableIsInOrder(t *testing.T) {
	for engine := range kubernetes {
		var last []string
		for _, minor := range []string{"1.29", "1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36", "1.37"} {
			releases := Releases(engine, minor)
			if len(last) > 0 && len(releases) > 0 {
				assert.Check(t, last[0] <= releases[0] && last[len(last)-1] <= releases[len(releases)-1], "%s %s: %v after %v", engine, minor, releases, last)
			}
			last = releases
		}
		for release, minors := range kubernetes[engine] {
			assert.Check(t, slices.IsSorted(minors) && len(minors) >= 3, "%s %s", engine, release)
		}
	}
}
