package contract

import (
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/config/addon"
	"tombolo/internal/names"
	"tombolo/platform/contract/manifest"
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
	text, err := os.ReadFile("../flux/channel/notifications.yaml")
	assert.NilError(t, err)
	_, second, _ := strings.Cut(string(text), "\n---\n")
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
		if _, err := os.Stat("../flux/addons/" + a.Name); err == nil {
			want = append(want, a.Namespace)
		}
	}
	slices.Sort(want)
	assert.DeepEqual(t, got, slices.Compact(want))
}
