package addon

// ingress-nginx gets its network load balancer from the controller. It needs
// nothing else from the cloud: Ingresses bring their own certificates.
//
// Kubernetes retired the project in March 2026: it is here for what uses
// Ingress still.
var _ = register(Addon{
	Name:            "ingress-nginx",
	Summary:         "Takes traffic in by Ingress; retired by its project, so new platforms take istio.",
	Namespace:       "ingress-nginx",
	NamespaceLabels: podSecurity("baseline"),
	Stage:           Others,
	Requires:        []string{"aws-load-balancer-controller"},
}, definition[none]{})
