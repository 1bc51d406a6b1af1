package addon

// ingress-nginx gets its network load balancer from the controller. It needs
// nothing else from the cloud: Ingresses bring their own certificates.
//
// Kubernetes retired the project in March 2026: it is here for what uses
// Ingress still.
var _ = register(Addon{
	Name:            "ingress-nginx",
	Summary:         "Routes incoming traffic by Ingress. Its project has retired it: use istio on new platforms.",
	Namespace:       "ingress-nginx",
	NamespaceLabels: podSecurity("baseline"),
	Stage:           Others,
	Requires:        []string{"aws-load-balancer-controller"},
}, definition[none]{})
