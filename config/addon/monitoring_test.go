package addon

import (
	"maps"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestPrometheusFindsItsNeighbours gives Prometheus a volume, and Grafana the
// logs, only where another addon provides them.
func TestPrometheusFindsItsNeighbours(t *testing.T) {
	stack := Find("kube-prometheus-stack")
	options := &PrometheusOptions{}
	Selection{stack.Name: options}.SetDefaults()

	alone := stack.Values(facts(), options, Outputs{})
	spec := alone["prometheus"].(map[string]any)["prometheusSpec"].(map[string]any)
	assert.Check(t, spec["storageSpec"] == nil && alone["grafana"] == nil, "alone it has %v", alone)

	f := facts()
	f.Enabled = []string{"aws-ebs-csi-driver", "kube-prometheus-stack", "loki"}
	values := stack.Values(f, options, Outputs{})
	want := map[string]any{
		"prometheus": map[string]any{"prometheusSpec": map[string]any{
			"externalLabels": map[string]any{"cluster": "demo", "environment": "dev", "region": "eu-central-1"},
			"retention":      "15d",
			"storageSpec": map[string]any{"volumeClaimTemplate": map[string]any{"spec": map[string]any{
				"storageClassName": "gp3", "accessModes": []any{"ReadWriteOnce"},
				"resources": map[string]any{"requests": map[string]any{"storage": "50Gi"}},
			}}},
		}},
		"grafana": map[string]any{"additionalDataSources": []any{map[string]any{
			"name": "Loki", "type": "loki", "access": "proxy", "url": "http://loki-gateway.loki.svc.cluster.local",
		}}},
	}
	assert.Check(t, is.DeepEqual(values, want))
}

// TestAlertsNameTheirCluster: those that Prometheus sends, and those that Loki makes of events. Several clusters
// may have one channel.
func TestAlertsNameTheirCluster(t *testing.T) {
	of := map[string]any{"cluster": "demo", "environment": "dev", "region": "eu-central-1"}
	for name, at := range map[string][]string{
		"kube-prometheus-stack": {"prometheus", "prometheusSpec", "externalLabels"},
		"loki":                  {"loki", "rulerConfig", "external_labels"},
	} {
		options := Find(name).NewOptions()
		Selection{name: options}.SetDefaults()
		got, _, err := unstructured.NestedFieldNoCopy(Find(name).Values(facts(), options, Outputs{}), at...)
		assert.NilError(t, err)
		assert.DeepEqual(t, got, any(of))
	}
}

// TestNamespacesHaveOneLevel finds addons that would label the namespace that
// they share each in its own way.
func TestNamespacesHaveOneLevel(t *testing.T) {
	first := map[string]*Addon{}
	for _, a := range All() {
		other := first[a.Namespace]
		if other == nil {
			first[a.Namespace] = a
			continue
		}
		assert.Check(t, maps.Equal(a.NamespaceLabels, other.NamespaceLabels), "%s labels %s %v, %s %v", a.Name, a.Namespace, a.NamespaceLabels, other.Name, other.NamespaceLabels)
	}
}

// TestAlertmanagersConfiguration: the golden files are read by Alertmanager's own code, in
// tools/rules. The address of the channel is in none.
func TestAlertmanagersConfiguration(t *testing.T) {
	stack := Find("kube-prometheus-stack")
	options := &PrometheusOptions{}
	Selection{stack.Name: options}.SetDefaults()
	for _, channel := range []string{"slack", "msteams", "generic"} {
		f := facts()
		f.Channel = channel
		values := stack.Values(f, options, Outputs{})["alertmanager"].(map[string]any)
		goldenYAML(t, "alertmanager/"+channel+".yaml", values["config"])
		assert.DeepEqual(t, values["alertmanagerSpec"], map[string]any{"secrets": []any{"channel"}})
	}
	_, has := stack.Values(facts(), options, Outputs{})["alertmanager"]
	assert.Check(t, !has, "without a channel the chart's own configuration stays")
}
