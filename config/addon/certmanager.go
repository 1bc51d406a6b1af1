package addon

var _ = register(Addon{
	Name:            "cert-manager",
	Summary:         "Makes and renews certificates inside the cluster, and spreads the authorities that its pods trust.",
	Namespace:       "cert-manager",
	NamespaceLabels: podSecurity("restricted"),
	// Every later stage may have Certificates.
	Stage: Definitions,
}, definition[none]{})
