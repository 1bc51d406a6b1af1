package addon

// istio's Gateway gets its network load balancer from the controller, and its
// TLS certificate from ACM.
var _ = register(Addon{
	Name:            "istio",
	Summary:         "Routes incoming traffic by the Gateway API, and secures traffic between pods of the mesh.",
	Namespace:       "istio-system",
	NamespaceLabels: podSecurity("baseline"),
	Stage:           Others,
	NotOn: notOnAzure("needs the addons aws-load-balancer-controller and certificate, which are for AWS",
		"remove it, and bring it by the platform tree: AKS makes its load balancer"),
	Requires: []string{"aws-load-balancer-controller", "certificate"},
}, definition[none]{
	Values: func(in Input[none], _ Outputs) map[string]any {
		return map[string]any{
			// Telemetry and a later mesh of several clusters know it by this name.
			"global": map[string]any{"multiCluster": map[string]any{"clusterName": in.Cluster}},
		}
	},
})
