package addon

// IngressOptions are the options of ingress-nginx.
type IngressOptions struct {
	// Certificate has the load balancer end TLS with the certificate of the addon
	// certificate. Then it takes nothing without TLS. Default false: Ingresses bring their
	// own certificates.
	Certificate bool `yaml:"certificate,omitempty"`
}

// ingress-nginx gets its network load balancer from the controller.
//
// Kubernetes retired the project in March 2026: it is here for what uses
// Ingress still.
var _ = register(Addon{
	Name:            "ingress-nginx",
	Summary:         "Routes incoming traffic by Ingress. Its project has retired it: use istio on new platforms.",
	Namespace:       "ingress-nginx",
	NamespaceLabels: podSecurity("baseline"),
	Stage:           Others,
	NotOn: notOnAzure("needs the addon aws-load-balancer-controller, which is for AWS",
		"remove it, and bring an ingress controller by the platform tree: AKS makes its load balancer"),
	Requires: []string{"aws-load-balancer-controller"},
}, definition[IngressOptions]{
	Values: func(in Input[IngressOptions], out Outputs) map[string]any {
		if !in.Options.Certificate {
			return map[string]any{}
		}
		return map[string]any{"controller": map[string]any{"service": map[string]any{
			"enableHttp":  false,
			"targetPorts": map[string]any{"https": "http"}, // what is left of HTTPS behind the load balancer
			"annotations": map[string]any{
				"service.beta.kubernetes.io/aws-load-balancer-ssl-ports": "443",
				"service.beta.kubernetes.io/aws-load-balancer-ssl-cert":  out.Certificate,
			},
		}}}
	},
	Check: func(o IngressOptions, all Selection) []Problem {
		if !o.Certificate || all["certificate"] != nil {
			return nil
		}
		return []Problem{{Path: "certificate", Message: "there is no certificate", Remedy: "turn the addon certificate on, or remove it"}}
	},
})
