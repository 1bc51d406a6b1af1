package inputs

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"tombolo/config"
)

// TestSharedSettings: a change of what clusters share touches those that are others by it, at the
// commit and now.
func TestSharedSettings(t *testing.T) {
	one := map[string][]string{"one": {"shared settings: clusters/_dev.yaml changed"}}
	for name, test := range map[string]struct {
		change func(*checkout)
		want   map[string][]string
		shared []string
	}{
		"nothing": {change: func(*checkout) {}},
		"a value that one has": {
			func(c *checkout) { c.replace("clusters/_dev.yaml", "owner: us", "owner: them") }, one,
			[]string{"clusters/_dev.yaml changed: 1 cluster"},
		},
		"a comment": {
			func(c *checkout) { c.write("clusters/_dev.yaml", "# more\ntags: {owner: us}\n") }, nil,
			[]string{"clusters/_dev.yaml changed: no cluster is another one by it"},
		},
		"a value that all have by themselves": {
			func(c *checkout) {
				c.write("clusters/_dev.yaml", "tags: {owner: us}\nkubernetes: {version: \"1.34\"}\n")
			}, nil,
			[]string{"clusters/_dev.yaml changed: no cluster is another one by it"},
		},
		"a comment in one, a value in the other": {
			func(c *checkout) {
				c.write("clusters/_dev.yaml", "# more\ntags: {owner: us}\n")
				c.write("clusters/_defaults.yaml", "labels: {a: b}\n")
				c.replace("clusters/two.yaml", "kubernetes:", "labels: {a: b}\nkubernetes:")
			},
			map[string][]string{
				"one": {"shared settings: clusters/_defaults.yaml added"}, "mgmt": {"shared settings: clusters/_defaults.yaml added"},
				"two": {"cluster file: clusters/two.yaml changed"}, "spoke": {"shared settings: clusters/_defaults.yaml added"},
			},
			[]string{"clusters/_defaults.yaml added: 3 clusters", "clusters/_dev.yaml changed: no cluster is another one by it"},
		},
		"a value moved up": {
			func(c *checkout) {
				c.remove("clusters/_dev.yaml")
				c.write("clusters/_defaults.yaml", "tags: {owner: us}\n")
			},
			map[string][]string{
				"mgmt": {"shared settings: clusters/_defaults.yaml added"}, "two": {"shared settings: clusters/_defaults.yaml added"},
				"spoke": {"shared settings: clusters/_defaults.yaml added"},
			},
			[]string{"clusters/_defaults.yaml added: 3 clusters", "clusters/_dev.yaml removed: no cluster is another one by it"},
		},
		"a file that comes": {
			func(c *checkout) { c.write("clusters/_defaults.yaml", "protect: true\n") },
			map[string][]string{
				"one": {"shared settings: clusters/_defaults.yaml added"}, "mgmt": {"shared settings: clusters/_defaults.yaml added"},
				"two": {"shared settings: clusters/_defaults.yaml added"}, "spoke": {"shared settings: clusters/_defaults.yaml added"},
			},
			[]string{"clusters/_defaults.yaml added: 4 clusters"},
		},
		"a file that goes, and a commit": {
			func(c *checkout) { c.remove("clusters/_dev.yaml"); c.commit() },
			map[string][]string{"one": {"shared settings: clusters/_dev.yaml removed"}},
			[]string{"clusters/_dev.yaml removed: 1 cluster"},
		},
		"a value moved from one file to the other": {
			func(c *checkout) {
				c.write("clusters/_dev.yaml", "labels: {a: b}\n")
				c.replace("clusters/one.yaml", "kubernetes:", "tags: {owner: us}\nlabels: {a: b}\nkubernetes:")
			},
			map[string][]string{"one": {"cluster file: clusters/one.yaml changed"}},
			[]string{"clusters/_dev.yaml changed: no cluster is another one by it"},
		},
		"the hub's": {
			func(c *checkout) { c.write("clusters/_management.yaml", "tags: {owner: us}\n") },
			map[string][]string{
				"mgmt": {"shared settings: clusters/_management.yaml added"}, "spoke": {"shared settings: clusters/_management.yaml added"},
			},
			[]string{"clusters/_management.yaml added: 2 clusters"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCheckout(t)
			c.replace("clusters/two.yaml", "environment: dev", "environment: stage")
			c.replace("clusters/mgmt.yaml", environmentOf(t, c, "mgmt"), "environment: management")
			c.write("clusters/_dev.yaml", "tags: {owner: us}\n")
			c.replace("clusters/spoke.yaml", environmentOf(t, c, "spoke"), "environment: edge")
			c.commit()
			c.git("branch", "base")
			test.change(c)
			got, report, err := c.since("base", "")
			assert.NilError(t, err)
			if len(test.want) == 0 {
				test.want = map[string][]string{}
			}
			assert.Assert(t, cmp.Diff(test.want, got) == "", "%v", got)
			var lines []string
			for _, s := range report.Shared {
				lines = append(lines, s.String())
			}
			assert.DeepEqual(t, lines, test.shared)
			assert.Equal(t, len(report.Removed), 0)
		})
	}
}

func environmentOf(t *testing.T, c *checkout, name string) string {
	t.Helper()
	loaded, err := config.Load(filepath.Join(c.dir, "clusters", name+".yaml"))
	assert.NilError(t, err)
	return "environment: " + loaded.Environment
}

// TestBroughtByShared: the requests that have to be approved are those that the same change in the cluster's own
// file would have: whatever later ones have written over it.
func TestBroughtByShared(t *testing.T) {
	c := newCheckout(t)
	base := c.id("HEAD")
	var want []string
	step := func(file, text string) {
		c.write(file, text)
		c.commit()
		want = append([]string{c.id("HEAD")}, want...)
	}
	brought := func() []string {
		t.Helper()
		one, err := config.Load(filepath.Join(c.dir, "clusters", "one.yaml"))
		assert.NilError(t, err)
		line, err := Brought(t.Context(), c.dir, base, one)
		assert.NilError(t, err)
		return line.Brought
	}
	step("clusters/_dev.yaml", "tags: {owner: us}\n")
	assert.DeepEqual(t, brought(), want)
	// What is changed again in a file that is nearer is still approved where it was changed first.
	step("clusters/_defaults.yaml", "protect: true\n")
	step("clusters/_dev.yaml", "tags: {owner: us}\nprotect: true\n")
	assert.DeepEqual(t, brought(), want)
	c.replace("clusters/one.yaml", "kubernetes:", "protect: true\ntags: {owner: us}\nkubernetes:")
	c.commit()
	want = append([]string{c.id("HEAD")}, want...)
	assert.DeepEqual(t, brought(), want)

	// A file that moves, or goes, is brought by who moves it.
	base, want = c.id("HEAD"), nil
	c.remove("clusters/_dev.yaml")
	c.write("clusters/_next.yaml", "tags: {owner: us}\nprotect: true\n")
	c.replace("clusters/one.yaml", "environment: dev", "environment: next")
	c.commit()
	assert.DeepEqual(t, brought(), []string{c.id("HEAD")})
	base = c.id("HEAD")
	c.remove("clusters/_next.yaml")
	c.commit()
	assert.DeepEqual(t, brought(), []string{c.id("HEAD")})
	base = c.id("HEAD")
	c.write("clusters/_prod.yaml", "tags: {owner: others}\n")
	c.commit()
	assert.Check(t, len(brought()) == 0, "of no concern to the cluster")
}

// TestSharedUnknownToGit: a cluster is not what the commit has where a shared file of it is not in Git.
func TestSharedUnknownToGit(t *testing.T) {
	c := newCheckout(t)
	c.write(".gitignore", "_*.yaml\n")
	c.commit()
	c.write("clusters/_dev.yaml", "tags: {owner: us}\n")
	got, _, err := c.since("HEAD", "", "one")
	assert.NilError(t, err)
	assert.DeepEqual(t, got, map[string][]string{"one": {"shared settings: clusters/_dev.yaml added"}})
	one, err := config.Load(filepath.Join(c.dir, "clusters", "one.yaml"))
	assert.NilError(t, err)
	_, err = Brought(t.Context(), c.dir, "HEAD", one)
	assert.ErrorContains(t, err, "what it depends on is not committed")
}
