//go:build lab

package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab"
)

// metrics is what a process of the lab serves for Prometheus, in a file.
func (p project) metrics(t *testing.T, process string) string {
	t.Helper()
	var ports map[string]int
	decode(t, p.read(t, ".lab/ports.json"), &ports)
	port := ports[process+"-metrics"]
	assert.Assert(t, port != 0, "%s has no port of metrics among %v", process, ports)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/metrics", port), nil)
	assert.NilError(t, err)
	response, err := http.DefaultClient.Do(request)
	assert.NilError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	assert.NilError(t, err)
	return asFile(t, string(text))
}

// asFile keeps a text in a file.
func asFile(t *testing.T, text string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tombolo-") //nolint:usetesting // the test's name may have a comma, at which kubectl parts names of files
	assert.NilError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "file")
	assert.NilError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// alert is one that Prometheus has.
type alert struct {
	Name, State         string
	Labels, Annotations map[string]string
}

// alerts are what Prometheus's own engine makes of metrics that stay for a while as they are.
func (p project) alerts(t *testing.T, lasting time.Duration, args ...string) []alert {
	t.Helper()
	var document struct{ Alerts []alert }
	decode(t, runModule(t, "rules", append([]string{"-for", lasting.String()}, args...)...), &document)
	return document.Alerts
}

// runModule runs the program of a module of the tools.
func runModule(t *testing.T, name string, args ...string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "tools", name))
	assert.NilError(t, err)
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"-C", dir, "run", "."}, args...)...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	assert.NilError(t, err, said.String())
	return string(out)
}

// stateOf is the state of an alert with a label, "" when it is not there.
func stateOf(alerts []alert, name, label, value string) string {
	i := slices.IndexFunc(alerts, func(a alert) bool { return a.Name == name && a.Labels[label] == value })
	if i < 0 {
		return ""
	}
	return alerts[i].State
}

// byHand is an Application that nothing syncs by itself.
const byHand = `{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
"metadata": {"name": "by-hand", "namespace": "argocd", "finalizers": ["resources-finalizer.argocd.argoproj.io"]},
"spec": {"project": "platform", "destination": {"server": "https://kubernetes.default.svc", "namespace": "hello"},
"source": {"repoURL": "http://git.lab.test/platform-argocd.git", "targetRevision": "main", "path": "others"}}}`

// outOfSyncIsTold changes something of an Application on the cluster by hand, and has
// Prometheus evaluate the rules on the hub with what the real controller then says.
func (f *fleet) outOfSyncIsTold(t *testing.T) {
	var rules json.RawMessage
	decode(t, f.kubectl(t, hub, "-n", "monitoring", "get", "prometheusrule", "argocd", "-o", "json"), &rules)
	file := asFile(t, string(rules))
	state := func(lasting time.Duration) (string, []alert) {
		all := f.alerts(t, lasting, "-rules", file, f.metrics(t, hub+"-argocd-application-controller"))
		return stateOf(all, "ArgoCDApplicationOutOfSync", "name", "by-hand"), all
	}
	f.kubectl(t, hub, "create", "-f", asFile(t, byHand))
	f.sync(t)
	f.synced(t, "Synced")
	got, _ := state(time.Hour)
	assert.Equal(t, got, "")

	f.kubectl(t, hub, "-n", "hello", "patch", "configmap", "greeting", "--type", "merge", "-p", `{"data": {"from": "a hand"}}`)
	f.synced(t, "OutOfSync")
	got, _ = state(15 * time.Minute)
	assert.Equal(t, got, "pending")
	got, all := state(16 * time.Minute)
	assert.Equal(t, got, "firing")
	i := slices.IndexFunc(all, func(a alert) bool { return a.Labels["name"] == "by-hand" })
	assert.DeepEqual(t, all[i].Labels, map[string]string{
		"alertname": "ArgoCDApplicationOutOfSync", "severity": "warning", "name": "by-hand", "project": "platform",
		"dest_server": "https://kubernetes.default.svc",
	})
	assert.Check(t, is.Equal(all[i].Annotations["summary"], "Application by-hand is out of sync."))

	f.sync(t)
	f.synced(t, "Synced")
	got, _ = state(time.Hour)
	assert.Equal(t, got, "")
	f.kubectl(t, hub, "-n", "argocd", "delete", "application", "by-hand")
}

func (f *fleet) sync(t *testing.T) {
	t.Helper()
	f.kubectl(t, hub, "-n", "argocd", "patch", "application", "by-hand", "--type", "merge", "-p", `{"operation": {"sync": {}}}`)
}

// synced waits for the state of the Application by-hand.
func (f *fleet) synced(t *testing.T, want string) {
	t.Helper()
	eventually(t, func() (bool, string) {
		got := f.kubectl(t, hub, "-n", "argocd", "get", "application", "by-hand", "-o", "jsonpath={.status.sync.status} {.status.operationState.message} {.status.conditions}")
		return strings.HasPrefix(got, want+" "), "by-hand is " + got
	})
}

// monitoredByLabel: one label in the file of the spoke in the other cloud and one command bring all that watches a
// cluster, which verify looks at and misses. Without the label all of it goes.
func (f *fleet) monitoredByLabel(t *testing.T) {
	names := func() []string { return slices.Sorted(maps.Keys(f.applications(t, spokeB))) }
	const off, on = "\naddons:\n", "\nlabels:\n  monitoring: \"on\"\n\naddons:\n"
	before := names()
	f.edit(t, clusterFile(spokeB), off, on)
	f.must(t, "up", spokeB, "--yes", "--verify")
	verified := f.must(t, "verify", spokeB)
	for _, release := range []string{"alloy", "event-exporter", "kube-prometheus-stack", "loki", "prometheus-operator-crds"} {
		assert.Check(t, !slices.Contains(before, spokeB+"-"+release), release)
		assert.Check(t, is.Contains(verified, "argocd/"+spokeB+"-"+release))
	}
	for release, namespace := range map[string]string{"alloy": "monitoring", "kube-prometheus-stack": "monitoring", "loki": "loki"} {
		values := f.kubectl(t, spokeB, "-n", namespace, "get", "configmap", release+"-received", "-o", `jsonpath={.data.values\.yaml}`)
		assert.Check(t, is.Contains(values, "cluster: spoke-b"), release)
		assert.Check(t, is.Contains(values, "region: germanywestcentral"), release)
	}
	f.kubectl(t, spokeB, "-n", "monitoring", "get", "deployment", "event-exporter")
	rules := f.kubectl(t, spokeB, "-n", "loki", "get", "configmap", "loki-rules", "-o", `jsonpath={.data.events\.yaml}`)
	assert.Check(t, is.Contains(rules, "alert: KubernetesNodeLacksResources"))

	const list, exporter = argocdTree + "/clusters/mgmt/kustomization.yaml", "  - ../../addons/event-exporter\n"
	with := f.read(t, list)
	f.edit(t, list, exporter, "")
	f.must(t, "lab", "up")
	f.refresh(t, "platform")
	eventually(t, func() (bool, string) {
		return !slices.Contains(names(), spokeB+"-event-exporter"), "the exporter's Application stays"
	})
	f.run(t, "verify", spokeB, "--timeout", "5s").fails(t, "Addon monitoring/event-exporter: the cluster's label monitoring turns it on, and Argo CD has no release of it")
	f.write(t, list, with)
	f.must(t, "lab", "up")
	f.must(t, "verify", spokeB)

	f.edit(t, clusterFile(spokeB), on, off)
	f.must(t, "up", spokeB, "--yes", "--verify")
	eventually(t, func() (bool, string) {
		got := names()
		return slices.Equal(got, before), fmt.Sprintf("it has %v, and had %v", got, before)
	})
	assert.Check(t, is.Equal(f.kubectl(t, spokeB, "get", "namespaces", "loki", "--ignore-not-found", "-o", "name"), ""))
}

// platformIsTold breaks something of the platform's own: its channel hears of it, and no
// team's. The rules of the tree for Flux, which no addon of this cluster brings, are evaluated
// with what the real controllers say: they tell of the platform, and not of the system
// that is not ready either.
func (s systems) platformIsTold(t *testing.T) {
	broken := asFile(t, `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: broken, namespace: flux-system}
spec:
  interval: 1h
  retryInterval: 10s
  path: ./nowhere
  prune: true
  sourceRef: {kind: GitRepository, name: platform}
`)
	s.kubectl(t, teams, "apply", "-f", broken)
	eventually(t, func() (bool, string) {
		return slices.ContainsFunc(s.inbox(t, "platform"), func(m lab.Message) bool {
			return m.Severity == "error" && m.Object == "kustomization/broken.flux-system" && strings.Contains(m.Text, "nowhere")
		}), "the channel of the platform has not the failure"
	})
	s.othersHearNothing(t)
	fired := s.fluxAlerts(t)
	assert.Check(t, is.Equal(stateOf(fired, "FluxDeliveryNotReady", "name", "broken"), "firing"), "%+v", fired)
	assert.Check(t, is.Equal(stateOf(fired, "FluxDeliveryNotReady", "exported_namespace", "hostile"), ""))
	assert.Check(t, is.Equal(stateOf(fired, "FluxMetricsMissing", "severity", "warning"), ""))

	s.kubectl(t, teams, "delete", "-f", broken)
	eventually(t, func() (bool, string) {
		left := s.fluxAlerts(t)
		return len(left) == 0, fmt.Sprintf("alerts stay: %+v", left)
	})
}

// fluxAlerts are the tree's alerts after 16 minutes of what the cluster has now: the metrics of
// kustomize-controller, and those that kube-state-metrics makes of Flux's objects.
func (s systems) fluxAlerts(t *testing.T) []alert {
	t.Helper()
	const addon = "platform/flux/addons/kube-prometheus-stack/"
	objects := s.kubectl(t, teams, "get", "namespaces,kustomizations,helmreleases,gitrepositories,helmrepositories,helmcharts", "-A", "-o", "json")
	state := runModule(t, "state", "-release", filepath.Join(s.dir, addon, "release.yaml"), "-objects", asFile(t, objects))
	return s.alerts(t, 16*time.Minute, "-rules", filepath.Join(s.dir, addon, "flux.yaml"), asFile(t, state), s.metrics(t, teams+"-kustomize-controller"))
}
