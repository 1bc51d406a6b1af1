package standin

import (
	"context"
	"crypto"
	"strings"
)

// Clusters runs the control planes that a cloud's managed clusters stand for.
// Its methods are safe for concurrent use.
type Clusters interface {
	// Start runs a control plane until it serves, or finds it running already.
	Start(ctx context.Context, spec ClusterSpec) (ClusterInfo, error)
	// Stop ends a control plane and deletes its data. Stopping one that does
	// not exist is no error.
	Stop(ctx context.Context, name string) error
	// SetNodes makes the nodes of a node group exactly these.
	SetNodes(ctx context.Context, cluster, group string, nodes []Node) error
	// TokenKey is the public key for the tokens of a cluster's service accounts.
	TokenKey(cluster string) (crypto.PublicKey, error)
}

// ClusterSpec describes a control plane.
type ClusterSpec struct {
	// Name of the cluster, and its ID in the cloud, such as an ARN.
	Name, ID string
	// Version of Kubernetes, major.minor.
	Version string
	// Region of the cluster, such as eu-central-1.
	Region string
	// ServiceCIDR is the block of the cluster's services, such as 172.20.0.0/16.
	ServiceCIDR string
	// Private says that its API has no public endpoint.
	Private bool
	// Issuer of the cluster's service account tokens, an https URL.
	Issuer string
	// Tenant is the one of Entra whose tokens an AKS cluster takes; "" for a cluster of
	// another cloud.
	Tenant string
	// AdminGroups are the groups of the tenant, by object id, that are the admins of an AKS
	// cluster.
	AdminGroups []string
}

// ClusterInfo says how a running control plane is reached.
type ClusterInfo struct {
	// Endpoint is the URL of the Kubernetes API.
	Endpoint string `json:"endpoint"`
	// CA is the certificate authority of the API, in PEM.
	CA []byte `json:"ca"`
}

// Node is a Kubernetes node of a node group.
type Node struct {
	// Name of the node: the private DNS name of its machine.
	Name string `json:"name"`
	// Labels as the cloud and the kubelet set them, and the group's own.
	Labels map[string]string `json:"labels"`
	// Taints of the group.
	Taints []Taint `json:"taints,omitempty"`
	// InstanceType of the machine, such as m7i.large.
	InstanceType string `json:"instanceType"`
	// Zone is the availability zone.
	Zone string `json:"zone"`
	// ProviderID of the machine, such as aws:///<zone>/<instance id>.
	ProviderID string `json:"providerId"`
	// Version of Kubernetes, that of the node's group: major.minor, such as 1.34, and with
	// the patch where the cloud names it, such as 1.34.2 on Azure.
	// Empty only in what a lab from before this field has recorded.
	Version string `json:"version,omitempty"`
	// Pods is the largest number of pods on the node; 0 for as many as there are.
	Pods int `json:"pods,omitempty"`
}

// KubeletVersion is what the kubelet of a node reports of a minor version of
// Kubernetes, such as v1.34.0-eks-0000000 for 1.34. EKS's own versions have this
// shape, such as v1.34.1-eks-113cf36; the zeros stand for a build that there is not.
// A version with its patch is as the kubelets of AKS have it, v1.34.2 for 1.34.2.
// It is empty for no version. Source:
// https://docs.aws.amazon.com/eks/latest/userguide/update-managed-node-group.html
func KubeletVersion(version string) string {
	switch strings.Count(version, ".") {
	case 0:
		return ""
	case 1:
		return "v" + version + ".0-eks-0000000"
	}
	return "v" + version
}

// Taint of a node. Effect is spelled as Kubernetes does: NoSchedule,
// PreferNoSchedule or NoExecute.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}
