//go:build lab

package lab

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/internal/names"
	"tombolo/lab/webhook"
	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// TestWebhook has the real notification-controller hear of pushes. Git is read once an hour by itself, so what
// is there sooner is there by the webhook.
func TestWebhook(t *testing.T) {
	tier.Long(t, "a push starts Flux, by a signed event of each kind of hosts; unit tests hold what bootstrap makes")
	h := &hooked{handover: newHandover(t)}
	h.edit(t, demoFile, "interval: 10s", "interval: 1h\n"+webhookLines("github", "env: TOMBOLO_WEBHOOK_SECRET"))
	inOrder(t, h, []step[*hooked]{
		{"up makes it", (*hooked).made},
		{"the secret is nowhere in clear", (*hooked).secretStaysSecret},
		{"a push starts Flux", (*hooked).pushed},
		{"who does not know the secret starts nothing", (*hooked).refused},
		{"who does starts Flux", (*hooked).accepted},
		{"another secret and another kind of host", (*hooked).rotated},
		{"Azure DevOps", (*hooked).azureDevOps},
		{"without the key it is gone", (*hooked).gone},
		{"destroy leaves an empty cloud", func(h *hooked, t *testing.T) { h.destroyLeavesNothing(t) }},
	})
}

// hooked is a cluster that is told of pushes.
type hooked struct{ *handover }

func webhookLines(kind, secret string) string {
	return "  webhook: {type: " + kind + ", secret: {" + secret + "}}"
}

// token is what the lab's Git host knows.
func (p project) token(t *testing.T) string {
	t.Helper()
	token := p.labEnv(t)["TOMBOLO_WEBHOOK_SECRET"]
	assert.Assert(t, len(token) >= 20, "%q is too short to search for", token)
	return token
}

func (h *hooked) made(t *testing.T) {
	h.up(t)
	path := h.kubectl(t, "demo", "-n", "flux-system", "get", "receiver", "platform", "-o", "jsonpath={.status.webhookPath}")
	assert.Equal(t, path, names.FluxWebhook(h.token(t)), "Flux makes another path of the secret")
	assert.Equal(t, strings.TrimSpace(h.must(t, "outputs", "demo", "webhookPath", "--stack", "bootstrap")), path)
	h.unchanged(t)
	h.unchanged(t, "--refresh")
}

func (h *hooked) secretStaysSecret(t *testing.T) { h.staysSecret(t, "demo", h.token(t)) }

// staysSecret: the secret is in no output, log and state as it is, nor encoded.
func (p project) staysSecret(t *testing.T, cluster, token string) {
	t.Helper()
	said := map[string]string{
		"outputs": p.must(t, "outputs", cluster, "--stack", "bootstrap", "--output", "json"),
		"up":      p.must(t, "up", cluster, "--yes", "--force", "--output", "json"),
		"log":     p.read(t, ".lab/logs/daemon.log"),
		"state":   p.state(t, cluster+"-bootstrap"),
	}
	for what, text := range said {
		hides(t, what, text, token)
	}
}

// revision that Flux has, and the moment at which somebody last asked for a fetch.
func (h *hooked) source(t *testing.T) (revision, asked string) {
	t.Helper()
	got := h.kubectl(t, "demo", "-n", "flux-system", "get", "gitrepository", "platform", "-o", `jsonpath={.spec.interval} {.status.artifact.revision} {.metadata.annotations.reconcile\.fluxcd\.io/requestedAt}`)
	interval, rest, _ := strings.Cut(got, " ")
	assert.Equal(t, interval, "1h0m0s")
	revision, asked, _ = strings.Cut(rest, " ")
	return revision, asked
}

// arrives waits for a commit in the cluster.
func (h *hooked) arrives(t *testing.T, commit, state string) {
	t.Helper()
	h.becomes(t, "demo", state, "-n", "default", "get", "configmap", "settings", "-o", "jsonpath={.data.state}")
	revision, _ := h.source(t)
	assert.Equal(t, revision, "main@sha1:"+commit)
}

// clonePush changes a file by way of the lab's Git host, as people do.
func (p project) clonePush(t *testing.T, repository string, write func(clone string)) string {
	t.Helper()
	dir, env := t.TempDir(), p.labEnv(t)
	git, err := exec.LookPath("git")
	assert.NilError(t, err)
	p.mustTool(t, git, "clone", "-q", "http://lab:"+env["TOMBOLO_GIT_TOKEN"]+"@git.lab.test/"+repository, dir)
	write(dir)
	files.Git(t, dir, "add", ".")
	files.Git(t, dir, "commit", "-q", "-m", "Change")
	p.mustTool(t, git, "-C", dir, "push", "-q", "origin", "main")
	return files.Git(t, dir, "rev-parse", "HEAD")
}

func (h *hooked) pushed(t *testing.T) {
	before, asked := h.source(t)
	commit := h.clonePush(t, "platform.git", func(clone string) { files.Write(t, filepath.Join(clone, settingsFile), settings("pushed")) })
	h.arrives(t, commit, "pushed")
	after, again := h.source(t)
	assert.Check(t, before != after && again != asked && again != "", "nobody asked Flux for a fetch: %q", again)
}

// deliver sends an event to the controller, and returns the answer's status.
func (p project) deliver(t *testing.T, port, kind, path, token, commit string) int {
	t.Helper()
	var ports map[string]int
	decode(t, p.read(t, ".lab/ports.json"), &ports)
	scheme, repository := "http", "platform.git"
	if strings.Contains(port, "argocd") {
		repository = "platform-argocd.git"
	}
	if strings.HasSuffix(port, "-main") {
		scheme = "https"
	}
	r, err := webhook.Request(t.Context(), kind, fmt.Sprintf("%s://127.0.0.1:%d%s", scheme, ports[port], path), token,
		webhook.Push{Repository: "http://git.lab.test/" + repository, Branch: "main", Before: commit, After: commit})
	assert.NilError(t, err)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return 0 // it starts again
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

const fluxReceiver = "demo-notification-controller-receiver"

func (h *hooked) deliver(t *testing.T, kind, path, token, commit string) int {
	t.Helper()
	return h.project.deliver(t, fluxReceiver, kind, path, token, commit)
}

// quietly commits without a host that tells of it.
func (h *hooked) quietly(t *testing.T, state string) string {
	t.Helper()
	return h.commit(t, settingsFile, func(string) string { return settings(state) })
}

func (h *hooked) refused(t *testing.T) {
	before, asked := h.source(t)
	commit := h.quietly(t, "quiet")
	const wrong = "a-secret-of-somebody-else"
	right := names.FluxWebhook(h.token(t))
	for _, c := range []struct {
		kind, path, token string
		want              int
	}{
		{webhook.GitHub, right, wrong, http.StatusBadRequest},
		{webhook.GitHub, right, "", http.StatusBadRequest},
		{webhook.GitLab, right, h.token(t), http.StatusBadRequest},
		{webhook.AzureDevOps, right, h.token(t), http.StatusBadRequest},
		{webhook.GitHub, names.FluxWebhook(wrong), wrong, http.StatusNotFound},
	} {
		assert.Check(t, is.Equal(h.deliver(t, c.kind, c.path, c.token, commit), c.want), "%+v", c)
	}
	// The controller asks for a fetch before it answers.
	after, again := h.source(t)
	assert.Check(t, after == before && again == asked, "somebody without the secret has started Flux: %s, %s", after, again)
}

func (h *hooked) accepted(t *testing.T) {
	commit := files.Git(t, h.repository, "rev-parse", "main")
	assert.Equal(t, h.deliver(t, webhook.GitHub, names.FluxWebhook(h.token(t)), h.token(t), commit), http.StatusOK)
	h.arrives(t, commit, "quiet")
}

const laterToken = "a-secret-that-came-later"

func (h *hooked) rotated(t *testing.T) {
	h.write(t, "hook", laterToken+"\n")
	h.edit(t, demoFile, webhookLines("github", "env: TOMBOLO_WEBHOOK_SECRET"), webhookLines("gitlab", "file: ../hook"))
	h.project.up(t, "demo")
	commit := h.quietly(t, "rotated")
	eventually(t, func() (bool, string) {
		got := h.deliver(t, webhook.GitLab, names.FluxWebhook(laterToken), laterToken, commit)
		return got == http.StatusOK, fmt.Sprintf("the controller answers %d", got)
	})
	h.arrives(t, commit, "rotated")
	assert.Equal(t, h.deliver(t, webhook.GitLab, names.FluxWebhook(h.token(t)), h.token(t), commit), http.StatusNotFound)
	assert.Equal(t, h.deliver(t, webhook.GitLab, names.FluxWebhook(laterToken), h.token(t), commit), http.StatusBadRequest)
	h.staysSecret(t, "demo", laterToken)
}

// azureDevOps: Flux asks for nothing but the path, so no output shows it.
func (h *hooked) azureDevOps(t *testing.T) {
	h.edit(t, demoFile, "type: gitlab", "type: azure-devops")
	h.project.up(t, "demo")
	commit := h.quietly(t, "azure")
	path := names.FluxWebhook(laterToken)
	eventually(t, func() (bool, string) {
		got := h.deliver(t, webhook.AzureDevOps, path, laterToken, commit)
		return got == http.StatusOK, fmt.Sprintf("the controller answers %d", got)
	})
	h.arrives(t, commit, "azure")
	assert.Equal(t, strings.TrimSpace(h.must(t, "outputs", "demo", "webhookPath", "--stack", "bootstrap")), names.Secret)
	h.staysSecret(t, "demo", path)
}

func (h *hooked) gone(t *testing.T) {
	h.edit(t, demoFile, webhookLines("azure-devops", "file: ../hook")+"\n", "")
	h.project.up(t, "demo")
	left := h.kubectl(t, "demo", "-n", "flux-system", "get", "receivers,secrets", "-o", "name")
	assert.Check(t, !strings.Contains(left, "receiver") && !strings.Contains(left, names.PlatformWebhook), "%s", left)
	assert.Equal(t, h.deliver(t, webhook.AzureDevOps, names.FluxWebhook(laterToken), laterToken, "1"), http.StatusNotFound)
}

// TestWebhookOfArgoCD has the real argocd-server and applicationset-controller hear of pushes. They read Git once
// an hour by themselves.
func TestWebhookOfArgoCD(t *testing.T) {
	tier.Long(t, "a push starts Argo CD and its generators; unit tests hold what bootstrap makes")
	h := &hookedHub{newProject(t)}
	h.write(t, demoFile, strings.NewReplacer(
		"engine: flux", "engine: argocd", "platform.git", "platform-argocd.git", "clusters/handover", "clusters/hook", "v2.9.3", "v3.5.7",
		"flux-install", "argocd-install", "interval: 10s", "interval: 1h\n"+webhookLines("github", "env: TOMBOLO_WEBHOOK_SECRET"),
	).Replace(testdata(t, "handover.yaml")))
	h.write(t, "platform/argocd/"+hookSettings, settingsOfHook("start"))
	h.write(t, "platform/argocd/clusters/hook/generator.yaml", hookGenerator)
	h.write(t, "platform/argocd/hooked/one/settings.yaml", strings.ReplaceAll(settingsOfHook("one"), "settings", "one"))
	inOrder(t, h, []step[*hookedHub]{
		{"up makes it", (*hookedHub).made},
		{"the secret is nowhere in clear", func(h *hookedHub, t *testing.T) { h.staysSecret(t, "demo", h.token(t)) }},
		{"a push starts Argo CD", (*hookedHub).pushed},
		{"who does not know the secret starts nothing", (*hookedHub).refused},
		{"a push starts generators", (*hookedHub).generated},
		{"another secret", (*hookedHub).rotated},
		{"without the key it is gone", (*hookedHub).gone},
		{"destroy leaves an empty cloud", func(h *hookedHub, t *testing.T) { h.destroyLeavesNothing(t) }},
	})
}

// hookedHub is a cluster whose Argo CD is told of pushes.
type hookedHub struct{ project }

const (
	hookSettings  = "clusters/hook/settings.yaml"
	hookGenerator = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: hooked, namespace: argocd}
spec:
  goTemplate: true
  generators: [{git: {repoURL: "http://git.lab.test/platform-argocd.git", revision: main, requeueAfterSeconds: 3600, directories: [{path: "hooked/*"}]}}]
  template:
    metadata: {name: "{{ .path.basename }}"}
    spec:
      project: platform
      source: {repoURL: "http://git.lab.test/platform-argocd.git", targetRevision: main, path: "{{ .path.path }}"}
      destination: {server: "https://kubernetes.default.svc", namespace: default}
      syncPolicy: {automated: {prune: true}}
`
	argocdServer    = "demo-argocd-server-main"
	argocdGenerator = "demo-argocd-applicationset-controller-webhook"
)

func settingsOfHook(state string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {state: " + state + "}\n"
}

// has waits for a ConfigMap's state.
func (h *hookedHub) has(t *testing.T, name, state string) {
	t.Helper()
	h.becomes(t, "demo", state, "-n", "default", "get", "configmap", name, "--ignore-not-found", "-o", "jsonpath={.data.state}")
}

// secretKeys are those of argocd-secret.
func (h *hookedHub) secretKeys(t *testing.T) map[string]string {
	t.Helper()
	var data map[string]string
	decode(t, h.kubectl(t, "demo", "-n", "argocd", "get", "secret", "argocd-secret", "-o", "jsonpath={.data}"), &data)
	return data
}

func (h *hookedHub) made(t *testing.T) {
	h.up(t, "demo")
	h.has(t, "settings", "start")
	h.has(t, "one", "one")
	assert.Equal(t, strings.TrimSpace(h.must(t, "outputs", "demo", "webhookPath", "--stack", "bootstrap")), "/api/webhook")
	keys := h.secretKeys(t)
	assert.Equal(t, keys["webhook.github.secret"], base64.StdEncoding.EncodeToString([]byte("$platform-webhook:token")))
	assert.Check(t, keys["server.secretkey"] != "" && keys["admin.password"] != "", "Argo CD has lost its own keys")
	h.unchanged(t, "demo")
}

func (h *hookedHub) pushed(t *testing.T) {
	h.clonePush(t, "platform-argocd.git", func(clone string) {
		files.Write(t, filepath.Join(clone, hookSettings), settingsOfHook("pushed"))
	})
	h.has(t, "settings", "pushed")
}

// quietly commits without a host that tells of it.
func (h *hookedHub) quietly(t *testing.T, file, content string) string {
	t.Helper()
	dir := clone(t, h.bare("platform-argocd"), "main")
	files.Write(t, filepath.Join(dir, file), content)
	return pushAll(t, dir, "main")
}

func (h *hookedHub) revision(t *testing.T) string {
	t.Helper()
	return h.kubectl(t, "demo", "-n", "argocd", "get", "application", "platform", "-o", "jsonpath={.status.sync.revision} {.metadata.annotations}")
}

func (h *hookedHub) refused(t *testing.T) {
	before := h.revision(t)
	commit := h.quietly(t, hookSettings, settingsOfHook("quiet"))
	h.refuses(t, argocdServer)
	assert.Equal(t, h.revision(t), before, "somebody without the secret has started Argo CD")
	assert.Equal(t, h.deliver(t, argocdServer, webhook.AzureDevOps, "/api/webhook", h.token(t), commit), http.StatusOK)
	h.has(t, "settings", "quiet")
}

// refuses says that a program takes no event without the secret, of whichever kind of host.
func (h *hookedHub) refuses(t *testing.T, port string) {
	t.Helper()
	for _, kind := range []string{webhook.GitHub, webhook.GitLab, webhook.AzureDevOps} {
		for _, token := range []string{"a-secret-of-somebody-else", ""} {
			assert.Check(t, is.Equal(h.deliver(t, port, kind, "/api/webhook", token, "1"), http.StatusBadRequest), "%s of %s with %q", kind, port, token)
		}
	}
}

// generated: a controller that began before argocd-server had made its key has no webhook until it begins anew.
// One that has is left alone: it would take the event, and end before it has acted.
func (h *hookedHub) generated(t *testing.T) {
	listens := func() (bool, string) {
		got := h.deliver(t, argocdGenerator, webhook.GitHub, "/api/webhook", "", "1")
		return got == http.StatusBadRequest, fmt.Sprintf("the applicationset-controller answers %d", got)
	}
	if already, _ := listens(); !already {
		h.kubectl(t, "demo", "-n", "argocd", "rollout", "restart", "deployment", "argocd-applicationset-controller")
		eventually(t, listens)
	}
	h.refuses(t, argocdGenerator)
	const told = "refresh ApplicationSet argocd/hooked from webhook"
	log := func() string { return h.read(t, ".lab/logs/demo-argocd-applicationset-controller.log") }
	assert.Check(t, !strings.Contains(log(), told), "somebody without the secret has started a generator")
	commit := h.quietly(t, "hooked/two/settings.yaml", strings.ReplaceAll(settingsOfHook("two"), "settings", "two"))
	assert.Equal(t, h.deliver(t, argocdGenerator, webhook.GitHub, "/api/webhook", h.token(t), commit), http.StatusOK)
	h.has(t, "two", "two")
	assert.Check(t, strings.Contains(log(), told), "the generator was not told of the push")
}

func (h *hookedHub) rotated(t *testing.T) {
	h.write(t, "hook", laterToken+"\n")
	h.edit(t, demoFile, webhookLines("github", "env: TOMBOLO_WEBHOOK_SECRET"), webhookLines("gitlab", "file: ../hook"))
	h.up(t, "demo")
	commit := h.quietly(t, hookSettings, settingsOfHook("rotated"))
	eventually(t, func() (bool, string) {
		got := h.deliver(t, argocdServer, webhook.GitLab, "/api/webhook", laterToken, commit)
		return got == http.StatusOK, fmt.Sprintf("argocd-server answers %d", got)
	})
	h.has(t, "settings", "rotated")
	assert.Equal(t, h.deliver(t, argocdServer, webhook.GitLab, "/api/webhook", h.token(t), commit), http.StatusBadRequest)
	h.staysSecret(t, "demo", laterToken)
}

func (h *hookedHub) gone(t *testing.T) {
	h.edit(t, demoFile, webhookLines("gitlab", "file: ../hook")+"\n", "")
	h.up(t, "demo")
	keys := h.secretKeys(t)
	for key := range keys {
		assert.Check(t, !strings.HasPrefix(key, "webhook."), key)
	}
	assert.Check(t, keys["server.secretkey"] != "" && keys["admin.password"] != "", "Argo CD has lost its own keys")
	left := h.kubectl(t, "demo", "-n", "argocd", "get", "secrets", "-o", "name")
	assert.Check(t, !strings.Contains(left, names.PlatformWebhook), "%s", left)
}
