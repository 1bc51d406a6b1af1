package promotion

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/tests/files"
)

func cluster(name, branch string, wave int) *config.Cluster {
	return &config.Cluster{Name: name, Wave: wave, GitOps: config.GitOps{
		Engine: config.Flux, URL: "https://git.example.com/platform.git", Branch: branch,
	}}
}

func TestStages(t *testing.T) {
	west := cluster("prod-west", "main", 3)
	west.GitOps.URL = "ssh://git@GIT.example.com:22/platform"
	spoke := &config.Cluster{Name: "spoke", GitOps: config.GitOps{Engine: config.ArgoCD, Hub: "prod-east"}}
	got, err := Stages([]*config.Cluster{west, cluster("prod-east", "main", 2), cluster("test", "test", 1), spoke, cluster("dev", "dev", 0)})
	assert.NilError(t, err)
	var order []string
	for _, s := range got {
		order = append(order, s.Branch+": "+strings.Join(s.names(), " "))
	}
	assert.DeepEqual(t, order, []string{"dev: dev", "test: test", "main: prod-west prod-east"})
}

func TestStagesThatAreNone(t *testing.T) {
	other := cluster("other", "main", 1)
	other.GitOps.URL = "https://git.example.com/other.git"
	for name, c := range map[string]struct {
		all  []*config.Cluster
		want string
	}{
		"one branch":           {[]*config.Cluster{cluster("a", "main", 0), cluster("b", "main", 1)}, "all clusters follow the branch main (a and b), so nothing is promoted; give each"},
		"several repositories": {[]*config.Cluster{cluster("a", "dev", 0), other}, "several repositories, git.example.com/platform and git.example.com/other; name a checkout"},
		"one wave":             {[]*config.Cluster{cluster("a", "dev", 1), cluster("b", "main", 1)}, "which of the branches dev (a in wave 1) and main (b in wave 1) comes first; give"},
		"waves that overlap": {
			[]*config.Cluster{cluster("a", "dev", 0), cluster("b", "main", 1), cluster("c", "dev", 2)},
			"dev (a in wave 0, c in wave 2) and main (b in wave 1)",
		},
		"spokes alone": {[]*config.Cluster{{Name: "s", GitOps: config.GitOps{Engine: config.ArgoCD, Hub: "h"}}}, "name the hub"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Stages(c.all)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// repo is a repository in a directory of its own.
type repo struct{ dir string }

func (r repo) git(t *testing.T, args ...string) string {
	t.Helper()
	return files.Git(t, r.dir, args...)
}

// commit writes a file and commits it to the branch that is checked out.
func (r repo) commit(t *testing.T, file, text, subject string) {
	t.Helper()
	files.Write(t, filepath.Join(r.dir, file), text)
	r.git(t, "add", "--all")
	r.git(t, "commit", "--quiet", "--message", subject)
}

// newRepo has the branches dev, test and main at one commit; dev is checked out.
func newRepo(t *testing.T) repo {
	t.Helper()
	r := repo{t.TempDir()}
	r.git(t, "init", "--quiet", "--initial-branch", "dev")
	r.commit(t, "tree/addons/istio/release.yaml", "1\n", "begin")
	r.git(t, "branch", "test")
	r.git(t, "branch", "main")
	return r
}

func stages() []Stage {
	return []Stage{
		{"dev", []*config.Cluster{cluster("dev", "dev", 0)}},
		{"test", []*config.Cluster{cluster("test", "test", 1)}},
		{"main", []*config.Cluster{cluster("prod", "main", 2)}},
	}
}

func (r repo) compare(t *testing.T) []Step {
	t.Helper()
	steps, err := Compare(t.Context(), stages(), Options{Dir: filepath.Join(r.dir, "tree")})
	assert.NilError(t, err)
	assert.Equal(t, len(steps), 2)
	return steps
}

func subjects(commits []Commit) []string {
	var out []string
	for _, c := range commits {
		out = append(out, c.Subject)
	}
	return out
}

// TestTwoFastForwards: a change goes from dev to main, one fast-forward after the other.
func TestTwoFastForwards(t *testing.T) {
	r := newRepo(t)
	for _, s := range r.compare(t) {
		assert.Check(t, s.Same() && !s.Diverged())
	}
	r.commit(t, "tree/addons/istio/release.yaml", "2\n", "raise istio")
	r.commit(t, "tree/systems/shop.yaml", "1\n", "add the shop")
	r.commit(t, "docs/a b\nc.md", "1\n", "a file elsewhere")

	s := r.compare(t)[0]
	assert.Check(t, !s.Same() && !s.Diverged())
	assert.DeepEqual(t, subjects(s.Commits), []string{"a file elsewhere", "add the shop", "raise istio"})
	assert.Equal(t, s.Commits[0].Author, "Ada")
	assert.Equal(t, s.Commits[0].ID, r.git(t, "rev-parse", "dev"))
	assert.DeepEqual(t, s.Parts(), []Changes{
		{Part{"addon", "istio"}, []File{{"tree/addons/istio/release.yaml", Changed, Part{"addon", "istio"}}}},
		{Part{"system", "shop"}, []File{{"tree/systems/shop.yaml", Added, Part{"system", "shop"}}}},
		{Part{Other, ""}, []File{{"docs/a b\nc.md", Added, Part{Other, ""}}}},
	})

	r.git(t, "fetch", "--quiet", ".", "dev:test")
	steps := r.compare(t)
	assert.Check(t, steps[0].Same())
	assert.Check(t, is.Len(steps[1].Commits, 3))
	r.git(t, "fetch", "--quiet", ".", "test:main")
	assert.Check(t, r.compare(t)[1].Same())
}

// TestDiverged: a commit on main alone is found, also when the same change is on dev by
// another commit, as a merge by squash makes it.
func TestDiverged(t *testing.T) {
	r := newRepo(t)
	r.commit(t, "tree/apps/hello/a.yaml", "1\n", "on dev")
	r.git(t, "checkout", "--quiet", "main")
	r.git(t, "merge", "--quiet", "--squash", "dev")
	r.git(t, "commit", "--quiet", "--message", "squashed")
	steps := r.compare(t)
	assert.Check(t, !steps[0].Diverged(), "dev has all that test has")
	assert.Check(t, steps[1].Diverged())
	assert.DeepEqual(t, subjects(steps[1].Missing), []string{"squashed"})
	assert.Check(t, is.Len(steps[1].Files, 0))

	// What the remedy says: back to test, to dev, and forward again.
	r.git(t, "checkout", "--quiet", "test")
	r.git(t, "merge", "--quiet", "main")
	assert.Check(t, r.compare(t)[0].Diverged(), "test has what dev does not have")
	r.git(t, "checkout", "--quiet", "dev")
	r.git(t, "merge", "--quiet", "test")
	assert.Check(t, !slices.ContainsFunc(r.compare(t), Step.Diverged))
}

// TestBackAgain: a revert on dev is promoted as every change is, and main has what it had. A main that is set back is not:
// the change is still on test, and the next promotion brings it again.
func TestBackAgain(t *testing.T) {
	r := newRepo(t)
	before := r.git(t, "rev-parse", "main")
	const file = "tree/addons/istio/release.yaml"
	r.commit(t, file, "2\n", "raise istio")
	promote := func() {
		r.git(t, "fetch", "--quiet", ".", "dev:test")
		r.git(t, "fetch", "--quiet", ".", "test:main")
	}
	promote()
	r.git(t, "update-ref", "refs/heads/main", before)
	back := r.compare(t)[1]
	assert.Check(t, !back.Diverged())
	assert.DeepEqual(t, subjects(back.Commits), []string{"raise istio"})

	promote()
	r.git(t, "revert", "--no-edit", "HEAD")
	s := r.compare(t)[0]
	assert.Check(t, !s.Diverged())
	assert.DeepEqual(t, subjects(s.Commits), []string{`Revert "raise istio"`})
	assert.DeepEqual(t, s.Files, []File{{file, Changed, Part{"addon", "istio"}}})
	promote()
	assert.Check(t, is.Equal(r.git(t, "diff", before, "main"), ""))
	assert.Check(t, r.compare(t)[1].Same())
}

// TestRemote: with a remote, its branches are compared, not the clone's own ones.
func TestRemote(t *testing.T) {
	r := newRepo(t)
	r.commit(t, "tree/apps/hello/a.yaml", "1\n", "on dev")
	local := repo{t.TempDir()}
	local.git(t, "clone", "--quiet", r.dir, ".")
	local.commit(t, "tree/apps/hello/b.yaml", "1\n", "not pushed")
	s := local.compare(t)[0]
	assert.Equal(t, s.From.Ref, "origin/dev")
	assert.DeepEqual(t, subjects(s.Commits), []string{"on dev"})

	_, err := Compare(t.Context(), stages(), Options{Dir: local.dir, Remote: "upstream"})
	assert.ErrorContains(t, err, `has no remote "upstream"; `)
	local.git(t, "update-ref", "-d", "refs/remotes/origin/test")
	_, err = Compare(t.Context(), stages(), Options{Dir: local.dir})
	assert.ErrorContains(t, err, "has no branch origin/test, which gitops.branch names for test; fetch it with `git fetch origin '+refs/heads/*:refs/remotes/origin/*'`")
}

func TestClonesThatCannotBeCompared(t *testing.T) {
	r := newRepo(t)
	r.commit(t, "a", "1\n", "second")
	shallow := repo{t.TempDir()}
	shallow.git(t, "clone", "--quiet", "--depth", "1", "--no-single-branch", "file://"+r.dir, ".")
	_, err := Compare(t.Context(), stages(), Options{Dir: shallow.dir})
	assert.ErrorContains(t, err, "is shallow, and does not know which commits a branch has; complete it with `git fetch --unshallow`")

	none := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(none))
	_, err = Compare(t.Context(), stages(), Options{Dir: none})
	assert.ErrorContains(t, err, "cannot be read as a Git repository: git rev-parse: fatal: not a git repository")
}

func TestPart(t *testing.T) {
	c := clone{trees: []string{"platform/flux/"}}
	for file, want := range map[string]string{
		"platform/flux/addons/istio/a/b.yaml":         "addon istio",
		"platform/flux/addons/kustomization.yaml":     "other files",
		"platform/flux/apps/hello/a.yaml":             "app hello",
		"platform/flux/charts/system/Chart.yaml":      "chart system",
		"platform/flux/clusters/dev/a.yaml":           "cluster dev",
		"platform/flux/systems/shop.yaml":             "system shop",
		"platform/flux/systems/kustomization.yaml":    "other files",
		"platform/flux/systems/base/ns.yaml":          "other files",
		"addons/istio/a.yaml":                         "other files",
		"clusters/dev.yaml":                           "other files",
		"platform/argocd/addons/istio/a.yaml":         "other files",
		"platform/flux/clusters/dev/addons/dns/a.yml": "cluster dev",
	} {
		assert.Check(t, is.Equal(c.part(file).String(), want), file)
	}
}
