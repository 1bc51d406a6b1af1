package addon

import (
	"fmt"
	"regexp"
	"slices"

	"tombolo/config/field"
	"tombolo/config/strict"
	"tombolo/internal/names"
)

// PrometheusOptions are the options of kube-prometheus-stack.
type PrometheusOptions struct {
	// RetentionDays is how long metrics are kept, in days. Default 15.
	RetentionDays int `yaml:"retentionDays,omitempty"`
	// Storage is the size of the volume for metrics, which the addon
	// aws-ebs-csi-driver makes. Without that addon there is no volume, and
	// metrics last as long as the pod. Default 50Gi.
	Storage string `yaml:"storage,omitempty"`
	// Host under which people reach Grafana: by istio's Gateway, or else by an Ingress of
	// ingress-nginx. Default: none; then only kubectl port-forward reaches it.
	Host string `yaml:"host,omitempty"`
}

var prometheusOptionsFields = field.Of[PrometheusOptions](map[string]field.Descriptor{
	"RetentionDays": {Rule: strict.Rule{Least: new(1), Default: 15}, Change: field.Changes("the engine follows the values; a shorter one deletes older metrics")},
	"Storage": {
		Rule:   strict.Rule{What: "a size in Gi or Ti", Example: "50Gi", Pattern: regexp.MustCompile(`^[1-9][0-9]{0,4}[GT]i$`), Default: "50Gi"},
		Change: field.Changes("the engine follows the values; a claim that exists keeps its size"),
	},
	"Host": {Rule: hosts, Change: field.Changes("the engine follows the values: the route or Ingress has the other name, and external-dns makes its record")},
})

var _ = register(Addon{
	Name:            "kube-prometheus-stack",
	Summary:         "Monitors the cluster with Prometheus, Alertmanager and Grafana.",
	Namespace:       monitoring,
	NamespaceLabels: monitoringLabels(),
	Stage:           Others,
}, definition[PrometheusOptions]{
	Fields: prometheusOptionsFields,
	Values: func(in Input[PrometheusOptions], _ Outputs) map[string]any {
		spec := map[string]any{
			// They say where alerts, and metrics sent elsewhere, come from.
			"externalLabels": clusterLabels(in.Facts),
			"retention":      fmt.Sprintf("%dd", in.Options.RetentionDays),
		}
		if slices.Contains(in.Enabled, "aws-ebs-csi-driver") {
			spec["storageSpec"] = volumeClaim(in.Options.Storage)
		}
		values := map[string]any{"prometheus": map[string]any{"prometheusSpec": spec}}
		if g := grafana(in); len(g) > 0 {
			values["grafana"] = g
		}
		if in.Channel != "" {
			values["alertmanager"] = alertmanagerValues(in.Channel)
		}
		return values
	},
	Check: func(o PrometheusOptions, all Selection) []Problem {
		return checkHost("kube-prometheus-stack", o.Host, true, all)
	},
})

// alertmanagerURL is where Alertmanager takes alerts: the chart names its Service after the
// release. Source: templates/alertmanager/service.yaml and _helpers.tpl of the chart 88.2.0.
const alertmanagerURL = "http://kube-prometheus-stack-alertmanager." + monitoring + ".svc.cluster.local:9093"

// grafana is what the chart is told about Grafana.
func grafana(in Input[PrometheusOptions]) map[string]any {
	values, host := map[string]any{}, in.Options.Host
	if slices.Contains(in.Enabled, "loki") {
		values["additionalDataSources"] = []any{
			map[string]any{"name": "Loki", "type": "loki", "access": "proxy", "url": lokiURL},
		}
	}
	if host == "" {
		return values
	}
	values["grafana.ini"] = map[string]any{"server": map[string]any{"root_url": "https://" + host}}
	if in.routed(host) {
		values["route"] = map[string]any{"main": map[string]any{
			"enabled": true, "hostnames": []any{host}, "parentRefs": gatewayRefs(), "filters": overHTTPS(),
		}}
	} else {
		values["ingress"] = map[string]any{"enabled": true, "ingressClassName": "nginx", "hosts": []any{host}}
	}
	return values
}

// alertmanagerValues have Alertmanager write to the platform's channel. Of its address they
// have the file that the operator mounts the Secret as, which is no secret:
// https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.AlertmanagerSpec
func alertmanagerValues(channel string) map[string]any {
	const address = "/etc/alertmanager/secrets/" + names.ChannelSecret + "/" + names.ChannelAddress
	receiver := map[string]any{"name": "channel"}
	switch channel { // https://prometheus.io/docs/alerting/latest/configuration/
	case "slack":
		receiver["slack_configs"] = []any{map[string]any{"api_url_file": address, "send_resolved": true}}
	case "msteams":
		receiver["msteamsv2_configs"] = []any{map[string]any{"webhook_url_file": address, "send_resolved": true}}
	default:
		receiver["webhook_configs"] = []any{map[string]any{"url_file": address, "send_resolved": true}}
	}
	return map[string]any{
		"alertmanagerSpec": map[string]any{"secrets": []any{names.ChannelSecret}},
		"config": map[string]any{
			"route": map[string]any{
				"receiver": "channel",
				"group_by": []any{"alertname", "namespace"},
				"routes": []any{
					// They fire as long as all is well, or to hold others back.
					map[string]any{"receiver": "null", "matchers": []any{`alertname=~"Watchdog|InfoInhibitor"`}},
				},
			},
			"receivers": []any{map[string]any{"name": "null"}, receiver},
		},
	}
}

// clusterLabels distinguish the data of several clusters in one place.
func clusterLabels(f Facts) map[string]any {
	return map[string]any{"cluster": f.Cluster, "environment": f.Environment, "region": f.Region}
}

// volumeClaim asks for a volume of the StorageClass of aws-ebs-csi-driver.
func volumeClaim(size string) map[string]any {
	return map[string]any{"volumeClaimTemplate": map[string]any{"spec": map[string]any{
		"storageClassName": "gp3",
		"accessModes":      []any{"ReadWriteOnce"},
		"resources":        map[string]any{"requests": map[string]any{"storage": size}},
	}}}
}
