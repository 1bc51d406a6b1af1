package addon

// Request is what the pods of a controller ask of the nodes.
type Request struct {
	// Pods of it; on every node when Nodes is true.
	Pods  int
	Nodes bool
	// CPU of each in mCPU, and Memory in MiB.
	CPU, Memory int
	// Apart says that no two of them may be on one node.
	Apart bool
}

// requests of the reference trees, by the addon: of those whose stage is not after Karpenter's. The
// numbers of pods, and what Karpenter asks for, are the trees' own, and a test holds them together. The
// charts of the others ask for nothing: deploy/charts of https://github.com/cert-manager/cert-manager
// v1.21.1 and https://github.com/cert-manager/trust-manager v0.24.0, helm/sealed-secrets of
// https://github.com/bitnami-labs/sealed-secrets. Karpenter's affinity is in charts/karpenter/values.yaml
// of https://github.com/aws/karpenter-provider-aws.
var requests = map[string][]Request{
	"cert-manager":   {{Pods: 2}, {Pods: 3}, {Pods: 2}, {Pods: 2}}, // controller, webhook, cainjector, trust-manager
	"karpenter":      {{Pods: 2, CPU: 250, Memory: 512, Apart: true}},
	"sealed-secrets": {{Pods: 1}},
}

// underneath is what runs before any addon: the DaemonSets of EKS (kube-proxy; aws-node with its
// agent of network policies; eks-pod-identity-agent), CoreDNS, and the engine. Sources:
// config/master/aws-k8s-cni.yaml of https://github.com/aws/amazon-vpc-cni-k8s;
// charts/eks-pod-identity-agent of https://github.com/aws/eks-pod-identity-agent; what EKS 1.35 runs,
// by kubectl; config/manager/deployment.yaml of Flux's controllers; Argo CD's manifests/install.yaml, of
// which a spoke has nothing.
var underneath = map[string][]Request{
	"":       {{Pods: 1, Nodes: true, CPU: 100}, {Pods: 1, Nodes: true, CPU: 50}, {Pods: 1, Nodes: true}, {Pods: 2, CPU: 100, Memory: 70}},
	"flux":   {{Pods: 1, CPU: 50, Memory: 64}, {Pods: 3, CPU: 100, Memory: 64}},
	"argocd": {{Pods: 7}},
}

// BeforeKarpenter is what runs before Karpenter makes a node, and Karpenter itself, of the addons that
// are on. engine is flux, argocd, or "" for a spoke.
func (s Selection) BeforeKarpenter(engine string) []Request {
	out := append([]Request(nil), underneath[""]...)
	if engine != "" {
		out = append(out, underneath[engine]...)
	}
	for _, a := range All() {
		if _, on := s[a.Name]; on {
			out = append(out, requests[a.Name]...)
		}
	}
	return out
}
