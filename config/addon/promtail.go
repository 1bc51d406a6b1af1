package addon

// lokiURL is where the addon loki takes logs and answers queries.
const lokiURL = "http://loki-gateway.loki.svc.cluster.local"

var _ = register(Addon{
	Name:            "promtail",
	Summary:         "Sends the logs of all pods to Loki.",
	Namespace:       monitoring,
	NamespaceLabels: monitoringLabels(),
	Stage:           Others,
	Requires:        []string{"loki"},
}, definition[none]{
	Values: func(in Input[none], _ Outputs) map[string]any {
		return map[string]any{"config": map[string]any{"clients": []any{map[string]any{
			"url":             lokiURL + "/loki/api/v1/push",
			"external_labels": clusterLabels(in.Facts),
		}}}}
	},
})
