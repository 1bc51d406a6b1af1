package addon

var _ = register(Addon{
	Name:            "reloader",
	Summary:         "Restarts workloads whose ConfigMaps or Secrets have changed.",
	Namespace:       "reloader",
	NamespaceLabels: podSecurity("baseline"),
	Stage:           Others,
}, definition[none]{})
