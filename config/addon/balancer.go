package addon

// publicBalancer are the annotations of a Service whose load balancer takes requests from the
// internet: on AWS a network load balancer of AWS Load Balancer Controller.
//
// On Azure AKS makes a public one. It asks ports whose appProtocol is http or https for a
// path, by default /, and takes a node out that answers with an error, so probe is a path that
// answers always. With externalTrafficPolicy Local it asks kube-proxy in its place. Source:
// https://kubernetes-sigs.github.io/cloud-provider-azure/topics/loadbalancer/ and
// pkg/provider/azure_loadbalancer_healthprobe.go of
// https://github.com/kubernetes-sigs/cloud-provider-azure
func (f Facts) publicBalancer(probe string) map[string]any {
	if f.onAzure() {
		return map[string]any{"service.beta.kubernetes.io/azure-load-balancer-health-probe-request-path": probe}
	}
	return map[string]any{
		"service.beta.kubernetes.io/aws-load-balancer-type":            "external",
		"service.beta.kubernetes.io/aws-load-balancer-scheme":          "internet-facing",
		"service.beta.kubernetes.io/aws-load-balancer-nlb-target-type": "ip",
	}
}

// endingTLS are those of a load balancer of AWS that ends TLS with a certificate of ACM.
func (f Facts) endingTLS(certificate string) map[string]any {
	annotations := f.publicBalancer("")
	annotations["service.beta.kubernetes.io/aws-load-balancer-ssl-ports"] = "443"
	annotations["service.beta.kubernetes.io/aws-load-balancer-ssl-cert"] = certificate
	return annotations
}
