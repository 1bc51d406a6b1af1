//go:build lab

package lab

import (
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestHandoverOfArgoCD is the way of Argo CD itself: installed by bootstrap, handed over to Git, changed
// and upgraded there, while the cluster file goes on to say what it follows, and how often.
func TestHandoverOfArgoCD(t *testing.T) {
	tier.Long(t, "Argo CD applies itself; TestHandover has the same way with Flux, and unit tests hold what Git gets")
	h := &selfManaged{newHandover(t)}
	h.byArgoCD(t)
	h.edit(t, demoFile, "version: "+ourArgoCD, "version: "+earlierArgoCD)
	h.edit(t, demoFile, "argocd-install.yaml", "argocd-install-before.yaml")
	inOrder(t, h, []step[*selfManaged]{
		{"up", (*selfManaged).up},
		{"push hands Argo CD over", (*selfManaged).push},
		{"the tree fits", (*selfManaged).fits},
		{"a second push changes nothing", func(h *selfManaged, t *testing.T) { h.pushAgain(t) }},
		{"a change in Git is made, and not reverted", (*selfManaged).changedInGit},
		{"what the cluster file sets is not reverted", (*selfManaged).intervalStays},
		{"another distribution is left to Git", (*selfManaged).leftToGit},
		{"and arrives by push", (*selfManaged).arrivesByPush},
		{"plain pulumi sees nothing to do", func(h *selfManaged, t *testing.T) { h.plainPulumi(t) }},
		{"destroy leaves an empty cloud", func(h *selfManaged, t *testing.T) { h.destroyLeavesNothing(t) }},
	})
}

// selfManaged is a cluster whose Argo CD manages itself.
type selfManaged struct{ *handover }

// byArgoCD has the cluster followed by Argo CD, from a directory without a kustomization file.
func (h *handover) byArgoCD(t *testing.T) {
	t.Helper()
	h.repository = h.bare("platform-argocd")
	h.edit(t, demoFile, "engine: flux", "engine: argocd")
	h.edit(t, demoFile, "platform.git", "platform-argocd.git")
	h.edit(t, demoFile, "version: v2.9.3\n    path: ../.tools/share/flux-install.yaml", "version: "+ourArgoCD+"\n    path: ../.tools/share/argocd-install.yaml")
	h.write(t, "platform/argocd/"+settingsFile, withoutVariables("start"))
}

// withoutVariables are settings without variables, which only Flux fills in.
func withoutVariables(state string) string {
	return strings.ReplaceAll(settings(state), "${cluster_name}", "demo")
}

// argo asks for something in the namespace of Argo CD.
func (h *selfManaged) argo(t *testing.T, args ...string) string {
	t.Helper()
	return h.kubectl(t, "demo", append([]string{"-n", "argocd", "get"}, args...)...)
}

func (h *selfManaged) push(t *testing.T) {
	p := h.pushes(t)
	assert.Check(t, p.Changed && !p.Proposed && p.Branch == "main", "pushed %+v", p)
	h.must(t, "verify", "demo", "--revision", p.Commit)
	h.managesItself(t)
	h.unchanged(t)
	h.unchanged(t, "--refresh")
}

// managesItself: Argo CD has applied all of itself but for Secrets, and what bootstrap sets is as it was.
func (h *selfManaged) managesItself(t *testing.T) {
	t.Helper()
	own := h.argo(t, "application", "argocd", "-o", "jsonpath={.status.sync.status} {.status.health.status} {.metadata.finalizers}")
	assert.Equal(t, own, "Synced Healthy ")
	const tracked = `jsonpath={range .items[*]}{.metadata.annotations.argocd\.argoproj\.io/tracking-id}{"\n"}{end}`
	for id := range strings.Lines(h.argo(t, "deployments,statefulsets,serviceaccounts", "-l", "app.kubernetes.io/part-of=argocd", "-o", tracked)) {
		assert.Check(t, strings.HasPrefix(id, "argocd:"), "it is tracked by %q", id)
	}
	assert.Check(t, is.Equal(strings.TrimSpace(h.argo(t, "secrets", "-o", tracked)), ""))
	set := h.argo(t, "configmap", "argocd-cm", "-o", `jsonpath={.data.application\.resourceTrackingMethod} {.data.timeout\.reconciliation}`)
	assert.Check(t, is.Contains(set, "annotation 10s"))
}

func (h *selfManaged) fits(t *testing.T) {
	said := h.must(t, "check", clone(t, h.repository, h.branch), "demo", "--strict")
	assert.Check(t, !strings.Contains(said, "not followed"), said)
}

// changedInGit is a patch in the team's own file, of what Argo CD runs as it applies it. It is restarted
// by itself then.
func (h *selfManaged) changedInGit(t *testing.T) {
	const patch = `patches:
  - target: {kind: StatefulSet, name: argocd-application-controller}
    patch: |
      - {op: add, path: /spec/template/spec/containers/0/args/-, value: --loglevel=debug}
  - patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cm}, data: {ui.bannercontent: from Git}}'
`
	commit := h.commit(t, "clusters/handover/argocd/kustomization.yaml", func(text string) string { return text + patch })
	h.must(t, "verify", "demo", "--revision", commit)
	assert.Check(t, is.Equal(h.argo(t, "configmap", "argocd-cm", "-o", `jsonpath={.data.ui\.bannercontent}`), "from Git"))
	eventually(t, func() (bool, string) {
		logs, err := filepath.Glob(filepath.Join(h.dir, ".lab", "logs", "*argocd-application-controller*"))
		assert.NilError(t, err)
		for _, log := range logs {
			if strings.Contains(h.read(t, strings.TrimPrefix(log, h.dir+"/")), `"level":"debug"`) {
				return true, ""
			}
		}
		return false, "the controller does not log as the commit has it"
	})
	h.managesItself(t)
	h.unchanged(t)
	h.unchanged(t, "--refresh")
}

func (h *selfManaged) intervalStays(t *testing.T) {
	h.edit(t, demoFile, "interval: 10s", "interval: 15s")
	h.project.up(t, "demo")
	commit := h.commit(t, settingsFile, func(string) string { return withoutVariables("later") })
	h.must(t, "verify", "demo", "--revision", commit)
	assert.Check(t, is.Equal(h.argo(t, "configmap", "argocd-cm", "-o", `jsonpath={.data.timeout\.reconciliation}`), "15s"))
	h.edit(t, demoFile, "interval: 15s", "interval: 10s")
	h.project.up(t, "demo")
}

// images are those that Argo CD's own pods are made from.
func (h *selfManaged) images(t *testing.T) string {
	t.Helper()
	return h.argo(t, "deployments,statefulsets", "-o", "jsonpath={.items[*].spec.template.spec.containers[*].image}")
}

func (h *selfManaged) leftToGit(t *testing.T) {
	h.edit(t, demoFile, "version: "+earlierArgoCD, "version: "+ourArgoCD)
	h.edit(t, demoFile, "argocd-install-before.yaml", "argocd-install.yaml")
	preview := h.run(t, "preview", "demo")
	assert.Check(t, is.Contains(preview.stdout+preview.stderr, leftToGit))
	says := h.unchanged(t)
	assert.Check(t, strings.Contains(says, leftToGit) && strings.Contains(says, "tombolo push demo"), "up does not say who decides:\n%s", says)
	assert.Check(t, !strings.Contains(h.images(t), ourArgoCD))
}

func (h *selfManaged) arrivesByPush(t *testing.T) {
	p := h.pushes(t)
	h.must(t, "verify", "demo", "--revision", p.Commit)
	assert.Check(t, !strings.Contains(h.images(t), earlierArgoCD), h.images(t))
	says := h.unchanged(t)
	assert.Check(t, !strings.Contains(says, leftToGit), "up speaks of a distribution that Git has:\n%s", says)
	h.managesItself(t)
	h.unchanged(t, "--refresh")
}
