package addon

var _ = register(Addon{
	Name:            "event-exporter",
	Summary:         "Logs the cluster's events, which Kubernetes deletes after an hour.",
	Namespace:       monitoring,
	NamespaceLabels: monitoringLabels(),
	Stage:           Others,
}, definition[none]{})
