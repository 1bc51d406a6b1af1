package treecheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/config"
)

// TestMistypedPath: a cluster whose path is nearly a directory that nobody follows is checked, and not left out.
func TestMistypedPath(t *testing.T) {
	for path, test := range map[string]struct{ flux, argocd string }{
		"clusters/prod":         {"demo prod; ", "demo; prod"},
		"clusters/prodd":        {"demo prod; ", "demo; prod"},
		"cluster/prod":          {"demo prod; ", "demo; prod"},
		"clusters/pord/":        {"demo prod; ", "demo; prod"},
		"clusters/staging":      {"demo; prod", "demo; prod"},
		"clusters/dem":          {"demo; prod", "demo; prod"}, // demo's is demo's own
		"clusters/prod/eu":      {"demo; prod", "demo; prod"},
		"cluster/pord":          {"demo; prod", "demo; prod"},
		"./clusters/production": {"demo; prod", "demo; prod"},
		"":                      {"demo; prod", "demo; prod"},
	} {
		for engine, want := range map[config.Engine]string{config.Flux: test.flux, config.ArgoCD: test.argocd} {
			root := t.TempDir()
			for _, dir := range []string{".git", "platform/flux/clusters/demo", "platform/flux/clusters/prod", "clusters"} {
				assert.NilError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
			}
			all := []*config.Cluster{
				{Name: "demo", GitOps: config.GitOps{Engine: config.Flux, Path: "clusters/demo"}},
				{Name: "prod", GitOps: config.GitOps{Engine: engine, Path: path}},
			}
			groups, elsewhere := find(root, all, nil)
			got := ""
			for _, g := range groups {
				got += strings.Join(clusters.NamesOf(g.clusters), " ") + "; "
			}
			got = strings.TrimSpace(got + strings.Join(clusters.NamesOf(elsewhere), " "))
			assert.Check(t, is.Equal(got, strings.TrimSpace(want)), "%s with %s", path, engine)
		}
	}
}
