package addon

import "maps"

// gatewaySecret is the Secret beside istio's Gateway with its certificate, on Azure, where the
// Gateway ends TLS.
const gatewaySecret = "public-tls"

// istio's Gateway gets its network load balancer from the controller, and its
// TLS certificate from ACM. On Azure AKS makes the load balancer, which ends no TLS.
var _ = register(Addon{
	Name:            "istio",
	Summary:         "Routes incoming traffic by the Gateway API, and secures traffic between pods of the mesh.",
	Namespace:       "istio-system",
	NamespaceLabels: podSecurity("baseline"),
	Stage:           Others,
	RequiresOn: map[string][]string{
		AWS:   {"aws-load-balancer-controller", "certificate"},
		Azure: {"cert-manager"},
	},
}, definition[none]{
	Keys: []key[none]{
		{
			"gateway_annotations", "Annotations of the Service of istio's Gateway, as JSON.",
			`{"service.beta.kubernetes.io/aws-load-balancer-type":"external"}`,
			func(in Input[none], out Outputs) string { return inJSON(in.gatewayAnnotations(out.Certificate)) },
		},
		{
			"gateway_listener", "The listener https of istio's Gateway, as JSON. On Azure it has the certificate of the Secret " + gatewaySecret + ".",
			`{"allowedRoutes":{"namespaces":{"from":"All"}},"name":"https","port":443,"protocol":"HTTP"}`,
			func(in Input[none], _ Outputs) string { return inJSON(in.gatewayListener()) },
		},
	},
	Values: func(in Input[none], _ Outputs) map[string]any {
		return map[string]any{
			// Telemetry and a later mesh of several clusters know it by this name.
			"global": map[string]any{"multiCluster": map[string]any{"clusterName": in.Cluster}},
		}
	},
})

// gatewayAnnotations have AKS ask the port of the pods' state, 15021, as it would take the
// redirect from port 80, and what is not TLS at port 443, for an error:
// https://github.com/istio/istio/issues/46769, and "Custom Load Balancer health probe" in
// https://kubernetes-sigs.github.io/cloud-provider-azure/topics/loadbalancer/
func (f Facts) gatewayAnnotations(certificate string) map[string]any {
	if !f.onAzure() {
		return f.endingTLS(certificate)
	}
	annotations := f.publicBalancer("/healthz/ready")
	for _, port := range []string{"80", "443"} {
		probe := "service.beta.kubernetes.io/port_" + port + "_health-probe_"
		maps.Copy(annotations, map[string]any{probe + "port": "15021", probe + "protocol": "http"})
	}
	return annotations
}

// gatewayListener takes requests for the HTTPRoutes of any namespace.
func (f Facts) gatewayListener() map[string]any {
	listener := map[string]any{
		"name": "https", "port": 443, "protocol": "HTTP", // what is left of HTTPS behind the load balancer
		"allowedRoutes": map[string]any{"namespaces": map[string]any{"from": "All"}},
	}
	if f.onAzure() {
		listener["protocol"] = "HTTPS"
		listener["tls"] = map[string]any{"mode": "Terminate", "certificateRefs": []any{map[string]any{"name": gatewaySecret}}}
	}
	return listener
}
