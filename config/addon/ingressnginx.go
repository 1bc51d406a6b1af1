package addon

import "tombolo/config/field"

// IngressOptions are the options of ingress-nginx.
type IngressOptions struct {
	// Certificate has the load balancer end TLS with the certificate of the addon
	// certificate. Then it takes nothing without TLS. Default false: Ingresses bring their
	// own certificates.
	Certificate bool `yaml:"certificate,omitempty" cloud:"aws"`
}

var ingressOptionsFields = field.Of[IngressOptions](map[string]field.Descriptor{
	"Certificate": {
		Change: field.Changes("the engine follows the values: the load balancer's listeners change in place, and requests without TLS are refused or taken again"),
		Remedy: "remove it: Ingresses name certificates that cert-manager makes",
	},
})

// ingress-nginx gets its network load balancer from the controller, on Azure from AKS.
//
// Kubernetes retired the project in March 2026: it is here for what uses
// Ingress still.
var _ = register(Addon{
	Name:            "ingress-nginx",
	Summary:         "Routes incoming traffic by Ingress. Its project has retired it: use istio on new platforms.",
	Namespace:       "ingress-nginx",
	NamespaceLabels: podSecurity("baseline"),
	Stage:           Others,
	RequiresOn:      map[string][]string{AWS: {"aws-load-balancer-controller"}, Azure: {"cert-manager"}},
}, definition[IngressOptions]{
	Fields: ingressOptionsFields,
	Values: func(in Input[IngressOptions], out Outputs) map[string]any {
		service := map[string]any{"annotations": in.publicBalancer("/healthz")}
		switch {
		case in.onAzure():
			// A request keeps its sender's address, and goes to nodes with a pod alone.
			service["externalTrafficPolicy"] = "Local"
		case in.Options.Certificate:
			service["enableHttp"] = false
			service["targetPorts"] = map[string]any{"https": "http"} // what is left of HTTPS behind the load balancer
			service["annotations"] = in.endingTLS(out.Certificate)
		}
		return map[string]any{"controller": map[string]any{"service": service}}
	},
	Check: func(o IngressOptions, all Selection) []Problem {
		if !o.Certificate || all["certificate"] != nil {
			return nil
		}
		return []Problem{{Path: "certificate", Message: "there is no certificate", Remedy: "turn the addon certificate on, or remove it"}}
	},
})
