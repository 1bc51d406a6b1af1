//go:build lab

package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/tier"
	"tombolo/tools/reproducible"
)

// TestFromNothing: where nothing was compiled before, the same bytes are compiled.
func TestFromNothing(t *testing.T) {
	tier.Long(t, "it compiles Go's library from nothing")
	origin := small(t)
	one := made(t, clone(t, origin, "a"), "")
	t.Setenv("GOCACHE", t.TempDir())
	equal(t, one, made(t, clone(t, origin, "another-directory"), ""))
}

// TestTheDriver: two releases of this project's last commit from two clones are equal. Both take
// what continuous integration has compiled, which has cgo as the machine has it: it is the
// linking, the commit in the program, its pages and the archives that are compared here for the
// driver itself. The workflow of a release compares two that were compiled apart.
func TestTheDriver(t *testing.T) {
	tier.Long(t, "it links the driver of the last commit twice, with the flags of a release", lastCommit())
	root, err := filepath.Abs(filepath.Join("..", ".."))
	assert.NilError(t, err)
	if err := exec.Command("git", "-C", root, "rev-parse", "--verify", "--quiet", "HEAD").Run(); err != nil {
		t.Skip("this source is no clone of a repository")
	}
	release := func(name string) string {
		checkout, to := clone(t, root, name), filepath.Join(t.TempDir(), "release")
		r, err := newRelease(checkout, to, []string{host()}, "")
		assert.NilError(t, err)
		r.settings = func(goos, goarch string) map[string]string {
			settings := maps.Clone(reproducible.Settings(goos, goarch))
			delete(settings, "CGO_ENABLED")
			return settings
		}
		r.out = os.Stderr
		assert.NilError(t, r.make(t.Context()))
		return to
	}
	equal(t, release("a"), release("another-directory"))
}

// lastCommit is what TestTheDriver makes releases of; "" where this is no clone.
func lastCommit() string {
	out, _ := exec.Command("git", "rev-parse", "--verify", "--quiet", "HEAD").Output()
	return string(out)
}
