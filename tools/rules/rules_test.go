package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const (
	fluxTree = "../../platform/flux/addons/kube-prometheus-stack/"
	argoTree = "../../platform/argocd/addons/kube-prometheus-stack/"
)

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	assert.NilError(t, err)
	return text
}

// argocdRules are the rules of the tree for Argo CD, rendered for a hub. The template needs
// nothing that Helm adds.
func argocdRules(t *testing.T) []byte {
	t.Helper()
	parsed, err := template.New("argocd").Parse(string(read(t, argoTree+"resources/templates/argocd.yaml")))
	assert.NilError(t, err)
	var out bytes.Buffer
	assert.NilError(t, parsed.Execute(&out, map[string]any{"Values": map[string]any{"hub": true}}))
	return out.Bytes()
}

func started(t *testing.T, manifests []byte, lasting time.Duration) *prometheus {
	t.Helper()
	p, err := start(t.TempDir(), manifests)
	assert.NilError(t, err)
	if lasting > 12*time.Hour {
		p.every = 5 * time.Minute
	}
	t.Cleanup(func() { assert.Check(t, p.close()) })
	return p
}

// states are the names of alerts with what distinguishes them, and their states.
func states(alerts []Alert, labels ...string) []string {
	out := []string{}
	for _, a := range alerts {
		text := a.Name
		for _, l := range labels {
			text += " " + a.Labels[l]
		}
		out = append(out, text+": "+a.State)
	}
	return out
}

func always(text string) func(int) string { return func(int) string { return text } }

// scenario is a row of metrics, and the alerts after it.
type scenario struct {
	name  string
	lasts time.Duration
	then  func(minute int) string
	want  []string
}

func (s scenario) run(t *testing.T, rules []byte, labels ...string) {
	t.Run(s.name, func(t *testing.T) {
		p := started(t, rules, s.lasts)
		assert.NilError(t, p.pass(t.Context(), s.lasts, s.then))
		assert.DeepEqual(t, states(p.alerts(), labels...), s.want)
	})
}

func application(name, sync, health string) string {
	return fmt.Sprintf("argocd_app_info{name=%q,project=\"platform\",dest_server=\"https://spoke\",sync_status=%q,health_status=%q} 1\n", name, sync, health)
}

func TestArgoCDRules(t *testing.T) {
	fine := application("hello", "Synced", "Healthy")
	for _, s := range []scenario{
		{"all is well", time.Hour, always(fine), []string{}},
		{
			"out of sync, for less than it may be", 15 * time.Minute, always(fine + application("shop", "OutOfSync", "Healthy")),
			[]string{"ArgoCDApplicationOutOfSync shop: pending"},
		},
		{
			"out of sync", 16 * time.Minute, always(fine + application("shop", "OutOfSync", "Healthy")),
			[]string{"ArgoCDApplicationOutOfSync shop: firing"},
		},
		{"it heals itself in between", 40 * time.Minute, func(minute int) string {
			if minute%14 == 13 {
				return application("shop", "Synced", "Healthy")
			}
			return application("shop", "OutOfSync", "Healthy")
		}, []string{"ArgoCDApplicationOutOfSync shop: pending"}},
		{"synced again", 40 * time.Minute, func(minute int) string {
			if minute > 30 {
				return fine
			}
			return application("hello", "OutOfSync", "Healthy")
		}, []string{}},
		{
			"degraded and missing", 11 * time.Minute, always(application("shop", "Synced", "Degraded") + application("news", "Synced", "Missing")),
			[]string{"ArgoCDApplicationDegraded news: firing", "ArgoCDApplicationDegraded shop: firing"},
		},
		{
			"unknown", 11 * time.Minute, always(application("shop", "Unknown", "Healthy") + application("news", "Synced", "Unknown")),
			[]string{"ArgoCDApplicationUnknown news: firing", "ArgoCDApplicationUnknown shop: firing"},
		},
		{"no metrics", 16 * time.Minute, always(""), []string{"ArgoCDMetricsMissing : firing"}},
	} {
		s.run(t, argocdRules(t), "name")
	}
}

func resource(kind, namespace, name, ready, more string) string {
	return fmt.Sprintf("gotk_resource_info{customresource_kind=%q,exported_namespace=%q,name=%q,ready=%q%s} 1\n", kind, namespace, name, ready, more)
}

// controllers are the metrics of Flux's controllers in a minute in which they try so much, and
// so much fails.
func controllers(minute, tries, errors int) string {
	return fmt.Sprintf("gotk_reconcile_duration_seconds_count{kind=\"Kustomization\",name=\"addons\",exported_namespace=\"flux-system\",namespace=\"flux-system\"} %d\n", minute*tries) +
		fmt.Sprintf("controller_runtime_reconcile_total{controller=\"kustomization\",namespace=\"flux-system\",result=\"success\"} %d\n", minute*(tries-errors)) +
		fmt.Sprintf("controller_runtime_reconcile_total{controller=\"kustomization\",namespace=\"flux-system\",result=\"error\"} %d\n", minute*errors)
}

// with adds what does not change to controllers that work.
func with(text string) func(int) string {
	return func(minute int) string { return controllers(minute, 4, 1) + text }
}

func TestFluxRules(t *testing.T) {
	fine := resource("Kustomization", "flux-system", "addons", "True", "")
	failing := resource("Kustomization", "flux-system", "addons", "False", "")
	for _, s := range []scenario{
		{"all is well", 3 * time.Hour, with(fine), []string{}},
		{"not ready, for less than it may be", 15 * time.Minute, with(failing), []string{"FluxDeliveryNotReady addons: pending"}},
		{"not ready", 16 * time.Minute, with(failing), []string{"FluxDeliveryNotReady addons: firing"}},
		{"it tries again and again", 16 * time.Minute, func(minute int) string {
			if minute%2 == 1 {
				return with(resource("Kustomization", "flux-system", "addons", "Unknown", ""))(minute)
			}
			return with(failing)(minute)
		}, []string{"FluxDeliveryNotReady addons: firing"}},
		{"a success in between", 20 * time.Minute, func(minute int) string {
			if minute == 10 {
				return with(fine)(minute)
			}
			return with(failing)(minute)
		}, []string{"FluxDeliveryNotReady addons: pending"}},
		{
			"no controller has seen it", 16 * time.Minute, with(fine + resource("HelmRelease", "keda", "keda", "", "")),
			[]string{"FluxDeliveryNotReady keda: firing"},
		},
		{
			"of a system", 30 * time.Hour, with(fine + resource("Kustomization", "shop", "system", "False", "") +
				resource("GitRepository", "shop", "system", "False", "") + resource("HelmRelease", "shop", "web", "True", `,suspended="true"`) +
				`kube_namespace_labels{namespace="shop",label_tombolo_system="shop"} 1` + "\n" +
				`kube_namespace_labels{namespace="flux-system"} 1` + "\n"), []string{},
		},
		{
			"a source", 16 * time.Minute, with(fine + resource("GitRepository", "flux-system", "platform", "False", "")),
			[]string{"FluxSourceNotReady platform: firing"},
		},
		{"a source without a state", 3 * time.Hour, with(fine + resource("HelmRepository", "flux-system", "karpenter", "", "")), []string{}},
		{"suspended, and not ready", 2 * time.Hour, with(resource("Kustomization", "flux-system", "addons", "False", `,suspended="true"`)), []string{"FluxSuspended addons: pending"}},
		{"suspended for long", 25 * time.Hour, with(resource("Kustomization", "flux-system", "addons", "True", `,suspended="true"`)), []string{"FluxSuspended addons: firing"}},
		{"errors of a controller", 30 * time.Minute, func(minute int) string { return fine + controllers(minute, 4, 3) }, []string{"FluxControllerFails : firing"}},
		{"nothing is applied", 150 * time.Minute, func(int) string { return fine + controllers(100, 4, 0) }, []string{"FluxStandsStill : firing"}},
		{"nothing to apply, and not known for long", time.Hour, func(int) string { return fine + controllers(100, 4, 0) }, []string{}},
		{"no metrics of the controllers", 16 * time.Minute, always(fine), []string{"FluxMetricsMissing : firing"}},
		{"no metrics of the objects", 16 * time.Minute, with(""), []string{"FluxMetricsMissing : firing"}},
	} {
		s.run(t, read(t, fluxTree+"flux.yaml"), "name")
	}
}

// TestWhatPeopleRead: labels and annotations of every alert are rendered, and say what it is
// about.
func TestWhatPeopleRead(t *testing.T) {
	p := started(t, read(t, fluxTree+"flux.yaml"), 24*time.Hour)
	assert.NilError(t, p.pass(t.Context(), 26*time.Hour, func(minute int) string {
		if minute > 25*60 {
			return ""
		}
		return resource("Kustomization", "flux-system", "addons", "False", "") + resource("Bucket", "flux-system", "files", "False", "") +
			resource("HelmRelease", "keda", "keda", "True", `,suspended="true"`) + controllers(minute, 4, 3)
	}))
	q := started(t, read(t, fluxTree+"flux.yaml"), 24*time.Hour)
	assert.NilError(t, q.pass(t.Context(), 25*time.Hour, func(minute int) string {
		return resource("Kustomization", "flux-system", "addons", "False", "") + resource("Bucket", "flux-system", "files", "False", "") +
			resource("HelmRelease", "keda", "keda", "True", `,suspended="true"`) + controllers(minute, 4, 3)
	}))
	a := started(t, argocdRules(t), time.Hour)
	assert.NilError(t, a.pass(t.Context(), 20*time.Minute, always(application("shop", "OutOfSync", "Degraded")+application("news", "Unknown", "Healthy"))))
	all := slices.Concat(p.alerts(), q.alerts(), a.alerts())
	summaries := map[string]string{}
	for _, alert := range all {
		summaries[alert.Name] = alert.Annotations["summary"]
		assert.Check(t, slices.Contains([]string{"info", "warning", "critical"}, alert.Labels["severity"]), alert.Name)
		for key, text := range alert.Annotations {
			assert.Check(t, !strings.ContainsAny(text, "{<") && !strings.Contains(text, "  ") && strings.HasSuffix(text, "."), "%s, %s: %q", alert.Name, key, text)
		}
	}
	for name, want := range map[string]string{
		"FluxDeliveryNotReady": "Kustomization flux-system/addons is not ready.", "FluxSourceNotReady": "Bucket flux-system/files cannot be fetched.",
		"FluxSuspended":              "HelmRelease keda/keda is suspended.",
		"FluxControllerFails":        "Flux fails at more than half of what it does for the kind kustomization.",
		"ArgoCDApplicationOutOfSync": "Application shop is out of sync.",
	} {
		assert.Check(t, is.Equal(summaries[name], want), name)
	}
}

// TestStateOfFluxsObjects: what the tree has kube-state-metrics make of Flux's objects is what
// the rules read. Its own code has made it, in tools/state.
func TestStateOfFluxsObjects(t *testing.T) {
	p := started(t, read(t, fluxTree+"flux.yaml"), 24*time.Hour)
	assert.NilError(t, p.pass(t.Context(), 25*time.Hour, with(string(read(t, "../state/testdata/metrics.txt")))))
	assert.DeepEqual(t, states(p.alerts(), "customresource_kind", "exported_namespace", "name"), []string{
		"FluxDeliveryNotReady HelmRelease keda keda: firing",
		"FluxDeliveryNotReady Kustomization flux-system addons: firing",
		"FluxSourceNotReady GitRepository flux-system platform: firing",
		"FluxSuspended Kustomization flux-system apps: firing",
	})
}

// TestVersionsAreTheCharts: what evaluates here is what runs there.
func TestVersionsAreTheCharts(t *testing.T) {
	packed, err := gzip.NewReader(bytes.NewReader(read(t, "../upstream/facts/facts.json.gz")))
	assert.NilError(t, err)
	var facts []struct {
		Chart  string
		Images []string
	}
	assert.NilError(t, json.NewDecoder(packed).Decode(&facts))
	var images []string
	for _, f := range facts {
		if f.Chart == "kube-prometheus-stack" {
			images = append(images, f.Images...)
		}
	}
	module := string(read(t, "go.mod"))
	for image, path := range map[string]string{
		"prometheus/prometheus": "github.com/prometheus/prometheus", "prometheus/alertmanager": "github.com/prometheus/alertmanager",
	} {
		runs := regexp.MustCompile(`/` + image + `:v([0-9.]+)`).FindStringSubmatch(strings.Join(images, "\n"))
		assert.Assert(t, runs != nil, image)
		version := "v" + runs[1]
		if image == "prometheus/prometheus" { // 3.13.2 is v0.313.2 as a module
			part := strings.Split(runs[1], ".")
			version = fmt.Sprintf("v0.%s%02s.%s", part[0], part[1], part[2])
		}
		assert.Check(t, is.Contains(module, path+" "+version))
	}
}
