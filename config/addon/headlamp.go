package addon

var _ = register(definition[none]{
	Name:            "headlamp",
	Summary:         "Shows the cluster in the browser.",
	Namespace:       "headlamp",
	NamespaceLabels: podSecurity("baseline"),
	Stage:           Others,
})
