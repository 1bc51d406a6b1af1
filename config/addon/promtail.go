package addon

// lokiPush is where the addon loki takes logs.
const lokiPush = lokiURL + "/loki/api/v1/push"

// lokiURL is where the addon loki takes logs and answers queries.
const lokiURL = "http://loki-gateway.loki.svc.cluster.local"

var _ = register(Addon{
	Name:            "promtail",
	Summary:         "Sends the logs of all pods to Loki; has ended, alloy follows it.",
	Namespace:       monitoring,
	NamespaceLabels: monitoringLabels(),
	Stage:           Others,
	Requires:        []string{"loki"},
	// https://grafana.com/docs/loki/latest/send-data/promtail
	Ended: &End{Date: "2026-03-02", Successor: "alloy"},
}, definition[none]{
	Values: func(in Input[none], _ Outputs) map[string]any {
		return map[string]any{"config": map[string]any{"clients": []any{map[string]any{
			"url":             lokiPush,
			"external_labels": clusterLabels(in.Facts),
		}}}}
	},
})
