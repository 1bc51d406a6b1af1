package addon

var _ = register(Addon{
	Name:            "alloy",
	Summary:         "Sends the logs of all pods to Loki.",
	Namespace:       monitoring,
	NamespaceLabels: monitoringLabels(),
	Stage:           Others,
	Requires:        []string{"loki"},
}, definition[none]{
	// The chart passes its configuration, which is in the tree, through tpl with all
	// values. Its own values have no place for ours; global is there for any.
	Values: func(in Input[none], _ Outputs) map[string]any {
		return map[string]any{"global": map[string]any{"loki": map[string]any{
			"url": lokiPush, "labels": clusterLabels(in.Facts),
		}}}
	},
})
