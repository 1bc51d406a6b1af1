package addon

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
	Values: func(in Input[none], _ Outputs) map[string]any { return logLabels(in.Facts) },
})
