package check

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"helm.sh/helm/v3/pkg/chartutil"

	"tombolo/check/manifest"
	"tombolo/check/substitution"
	"tombolo/config/addon"
	"tombolo/internal/names"
	"tombolo/tests/files"
)

// TestArgoCDsMetricsAreRead: the Service of the application controller's metrics,
// argocd-metrics, calls its port metrics in the release's install.yaml, and
// http-metrics in the chart of argo-helm (controller.metrics.service.portName in
// its values.yaml). With the wrong one ArgoCDMetricsMissing would fire for ever.
func TestArgoCDsMetricsAreRead(t *testing.T) {
	type object struct {
		Kind string
		Spec struct {
			Selector  struct{ MatchLabels map[string]string }
			Endpoints []struct{ Port string }
		}
	}
	clusters := fleetOfAll(t, "clusters/prod")
	app, ok := applicationsOf(t, clusters, 0)["prod-kube-prometheus-stack"]
	assert.Assert(t, ok)
	var ports []string
	alert := false
	for _, from := range app.Sources() {
		if !strings.HasSuffix(from.Path, "/resources") {
			continue
		}
		for _, text := range rendered(t, app, from) {
			o, err := manifest.Decode[object](text)
			assert.NilError(t, err)
			if o.Spec.Selector.MatchLabels["app.kubernetes.io/name"] == "argocd-metrics" {
				for _, e := range o.Spec.Endpoints {
					ports = append(ports, e.Port)
				}
			}
			alert = alert || strings.Contains(text, "alert: ArgoCDMetricsMissing")
		}
	}
	assert.Check(t, alert)
	assert.DeepEqual(t, ports, []string{"metrics", "http-metrics"})
}

// TestThePlatformsAlertHearsAllReleases: the releases of an addon that the list leaves out would
// fail unheard.
func TestThePlatformsAlertHearsAllReleases(t *testing.T) {
	type alert struct {
		Kind string
		Spec struct {
			EventSources []struct{ Kind, Name, Namespace string }
		}
	}
	_, second, _ := strings.Cut(files.Read(t, "../platform/flux/channel/notifications.yaml"), "\n---\n")
	a, err := manifest.Decode[alert](second)
	assert.NilError(t, err)
	assert.Equal(t, a.Kind, "Alert")
	var got []string
	for _, s := range a.Spec.EventSources {
		assert.Check(t, s.Name == "*")
		if s.Kind == "HelmRelease" {
			got = append(got, s.Namespace)
			continue
		}
		assert.Check(t, s.Namespace == names.FluxNamespace, s.Kind)
	}
	want := []string{names.SystemsNamespace}
	for _, a := range addon.All() {
		if _, err := os.Stat("../platform/flux/addons/" + a.Name); err == nil {
			want = append(want, a.Namespace)
		}
	}
	slices.Sort(want)
	assert.DeepEqual(t, got, slices.Compact(want))
}

// monitor is what tells Prometheus what to read.
type monitor struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct{ NamespaceSelector struct{ MatchNames []string } }
}

// monitorsOf are the monitors of both trees' addons.
func monitorsOf(t *testing.T) []monitor {
	t.Helper()
	texts := addonObjects(t, os.DirFS("../platform/flux"))
	clusters := fleetOfAll(t, "clusters/prod")
	for _, app := range applicationsOf(t, clusters, 0) {
		for _, from := range app.Sources() {
			if strings.HasSuffix(from.Path, "/resources") {
				texts = append(texts, rendered(t, app, from)...)
			}
		}
	}
	var out []monitor
	for _, text := range texts {
		m, err := manifest.Decode[monitor](text)
		assert.NilError(t, err)
		if m.Kind == "ServiceMonitor" || m.Kind == "PodMonitor" {
			out = append(out, m)
		}
	}
	return out
}

// TestMetricsAreOfTheirNamespace: Prometheus looks for a monitor's targets in the namespace of
// the monitor alone, and gives all that it reads the name of that namespace, but for what the
// platform reads of others. TestBothEnginesReleaseTheSame holds the other tree.
func TestMetricsAreOfTheirNamespace(t *testing.T) {
	releases, _ := fluxReleases(t, substitution.Variables{Values: fleetOfAll(t, "clusters/prod")[0].Examples(), Substituting: true})
	spec, err := chartutil.Values(releases["kube-prometheus-stack"].Values).Table("prometheus.prometheusSpec")
	assert.NilError(t, err)
	assert.Check(t, is.Equal(spec["ignoreNamespaceSelectors"], true))
	assert.Check(t, is.Equal(spec["enforcedNamespaceLabel"], "namespace"))
	var excluded []string
	list, _ := spec["excludedFromEnforcement"].([]any)
	for _, item := range list {
		of, _ := item.(map[string]any)
		assert.Check(t, of["group"] == "monitoring.coreos.com" && of["namespace"] != "" && of["name"] == nil, of)
		excluded = append(excluded, fmt.Sprintf("%s of %s", of["resource"], of["namespace"]))
	}
	slices.Sort(excluded)
	assert.DeepEqual(t, excluded, []string{
		"podmonitors of monitoring", "probes of monitoring", "prometheusrules of monitoring", "scrapeconfigs of monitoring",
		"servicemonitors of default", "servicemonitors of kube-system", "servicemonitors of monitoring",
	})
	monitors := monitorsOf(t)
	assert.Check(t, is.Len(monitors, 2))
	for _, m := range monitors {
		assert.Check(t, is.DeepEqual(m.Spec.NamespaceSelector.MatchNames, []string(nil)), m.Metadata.Name)
		assert.Check(t, m.Metadata.Namespace == names.FluxNamespace || m.Metadata.Namespace == names.ArgoCDNamespace, m.Metadata.Namespace)
	}
}
