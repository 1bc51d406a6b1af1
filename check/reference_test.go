package check

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/check/finding"
	"tombolo/check/published"
	"tombolo/config"
)

// TestReferenceTree holds the reference tree to all sample clusters, and each
// of its overlays to the cluster with the most addons: one that follows it
// could turn on as many.
func TestReferenceTree(t *testing.T) {
	samples, err := config.LoadDir("../clusters")
	assert.NilError(t, err)
	samples = slices.DeleteFunc(samples, func(c *config.Cluster) bool { return c.GitOps.Engine == config.ArgoCD })
	root := os.DirFS("../platform/flux")
	fullest := slices.MaxFunc(samples, func(a, b *config.Cluster) int { return len(a.Addons) - len(b.Addons) })
	var all []published.Set
	followed := map[string]bool{}
	for _, c := range samples {
		p := published.To(c, c)
		followed[p.Path] = true
		all = append(all, p)
	}
	for _, overlay := range overlays(t, root) {
		if !followed[overlay] {
			c := *fullest
			c.Name, c.GitOps.Path = path.Base(overlay), overlay
			all = append(all, published.To(&c, &c))
		}
	}
	for _, p := range all {
		t.Run(p.Cluster, func(t *testing.T) {
			found, err := Check(Tree{FS: root, Name: "platform/flux"}, []published.Set{p})
			assert.NilError(t, err)
			for _, f := range found {
				if f.Severity == finding.Error || (f.Severity == finding.Warning && followed[p.Path]) {
					t.Error(f)
				}
			}
		})
	}
}

// overlays are the directories of the tree that a cluster can follow: those
// that have stages.
func overlays(t *testing.T, root fs.FS) []string {
	t.Helper()
	apps, err := fs.Glob(root, "clusters/*/apps/kustomization.yaml")
	assert.Assert(t, err == nil && len(apps) > 0, "the tree has no overlays: %v", err)
	var out []string
	for _, name := range apps {
		out = append(out, path.Dir(path.Dir(name)))
	}
	return out
}
