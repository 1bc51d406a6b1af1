package aws

import (
	"tombolo/components/eks"
	"tombolo/config"
)

// key is a key of the control plane that is one argument as it is, and that a resource tells back:
// both directions stand in one place.
type key struct {
	// field of the key, such as "Kubernetes.Logs".
	field string
	// give it to the component, and read it from what lives.
	give func(config.Kubernetes, *eks.ClusterArgs)
	read func(*reader, *config.Kubernetes)
}

// keys are all such keys.
func keys() []key {
	return []key{
		{
			"Kubernetes.Logs", func(k config.Kubernetes, a *eks.ClusterArgs) { a.LogTypes = k.Logs },
			func(r *reader, k *config.Kubernetes) { k.Logs = r.cluster.Texts("enabledClusterLogTypes") },
		},
		{
			"Kubernetes.LogRetentionDays", func(k config.Kubernetes, a *eks.ClusterArgs) { a.LogRetentionDays = k.LogRetentionDays },
			func(r *reader, k *config.Kubernetes) {
				k.LogRetentionDays = r.made(logGroupToken, "logs").Number("retentionInDays")
			},
		},
		{
			"Kubernetes.LogKeyARN", func(k config.Kubernetes, a *eks.ClusterArgs) { a.LogKeyARN = k.LogKeyARN },
			func(r *reader, k *config.Kubernetes) { k.LogKeyARN = r.made(logGroupToken, "logs").Text("kmsKeyId") },
		},
		{
			"Endpoint.Public", func(k config.Kubernetes, a *eks.ClusterArgs) { a.PublicEndpoint = k.Endpoint.Public },
			func(r *reader, k *config.Kubernetes) {
				k.Endpoint.Public = r.cluster.In("vpcConfig").Truth("endpointPublicAccess")
			},
		},
	}
}
