//go:build lab

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// TestHandover is the way of Flux itself: installed by bootstrap, replaced by
// another distribution, handed over to Git and upgraded there, while the
// cluster file goes on to say what Flux follows. Its parts build on each other.
func TestHandover(t *testing.T) {
	tier.Short(t, "Flux is handed over to Git, upgraded there and left alone from then on")
	h := newHandover(t)
	inOrder(t, h, []step[*handover]{
		{"up", (*handover).up},
		{"a correction does not wait for what it corrects", (*handover).correction},
		{"what somebody changed is left alone", (*handover).somebodyElse},
		{"another distribution is applied", (*handover).anotherDistribution},
		{"push hands Flux over", (*handover).push},
		{"a second push changes nothing", (*handover).pushAgain},
		{"what Git says of bootstrap's namespace stays, and the namespace does when Git says nothing", (*handover).labelled},
		{"an upgrade through Git is not reverted", (*handover).upgradeThroughGit},
		{"plain pulumi sees nothing to do", func(h *handover, t *testing.T) { h.plainPulumi(t) }},
		{"another distribution is left to Git", (*handover).leftToGit},
		{"and arrives by push", (*handover).arrivesByPush},
		{"another branch is followed", (*handover).anotherBranch},
		{"another repository is followed", (*handover).anotherRepository},
		{"a rotated token is used", (*handover).rotatedToken},
		{"destroy leaves an empty cloud", func(h *handover, t *testing.T) { h.destroyLeavesNothing(t) }},
	})
}

const demoFile = "clusters/demo.yaml"

// handover is a project whose cluster follows a tree of one ConfigMap.
type handover struct {
	project
	repository string // that the cluster follows, on the disk
	branch     string
}

func newHandover(t *testing.T) *handover {
	t.Helper()
	p := newProject(t)
	p.write(t, demoFile, testdata(t, "handover.yaml"))
	tree := filepath.Join("platform", "flux", "clusters", "handover")
	p.write(t, filepath.Join(tree, "kustomization.yaml"), "# What the cluster has.\nresources:\n  - settings.yaml # one ConfigMap\n")
	p.write(t, filepath.Join(tree, "settings.yaml"), settings("start"))
	return &handover{project: p, repository: p.bare("platform"), branch: "main"}
}

const settingsFile = "clusters/handover/settings.yaml"

func settings(state string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {state: " + state + ", cluster: \"${cluster_name}\"}\n"
}

func (h *handover) up(t *testing.T) {
	h.project.up(t, "demo")
	h.must(t, "verify", "demo")
	h.reads(t, "start")
}

// reads says that the cluster has the ConfigMap in a state.
func (h *handover) reads(t *testing.T, state string) {
	t.Helper()
	got := h.kubectl(t, "demo", "-n", "default", "get", "configmap", "settings", "-o", "jsonpath={.data.state} {.data.cluster}")
	assert.Check(t, got == state+" demo", "the ConfigMap says %q, want %s", got, state)
}

// stuck is a Kustomization that is never ready, so that the one that applies it waits for ten minutes.
const stuck = `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: stuck, namespace: flux-system}
spec: {interval: 1h, path: ./, prune: true, sourceRef: {kind: GitRepository, name: nobody}}
`

// correction takes back a commit that Flux waits for. The limit of verify is half of the time that Flux would wait.
func (h *handover) correction(t *testing.T) {
	wrong := h.commit(t, settingsFile, func(text string) string { return text + stuck })
	eventually(t, func() (bool, string) {
		o := h.run(t, "verify", "demo", "--revision", wrong, "--timeout", "5s", "--output", "json")
		o.fails(t)
		return strings.Contains(o.stdout, "Running health checks for revision main@sha1:"+wrong+" with a timeout of 10m0s, until about "), o.stdout
	})
	corrected := h.commit(t, settingsFile, func(text string) string {
		return strings.ReplaceAll(strings.TrimSuffix(text, stuck), "start", "corrected")
	})
	h.must(t, "verify", "demo", "--revision", corrected, "--timeout", "5m")
	h.reads(t, "corrected")
}

// level is the log level that source-controller runs with: the sign by which
// the distributions of this test are told apart.
func (h *handover) level(t *testing.T) string {
	t.Helper()
	args := h.kubectl(t, "demo", "-n", "flux-system", "get", "deployment", "source-controller", "-o", "jsonpath={.spec.template.spec.containers[0].args}")
	for _, level := range []string{"info", "debug", "error", "trace"} {
		if strings.Contains(args, "--log-level="+level) {
			return level
		}
	}
	return args
}

func (h *handover) wantLevel(t *testing.T, want string) {
	t.Helper()
	assert.Check(t, is.Equal(h.level(t), want))
}

// unchanged runs up, which must have nothing to do, and returns what it says.
func (h *handover) unchanged(t *testing.T, flags ...string) string {
	t.Helper()
	o := h.run(t, append([]string{"up", "demo", "--yes", "--force", "--output", "json"}, flags...)...)
	o.ends(t, 0)
	lastResult(t, o.stdout).unchanged(t)
	return o.stdout + o.stderr
}

func (h *handover) somebodyElse(t *testing.T) {
	h.kubectl(t, "demo", "-n", "flux-system", "patch", "deployment", "source-controller", "--type=json",
		`-p=[{"op": "replace", "path": "/spec/template/spec/containers/0/args/2", "value": "--log-level=error"}]`)
	h.wantLevel(t, "error")
	h.unchanged(t)
	h.unchanged(t, "--refresh")
	h.wantLevel(t, "error")
}

// distribution is a manifest that differs in the log level.
func (h *handover) distribution(t *testing.T, level string) {
	t.Helper()
	h.write(t, "install.yaml", strings.ReplaceAll(h.read(t, ".tools/share/flux-install.yaml"), "--log-level=info", "--log-level="+level))
}

func (h *handover) anotherDistribution(t *testing.T) {
	h.distribution(t, "debug")
	h.edit(t, demoFile, "../.tools/share/flux-install.yaml", "../install.yaml")
	s := h.project.up(t, "demo").Stacks[1]
	assert.Check(t, s.Changes["update"] != 0 && s.Changed == s.Changes["update"], "%s changed %v, want updates alone", s.Stack, s.Changes)
	h.wantLevel(t, "debug")
	h.unchanged(t)
	h.must(t, "verify", "demo")
}

// pushed is the document of a push.
type pushed struct {
	Changed, Proposed bool
	Branch, Commit    string
}

func (h *handover) pushes(t *testing.T) pushed {
	t.Helper()
	var p pushed
	decode(t, h.must(t, "push", "demo", "--output", "json"), &p)
	return p
}

func (h *handover) push(t *testing.T) {
	p := h.pushes(t)
	assert.Check(t, p.Changed && !p.Proposed && p.Branch == "main", "pushed %+v", p)
	h.must(t, "verify", "demo")
	owner := h.kubectl(t, "demo", "-n", "flux-system", "get", "deployments", "-l", "kustomize.toolkit.fluxcd.io/name=platform", "-o", "name")
	assert.Check(t, strings.Contains(owner, "source-controller") && strings.Contains(owner, "kustomize-controller"), "Flux manages %q", owner)
	own := h.kubectl(t, "demo", "-n", "flux-system", "get", "gitrepositories,kustomizations", "-l", "kustomize.toolkit.fluxcd.io/name=platform", "-o", "name")
	assert.Check(t, !strings.Contains(own, "/platform"), "Flux took the sync objects: %s", own)
	h.unchanged(t)
}

func (h *handover) pushAgain(t *testing.T) {
	p := h.pushes(t)
	assert.Check(t, !p.Changed, "pushed %+v", p)
}

// ofGit has labels for a namespace that the cluster file makes, with a label of its own.
const ofGit = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: reporting, labels: {mesh: strict, team: analysts}}\n"

func (h *handover) labelled(t *testing.T) {
	reporting := func(path string) string {
		t.Helper()
		return h.kubectl(t, "demo", "get", "namespace", "reporting", "-o", "jsonpath={.metadata."+path+"}")
	}
	const both = "labels.mesh}{.metadata.labels.team}{.metadata.labels.owner"
	uid := reporting("uid")
	commit := h.commit(t, settingsFile, func(text string) string { return text + ofGit })
	h.must(t, "verify", "demo", "--revision", commit)
	h.unchanged(t)
	h.unchanged(t, "--refresh")
	assert.Equal(t, reporting(both), "strictanalystsplatform")
	h.edit(t, demoFile, "owner: platform", "owner: sellers")
	s := h.project.up(t, "demo").Stacks[1]
	assert.Check(t, s.Changed == 1 && s.Changes["update"] == 1, "%v", s.Changes)
	assert.Equal(t, reporting(both), "strictanalystssellers")
	commit = h.commit(t, settingsFile, func(text string) string { return strings.TrimSuffix(text, ofGit) })
	h.must(t, "verify", "demo", "--revision", commit)
	assert.Equal(t, reporting("uid")+reporting("deletionTimestamp"), uid, "Flux has deleted a namespace of bootstrap's")
	h.unchanged(t)
}

// commit changes a file in Git, as a reviewed merge does.
func (h *handover) commit(t *testing.T, file string, change func(string) string) string {
	t.Helper()
	dir := clone(t, h.repository, h.branch)
	path := filepath.Join(dir, file)
	text, err := os.ReadFile(path)
	assert.NilError(t, err)
	files.Write(t, path, change(string(text)))
	return pushAll(t, dir, h.branch)
}

func (h *handover) upgradeThroughGit(t *testing.T) {
	commit := h.commit(t, "clusters/handover/flux-system/gotk-components.yaml", func(text string) string {
		return strings.ReplaceAll(text, "--log-level=debug", "--log-level=info")
	})
	h.must(t, "verify", "demo", "--revision", commit)
	h.wantLevel(t, "info")
	h.unchanged(t)
	h.unchanged(t, "--refresh")
	h.wantLevel(t, "info")
}

const leftToGit = "Git decides about the engine of demo"

func (h *handover) leftToGit(t *testing.T) {
	h.distribution(t, "trace")
	says := h.unchanged(t)
	assert.Check(t, strings.Contains(says, leftToGit) && strings.Contains(says, "tombolo push demo"), "up does not say who decides:\n%s", says)
	h.wantLevel(t, "info")
}

func (h *handover) arrivesByPush(t *testing.T) {
	p := h.pushes(t)
	h.must(t, "verify", "demo", "--revision", p.Commit)
	h.wantLevel(t, "trace")
	says := h.unchanged(t)
	assert.Check(t, !strings.Contains(says, leftToGit), "up speaks of a distribution that Git has:\n%s", says)
}

// follows runs up, which must change the sync objects alone, and waits for what
// they lead to.
func (h *handover) follows(t *testing.T, state string, updates int) {
	t.Helper()
	s := h.project.up(t, "demo").Stacks[1]
	assert.Check(t, s.Changes["update"] == updates && s.Changed == updates, "%s changed %v, want %d updates", s.Stack, s.Changes, updates)
	commit := h.commit(t, settingsFile, func(string) string { return settings(state) })
	h.must(t, "verify", "demo", "--revision", commit)
	h.reads(t, state)
	h.unchanged(t)
	h.wantLevel(t, "trace")
}

func (h *handover) anotherBranch(t *testing.T) {
	h.branch = "next"
	files.Git(t, h.repository, "branch", "next", "main")
	h.edit(t, demoFile, "branch: main", "branch: next")
	h.follows(t, "branched", 1)
}

func (h *handover) anotherRepository(t *testing.T) {
	moved := h.bare("moved")
	files.Git(t, ".", "clone", "-q", "--bare", h.repository, moved)
	h.repository = moved
	h.edit(t, demoFile, "platform.git", "moved.git")
	h.follows(t, "moved", 2) // the component carries the URL too
}

func (h *handover) rotatedToken(t *testing.T) {
	const token = "a-token-that-came-later"
	old := strings.TrimSpace(h.read(t, ".lab/git-token"))
	h.write(t, ".lab/git-token", token+"\n")
	h.write(t, "token", token+"\n")
	h.edit(t, demoFile, "env: TOMBOLO_GIT_TOKEN", "file: ../token")
	h.commit(t, settingsFile, func(string) string { return settings("locked") })
	h.look(t, "demo", "flux-system", "gitrepository", "platform")
	eventually(t, func() (bool, string) {
		ready := h.kubectl(t, "demo", "-n", "flux-system", "get", "gitrepository", "platform", "-o", "jsonpath={.status.conditions[?(@.type=='Ready')].status}")
		return ready == "False", fmt.Sprintf("Flux still reads the repository with the token %s…", old[:4])
	})
	h.follows(t, "rotated", 1)
}
