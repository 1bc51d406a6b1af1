package addon

var _ = register(Addon{
	Name:            "headlamp",
	Summary:         "Shows the cluster in a browser.",
	Namespace:       "headlamp",
	NamespaceLabels: podSecurity("baseline"),
	Stage:           Others,
}, definition[none]{})
