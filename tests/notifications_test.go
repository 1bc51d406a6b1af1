package tests

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/yaml"

	"tombolo/check/helm"
	"tombolo/check/tree/treetest"
	"tombolo/lab/inbox"
	"tombolo/platform"
)

// channelsOf is Argo CD's ConfigMap of notifications for a system with a channel of each type.
func channelsOf(t *testing.T) map[string]string {
	t.Helper()
	of := treetest.Copy(t, platform.ArgoCD())
	for name, channel := range map[string]string{"shop": "slack", "blog": "msteams", "wiki": "generic"} {
		of["systems/"+name+".yaml"] = &fstest.MapFile{Data: []byte("channel: {type: " + channel + "}\n")}
	}
	of["systems/quiet.yaml"] = &fstest.MapFile{Data: []byte("team: quiet\n")}
	of["systems/broken.yaml"] = &fstest.MapFile{Data: []byte("team: [broken\n")}
	c, _, err := helm.Load(treetest.Index(t, of), "systems")
	assert.NilError(t, err)
	made, err := helm.Render(c, "systems", "argocd", nil, false)
	assert.NilError(t, err)
	assert.Equal(t, len(made), 1)
	var o struct{ Data map[string]string }
	assert.NilError(t, yaml.Unmarshal([]byte(made[0]), &o))
	return o.Data
}

// said are the states of an Application that a team is told of, by the trigger, with what
// the channel has to show.
var said = map[string]struct{ status, want, severity string }{
	"refused": {`
operationState:
  phase: Running
  finishedAt: "2026-01-02T03:04:05Z"
  message: one or more objects failed to apply
  syncResult:
    revision: abc
    resources:
      - {kind: ConfigMap, namespace: shop, name: fine, status: Synced, message: configured}
      - {kind: Service, namespace: shop, name: door, status: SyncFailed, message: 'spec.type "must" be ClusterIP'}
      - {kind: Job, namespace: shop, name: migrate, status: Synced, hookPhase: Failed, message: it failed}
`, "Service shop/door: spec.type \"must\" be ClusterIP\nJob shop/migrate: it failed", "error"},
	"unreadable": {`
conditions:
  - {type: ComparisonError, message: no such directory}
  - {type: OrphanedResourceWarning, message: another}
`, "ComparisonError: no such directory", "error"},
	"degraded":  {"health: {status: Degraded}", "what was delivered is not healthy: look at its pods", "error"},
	"delivered": {"operationState: {phase: Succeeded}", "what is in the repository was delivered, and is healthy", "info"},
}

// TestTeamsReadWhyTheyWereRefused: a channel of each type shows the same, to no team but the
// one whose Application it is about.
func TestTeamsReadWhyTheyWereRefused(t *testing.T) {
	data := channelsOf(t)
	for system, channel := range map[string]string{"shop": "slack", "blog": "msteams", "wiki": "generic"} {
		assert.Equal(t, data["service.webhook."+system], "url: $"+system+"\nheaders:\n  - name: Content-Type\n    value: application/json\n", channel)
		for trigger, c := range said {
			var notification struct {
				Webhook map[string]struct{ Method, Body string }
			}
			assert.NilError(t, yaml.Unmarshal([]byte(data["template."+trigger]), &notification))
			assert.Equal(t, len(notification.Webhook), 3)
			webhook := notification.Webhook[system]
			assert.Equal(t, webhook.Method, http.MethodPost)
			got := post(t, channel, body(t, webhook.Body, c.status))
			assert.Equal(t, got.Text, c.want, channel)
			assert.Equal(t, got.Object, "application/mgmt-shop.argocd", channel)
			assert.Equal(t, got.Severity, c.severity, channel)
		}
	}
}

// TestLongReasonsAreShown: a Workflow of Teams posts 28 KB at most, whatever is in the text.
func TestLongReasonsAreShown(t *testing.T) {
	data := channelsOf(t)
	for system, channel := range map[string]string{"shop": "slack", "blog": "msteams"} {
		for _, text := range []string{`say \"no\" `, "<a & b> ", "\u00e9\u4e2d ", `\\ `} {
			var notification struct {
				Webhook map[string]struct{ Body string }
			}
			assert.NilError(t, yaml.Unmarshal([]byte(data["template.degraded"]), &notification))
			status := fmt.Sprintf("health: {status: Degraded, message: \"%s\"}", strings.Repeat(text, 20000))
			got := post(t, channel, body(t, notification.Webhook[system].Body, status))
			assert.Check(t, len(got.Text) > 5000, "%s of %q", channel, text)
		}
	}
}

// TestNoticesOfRuns: Slack and Teams show what the driver tells of its runs.
func TestNoticesOfRuns(t *testing.T) {
	for _, channel := range []string{"slack", "msteams"} {
		text, err := os.ReadFile("../cmd/tombolo/cli/notice/testdata/" + channel + ".json")
		assert.NilError(t, err)
		got := post(t, channel, string(text))
		assert.Check(t, is.Contains(got.Text, "up of 3 clusters: 2 succeeded, 1 failed"))
	}
}

// TestSeverities: a system of either tree hears of failures alone, unless its file says info.
func TestSeverities(t *testing.T) {
	flux, argocd := treetest.Copy(t, platform.Flux()), treetest.Copy(t, platform.ArgoCD())
	values := map[string]any{
		"team": "sellers", "group": "sellers", "repository": map[string]any{"url": "https://git.example.com/shop.git"},
	}
	made := func(of fs.FS, more map[string]any) string {
		t.Helper()
		c, _, err := helm.Load(treetest.Index(t, of), "charts/system")
		assert.NilError(t, err)
		all, err := helm.Render(c, "shop", "argocd", more, false)
		assert.NilError(t, err)
		return strings.Join(all, "---\n")
	}
	for severity, all := range map[string]bool{"": false, "error": false, "info": true} {
		channel := map[string]any{"type": "slack", "secret": "channel"}
		if severity != "" {
			channel["severity"] = severity
		}
		given := maps.Clone(values)
		given["channel"] = channel
		assert.Check(t, is.Contains(made(flux, given), "eventSeverity: "+cmp.Or(severity, "error")+"\n"))
		delete(channel, "secret")
		given["cluster"] = map[string]any{"name": "mgmt", "server": "https://kubernetes.default.svc"}
		text := made(argocd, given)
		assert.Check(t, is.Contains(text, "notifications.argoproj.io/subscribe.refused.shop: "))
		assert.Check(t, is.Equal(strings.Contains(text, "subscribe.delivered.shop: "), all), severity)
	}
}

// body is what Argo CD sends for an Application with a status: it has the functions of sprig.
func body(t *testing.T, text, status string) string {
	t.Helper()
	var app map[string]any
	assert.NilError(t, yaml.Unmarshal([]byte("metadata: {name: mgmt-shop, namespace: argocd}\nstatus:\n  "+strings.ReplaceAll(strings.TrimSpace(status), "\n", "\n  ")), &app))
	parsed, err := template.New("body").Funcs(sprig.TxtFuncMap()).Parse(text)
	assert.NilError(t, err)
	var out strings.Builder
	assert.NilError(t, parsed.Execute(&out, map[string]any{"app": app}))
	return out.String()
}

// post is the message that the lab's inbox has of a body, in the form of the channel's type.
func post(t *testing.T, channel, body string) inbox.Message {
	t.Helper()
	i := inbox.Open(filepath.Join(t.TempDir(), "inbox"))
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/"+channel+"/team", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	i.ServeHTTP(w, r)
	assert.Equal(t, w.Code/100, 2, "%s: %s\n%.300s", channel, w.Body, body)
	all, err := i.Messages("")
	assert.NilError(t, err)
	assert.Equal(t, len(all), 1)
	return all[0]
}
