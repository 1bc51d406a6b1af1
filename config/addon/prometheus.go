package addon

import (
	"fmt"
	"regexp"
	"slices"

	"tombolo/config/strict"
)

// PrometheusOptions are the options of kube-prometheus-stack.
type PrometheusOptions struct {
	// RetentionDays is how long metrics are kept, in days. Default 15.
	RetentionDays int `yaml:"retentionDays,omitempty"`
	// Storage is the size of the volume for metrics, which the addon
	// aws-ebs-csi-driver makes. Without that addon there is no volume, and
	// metrics last as long as the pod. Default 50Gi.
	Storage string `yaml:"storage,omitempty"`
}

var _ = register(Addon{
	Name:            "kube-prometheus-stack",
	Summary:         "Monitors the cluster with Prometheus, Alertmanager and Grafana.",
	Namespace:       monitoring,
	NamespaceLabels: monitoringLabels(),
	Stage:           Others,
}, definition[PrometheusOptions]{
	Rules: map[string]strict.Rule{
		"PrometheusOptions.RetentionDays": {Least: new(1), Default: 15},
		"PrometheusOptions.Storage": {
			What: "a size in Gi or Ti", Example: "50Gi", Pattern: regexp.MustCompile(`^[1-9][0-9]{0,4}[GT]i$`), Default: "50Gi",
		},
	},
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
		if slices.Contains(in.Enabled, "loki") {
			values["grafana"] = map[string]any{"additionalDataSources": []any{
				map[string]any{"name": "Loki", "type": "loki", "access": "proxy", "url": lokiURL},
			}}
		}
		return values
	},
})

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
