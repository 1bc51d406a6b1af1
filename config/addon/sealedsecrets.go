package addon

var _ = register(Addon{
	Name:            "sealed-secrets",
	Summary:         "Opens secrets that are kept in Git, sealed for the cluster's key.",
	Namespace:       "sealed-secrets",
	NamespaceLabels: podSecurity("restricted"),
	// Every later stage may need a Secret that it opens.
	Stage: Definitions,
}, definition[none]{})
