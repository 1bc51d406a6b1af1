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

// checkout is a project of somebody else, and secret is a tree beside it.
func checkout(t *testing.T) (project, secret string) {
	t.Helper()
	dir := t.TempDir()
	project, secret = filepath.Join(dir, "project"), filepath.Join(dir, "secret")
	for _, name := range []string{filepath.Join(project, ".git"), filepath.Join(secret, "clusters", "demo"), filepath.Join(secret, ".git")} {
		assert.NilError(t, os.MkdirAll(name, 0o755))
	}
	for name, text := range map[string]string{
		filepath.Join(project, "Pulumi.yaml"):                      "name: tombolo\n",
		filepath.Join(secret, "Pulumi.yaml"):                       "name: tombolo\n",
		filepath.Join(secret, "clusters", "demo", "password.yaml"): "password: ${hunter2}\n",
	} {
		assert.NilError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	return project, secret
}

// TestTreesStayInTheProject: a directory of a checkout that is a link to another place is
// no tree, wherever on the way the link is.
func TestTreesStayInTheProject(t *testing.T) {
	for _, c := range []struct{ link, to, tree string }{
		{"platform/flux", "SECRET", "platform/flux"},
		{"platform", "SECRET", "platform"},
		{"platform", "SECRET/..", "platform/secret"},
		{"a", "SECRET", "a"},
		{"platform/flux", "../../secret", "platform/flux"},
		{"platform/flux", "../.git", "platform/flux"},
	} {
		project, secret := checkout(t)
		link := filepath.Join(project, c.link)
		assert.NilError(t, os.MkdirAll(filepath.Dir(link), 0o755))
		to := strings.ReplaceAll(c.to, "SECRET", secret)
		assert.NilError(t, os.Symlink(to, link))
		_, err := open(filepath.Join(project, c.tree))
		assert.Check(t, is.ErrorContains(err, "is a link out of the project"), "%v", c)
	}
}

// TestFindsNoTreeByALink: a tree is not looked for where a link leads out of the project.
func TestFindsNoTreeByALink(t *testing.T) {
	project, secret := checkout(t)
	assert.NilError(t, os.Mkdir(filepath.Join(project, "platform"), 0o755))
	assert.NilError(t, os.Symlink(secret, filepath.Join(project, "platform", "flux")))
	_, ok := clusters.Tree(project, config.GitOps{Path: "clusters/demo"})
	assert.Check(t, !ok)
	assert.NilError(t, os.Mkdir(filepath.Join(project, "clusters"), 0o755))
	assert.NilError(t, os.Symlink(filepath.Join(secret, "clusters", "demo"), filepath.Join(project, "clusters", "demo")))
	_, ok = clusters.Tree(project, config.GitOps{Path: "clusters/demo"})
	assert.Check(t, !ok)
}

// TestALinkMayStay: a link to another place of the project is as good as the place.
func TestALinkMayStay(t *testing.T) {
	project, _ := checkout(t)
	assert.NilError(t, os.MkdirAll(filepath.Join(project, "trees", "flux", "clusters", "demo"), 0o755))
	assert.NilError(t, os.Symlink("trees", filepath.Join(project, "platform")))
	dir, ok := clusters.Tree(project, config.GitOps{Path: "clusters/demo"})
	assert.Assert(t, ok)
	tree, err := open(dir)
	assert.NilError(t, err)
	assert.Check(t, tree.hasDir("clusters/demo"))
}
