package handover

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// bench is a bare repository, and a user who works on it.
type bench struct {
	t    *testing.T
	bare string
	work string
	home string
}

func newBench(t *testing.T) bench {
	t.Helper()
	dir := t.TempDir()
	b := bench{t: t, bare: filepath.Join(dir, "platform.git"), work: filepath.Join(dir, "work"), home: filepath.Join(dir, "home")}
	assert.NilError(t, os.Mkdir(b.home, 0o755))
	b.git(dir, "init", "-q", "--bare", "--initial-branch=main", b.bare)
	b.git(dir, "init", "-q", "--initial-branch=main", b.work)
	return b
}

// seeded has a tree on main.
func seeded(t *testing.T) bench {
	t.Helper()
	b := newBench(t)
	b.commit("main", map[string]string{
		"clusters/demo/kustomization.yaml": "# The cluster's stages.\nkind: Kustomization\nresources:\n  - apps.yaml # last\n",
		"clusters/demo/apps.yaml":          "kind: ConfigMap\n",
	})
	return b
}

func (b bench) env() map[string]string {
	return map[string]string{"HOME": b.home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull}
}

func (b bench) git(dir string, args ...string) string {
	b.t.Helper()
	return files.Git(b.t, dir, args...)
}

// commit is somebody else's push to a branch.
func (b bench) commit(branch string, texts map[string]string) string {
	b.t.Helper()
	if heads := b.git(b.bare, "for-each-ref", "refs/heads/"+branch); heads != "" {
		b.git(b.work, "fetch", "-q", b.bare, branch)
		b.git(b.work, "checkout", "-q", "--force", "--detach", "FETCH_HEAD")
	}
	for name, content := range texts {
		files.Write(b.t, filepath.Join(b.work, name), content)
	}
	b.git(b.work, "add", ".")
	b.git(b.work, "commit", "-q", "-m", "Somebody's work")
	b.git(b.work, "push", "-q", b.bare, "HEAD:refs/heads/"+branch)
	return b.head(branch)
}

func (b bench) head(branch string) string {
	b.t.Helper()
	return b.git(b.bare, "rev-parse", "refs/heads/"+branch)
}

func (b bench) show(branch, file string) string {
	b.t.Helper()
	return b.git(b.bare, "show", branch+":"+file)
}

// hook makes the repository refuse or do something.
func (b bench) hook(name, script string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.bare, "hooks", name), []byte("#!/bin/sh\n"+script), 0o755); err != nil { //nolint:gosec // a hook is run
		b.t.Fatal(err)
	}
}

// protect refuses pushes to main, as a host with protected branches does.
func (b bench) protect() {
	b.t.Helper()
	b.hook("update", `test "$1" != refs/heads/main || { echo "error: GH006: Protected branch update failed for $1." >&2; exit 1; }`)
}

func (b bench) repository() Repository {
	return Repository{URL: b.bare, Branch: "main", Env: b.env()}
}

func change() Change {
	return Change{
		Cluster: "demo", Engine: "flux", Message: "Have Flux manage itself",
		Files: map[string][]byte{"clusters/demo/flux-system/gotk-sync.yaml": []byte("kind: GitRepository\n")},
		Lists: []List{
			{Dir: "clusters/demo/flux-system", Resources: []string{"gotk-sync.yaml"}, Create: true},
			{Dir: "clusters/demo", Resources: []string{"flux-system"}},
		},
	}
}

func (b bench) push(c Change) Outcome {
	b.t.Helper()
	outcome, err := Push(b.t.Context(), b.repository(), c)
	assert.NilError(b.t, err)
	return outcome
}

func (b bench) refused(c Change, want string) {
	b.t.Helper()
	_, err := Push(b.t.Context(), b.repository(), c)
	assert.Check(b.t, err != nil && strings.Contains(err.Error(), want), "error %v, expected %q", err, want)
}

func TestPush(t *testing.T) {
	b := seeded(t)
	before := b.head("main")
	got := b.push(change())
	want := (Outcome{Commit: b.head("main"), Branch: "main", Changed: true})
	assert.Check(t, got == want, "outcome %+v, want %+v", got, want)
	assert.Check(t, is.Equal(b.git(b.bare, "rev-parse", "main^"), before), "the parent of the commit")
	for file, want := range map[string]string{
		"clusters/demo/flux-system/gotk-sync.yaml":     "kind: GitRepository",
		"clusters/demo/flux-system/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - gotk-sync.yaml",
		"clusters/demo/kustomization.yaml":             "# The cluster's stages.\nkind: Kustomization\nresources:\n  - apps.yaml # last\n  - flux-system",
		"clusters/demo/apps.yaml":                      "kind: ConfigMap",
	} {
		assert.Check(t, is.Equal(b.show("main", file), want), "%s", file)
	}
	assert.Check(t, is.Equal(b.git(b.bare, "log", "-1", "--format=%an <%ae> %B", "main"), "Tombolo <tombolo@localhost> Have Flux manage itself\n\nTombolo-Cluster: demo"),
		"the commit is of")
	again := b.push(change())
	want = (Outcome{Commit: got.Commit, Branch: "main"})
	assert.Check(t, again == want, "a second push: %+v, want %+v", again, want)
}

func TestPushIsOfTheUser(t *testing.T) {
	b := seeded(t)
	r := b.repository()
	r.Env = maps.Clone(r.Env)
	r.Env["GIT_CONFIG_COUNT"] = "2"
	r.Env["GIT_CONFIG_KEY_0"], r.Env["GIT_CONFIG_VALUE_0"] = "user.name", "Grace"
	r.Env["GIT_CONFIG_KEY_1"], r.Env["GIT_CONFIG_VALUE_1"] = "user.email", "grace@example.com"
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "absent")) // as in a hook of the user's own repository
	_, err := Push(t.Context(), r, change())
	assert.NilError(t, err)
	t.Setenv("GIT_DIR", b.bare)
	assert.Check(t, is.Equal(b.git(b.bare, "log", "-1", "--format=%an <%ae>", "main"), "Grace <grace@example.com>"), "the author of the commit")
}

func TestPushToAnEmptyRepository(t *testing.T) {
	b := newBench(t)
	got := b.push(change())
	assert.Check(t, got.Changed && got.Commit == b.head("main"), "outcome %+v", got)
	if files := b.git(b.bare, "ls-tree", "-r", "--name-only", "main"); strings.Count(files, "\n") != 1 {
		t.Errorf("files %s", files)
	}
}

func TestPushWithoutTheBranch(t *testing.T) {
	b := newBench(t)
	b.commit("trunk", map[string]string{"a": "a"})
	b.refused(change(), b.bare+" has no branch main; it has trunk; create the branch, or correct gitops.branch in the cluster file")
}

func TestProposalOnTheBranchItself(t *testing.T) {
	c := change()
	c.Proposal = "main"
	seeded(t).refused(c, "branch main is the one that the cluster follows; name another, or none to push to it")
}

func TestPushWithoutARepository(t *testing.T) {
	b := newBench(t)
	b.bare += "-gone"
	b.refused(change(), "read "+b.bare+": ")
}

func TestProtectedBranch(t *testing.T) {
	b := seeded(t)
	b.protect()
	main := b.head("main")
	got := b.push(change())
	want := Outcome{
		Commit: b.head("tombolo/demo-flux"), Branch: "tombolo/demo-flux", Changed: true, Proposed: true,
		Refusal: "GH006: Protected branch update failed for refs/heads/main.",
	}
	assert.Check(t, got == want, "outcome %+v, want %+v", got, want)
	assert.Check(t, b.head("main") == main, "main has moved")
	again := b.push(change())
	want.Changed = false
	assert.Check(t, again == want, "a second push: %+v, want %+v", again, want)
}

// TestProposalGoesOn: a changed change and a moved base go on top of the
// earlier proposal, without force.
func TestProposalGoesOn(t *testing.T) {
	b := seeded(t)
	c := change()
	c.Proposal = "flux"
	first := b.push(c)
	b.commit("main", map[string]string{"clusters/demo/apps.yaml": "kind: Secret\n"})
	c.Files["clusters/demo/flux-system/gotk-sync.yaml"] = []byte("kind: Kustomization\n")
	second := b.push(c)
	assert.Check(t, second.Changed && second.Proposed && second.Refusal == "", "outcome %+v", second)
	b.git(b.bare, "merge-base", "--is-ancestor", first.Commit, "flux")
	b.git(b.bare, "merge-base", "--is-ancestor", "main", "flux")
	diff := b.git(b.bare, "diff", "--name-only", "main", "flux")
	want := "clusters/demo/flux-system/gotk-sync.yaml\nclusters/demo/flux-system/kustomization.yaml\nclusters/demo/kustomization.yaml"
	assert.Check(t, diff == want, "the proposal changes\n%s\nwant\n%s", diff, want)
	again := b.push(c)
	assert.Check(t, !again.Changed && again.Commit == second.Commit, "a third push: %+v", again)
	b.git(b.bare, "update-ref", "refs/heads/main", "flux") // merged
	merged := b.push(c)
	assert.Check(t, !merged.Changed && !merged.Proposed && merged.Branch == "main", "after the merge: %+v", merged)
}

func TestProposalOfSomebodyElse(t *testing.T) {
	b := seeded(t)
	c := change()
	c.Proposal = "flux"
	b.push(c)
	b.commit("flux", map[string]string{"mine": "mine\n"})
	c.Files["clusters/demo/flux-system/gotk-sync.yaml"] = []byte("kind: Kustomization\n")
	b.refused(c, "has commits that are not of `tombolo push demo`, such as "+b.git(b.bare, "rev-parse", "--short", "flux")+" by Ada; merge or delete the branch, or name another with --branch")
	c.Cluster = "other"
	b.refused(c, "has commits that are not of `tombolo push other`")
}

// TestProposalForSeveralClusters: one pull request may be about a fleet.
func TestProposalForSeveralClusters(t *testing.T) {
	b := seeded(t)
	one, other := change(), change()
	one.Proposal, other.Proposal, other.Cluster = "flux", "flux", "other"
	other.Files = map[string][]byte{"clusters/other/flux-system/gotk-sync.yaml": []byte("kind: GitRepository\n")}
	other.Lists = nil
	b.push(one)
	b.push(other)
	again := b.push(one)
	assert.Check(t, !again.Changed, "outcome %+v", again)
	for _, cluster := range []string{"demo", "other"} {
		b.show("flux", "clusters/"+cluster+"/flux-system/gotk-sync.yaml")
	}
	b.commit("main", map[string]string{"more": "more\n"})
	b.refused(one, "has commits that are not of `tombolo push demo`, such as ")
}

func TestNothingMayBePushed(t *testing.T) {
	b := seeded(t)
	b.hook("pre-receive", "echo 'no pushes on Saturdays' >&2; exit 1")
	b.refused(change(), b.bare+" refuses a push to main and to tombolo/demo-flux: no pushes on Saturdays; name a branch that you may push to with --branch")
}

// TestRace: a push that others get ahead of is made again on top of theirs.
func TestRace(t *testing.T) {
	b := seeded(t)
	theirs := b.git(b.bare, "commit-tree", "main^{tree}", "-p", "main", "-m", "theirs")
	once := filepath.Join(t.TempDir(), "once")
	b.hook("pre-receive", fmt.Sprintf(`test -e %[1]s || { touch %[1]s; env -u GIT_QUARANTINE_PATH git update-ref refs/heads/main %[2]s; }`, once, theirs))
	got := b.push(change())
	parent := b.git(b.bare, "rev-parse", "main^")
	assert.Check(t, got.Changed && parent == theirs, "outcome %+v on %s, want on %s", got, parent, theirs)
	b.hook("pre-receive", `env -u GIT_QUARANTINE_PATH git update-ref refs/heads/main $(git commit-tree 'main^{tree}' -p main -m theirs)`)
	c := change()
	c.Files["more"] = []byte("more\n")
	b.git(b.bare, "config", "user.name", "Ada")
	b.git(b.bare, "config", "user.email", "ada@example.com")
	b.refused(c, "push to "+b.bare+": the branch changed meanwhile, 3 times: ")
}

// TestLinksAreNotFollowed: a tree cannot have files written elsewhere.
func TestLinksAreNotFollowed(t *testing.T) {
	b := newBench(t)
	outside := t.TempDir()
	assert.NilError(t, os.MkdirAll(filepath.Join(b.work, "clusters", "demo"), 0o755))
	assert.NilError(t, os.Symlink(outside, filepath.Join(b.work, "clusters", "demo", "flux-system")))
	b.commit("main", nil)
	b.refused(change(), "write clusters/demo/flux-system/gotk-sync.yaml: ")
	if files, err := os.ReadDir(outside); err != nil || len(files) > 0 {
		t.Errorf("written outside: %v, %v", files, err)
	}
}

// TestNothingIsLeft: neither clone nor keys stay on the disk.
func TestNothingIsLeft(t *testing.T) {
	b := seeded(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	b.push(change())
	b.bare += "-gone"
	b.refused(change(), "read ")
	left, err := os.ReadDir(tmp)
	assert.Check(t, err == nil && len(left) == 0, "left are %v, %v", left, err)
}

func TestReach(t *testing.T) {
	b := seeded(t)
	assert.NilError(t, Reach(t.Context(), b.repository()))
	r := b.repository()
	r.Branch = "nowhere"
	want := r.URL + " has no branch nowhere; push one, or correct gitops.branch in the cluster file"
	assert.Error(t, Reach(t.Context(), r), want)
	r.URL = t.TempDir() + "/none"
	err := Reach(t.Context(), r)
	assert.Check(t, err != nil && strings.HasPrefix(err.Error(), "read "+r.URL+": "), "without a repository: %v", err)
}
