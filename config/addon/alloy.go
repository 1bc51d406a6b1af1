package addon

var _ = register(Addon{
	Name:            "alloy",
	Summary:         "Sends the logs of all pods to Loki, of this cluster or elsewhere.",
	Namespace:       monitoring,
	NamespaceLabels: monitoringLabels(),
	Stage:           Others,
}, definition[none]{
	Values: func(in Input[none], _ Outputs) map[string]any { return logLabels(in.Facts) },
	Check: func(_ none, all Selection) []Problem {
		if _, on := all["loki"]; on {
			return nil
		}
		return []Problem{{
			Warning: true,
			Message: "sends logs to the addon loki, which is off, unless the tree names another Loki",
			Remedy:  "turn loki on, or set global.loki.url in the tree",
		}}
	},
})

// logLabels are the labels of a cluster's logs. The charts of Alloy and Promtail
// have no place of their own for them, and pass their configuration, which is in
// the tree, through tpl with all values. So it reads them from global, which is
// there for any. Where logs go is no more of the infrastructure than the rest of
// that configuration: it is in the tree.
func logLabels(f Facts) map[string]any {
	return map[string]any{"global": map[string]any{"loki": map[string]any{"labels": clusterLabels(f)}}}
}
