package inputs

import (
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
)

func (c *checkout) id(ref string) string {
	c.t.Helper()
	repo, err := openRepository(c.t.Context(), c.dir, ref)
	assert.NilError(c.t, err)
	return repo.commit
}

// TestBrought: whatever makes a cluster another one has come by a commit that is named, on other
// branches too; what is no input of it, or was taken back, has not.
func TestBrought(t *testing.T) {
	c := newCheckout(t)
	one, err := config.Load(filepath.Join(c.dir, "clusters", "one.yaml"))
	assert.NilError(t, err)
	base := c.id("HEAD")
	var want []string
	step := func(brings bool, change func()) {
		t.Helper()
		change()
		c.commit()
		if brings {
			want = append([]string{c.id("HEAD")}, want...)
		}
	}
	step(false, func() { c.write("README.md", "more\n") })
	step(true, func() { c.replace("clusters/one.yaml", "max: 3", "max: 4") })
	step(false, func() { c.replace("clusters/two.yaml", "max: 3", "max: 4") })
	step(true, func() { c.write("stacks/new.go", "package stacks\n") })
	// A file that is renamed counts by both of its names.
	step(true, func() { c.write("stacks/old.go", "package stacks // dangerous\n") })
	step(true, func() { c.git("mv", "infra/stacks/old.go", "infra/stacks/older.go") })
	step(true, func() { c.replace("go.mod", "used => ./modules/used", "used => ./modules/next") })
	step(false, func() { c.write("flux/other.yaml", "a") })
	step(false, func() { c.write("flux/install.yaml", "kind: Other\n") })
	step(false, func() { c.write("flux/install.yaml", "kind: List\n") })
	// By a merge, whose own branch has more commits.
	c.git("switch", "-q", "-c", "request")
	c.replace("clusters/one.yaml", "max: 4", "max: 5")
	c.commit()
	c.replace("clusters/one.yaml", "max: 5", "max: 6")
	c.commit()
	c.git("switch", "-q", "main")
	c.git("merge", "-q", "--no-ff", "--no-edit", "request")
	want = append([]string{c.id("HEAD")}, want...)

	line, err := Brought(t.Context(), c.dir, base, one)
	assert.NilError(t, err)
	assert.DeepEqual(t, line.Brought, want)
	assert.Check(t, is.Len(line.Commits, 11))
	line, err = Brought(t.Context(), c.dir, c.id("HEAD"), one)
	assert.NilError(t, err)
	assert.Check(t, is.Len(line.Brought, 0))

	// A clone without all commits tells nothing.
	shallow := filepath.Join(t.TempDir(), "shallow")
	c.git("clone", "-q", "--depth", "3", "file://"+c.repo, shallow)
	there, err := config.Load(filepath.Join(shallow, "infra", "clusters", "one.yaml"))
	assert.NilError(t, err)
	for _, since := range []string{"HEAD~1", ""} {
		_, err = Brought(t.Context(), filepath.Join(shallow, "infra"), since, there)
		assert.ErrorContains(t, err, "look for the requests that have changed one: the clone is shallow; fetch all commits")
	}
	_, err = Brought(t.Context(), c.dir, strings.Repeat("0", 40), one)
	assert.ErrorContains(t, err, "the repository has no such commit")
}
