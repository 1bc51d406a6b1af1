package eks

import (
	"tombolo/lab/standin"
)

// The types of clusters and of their node groups.
const (
	ClusterType   = "aws:eks/cluster:Cluster"
	NodeGroupType = "aws:eks/nodeGroup:NodeGroup"
)

// KubernetesVersions that EKS offers, oldest first, in November 2026. Source:
// https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html; of 1.36 see
// the calendar in config/awsfacts.
var KubernetesVersions = []string{"1.31", "1.32", "1.33", "1.34", "1.35", "1.36"}

// newest version that the lab's control plane can serve, and that a cluster without a
// version has: controlplane.Version.
const newest = "1.36"

func missingCluster() standin.Refusal {
	return standin.Refusal{Code: "ResourceNotFoundException", Status: 404, Message: "No cluster found for name: %s."}
}

func toCluster(cascade bool) standin.Reference {
	return standin.Reference{Path: []string{"clusterName"}, To: ClusterType, Missing: missingCluster(), Cascade: cascade}
}

// activeCluster finds the cluster that a resource is in; EKS adds nothing to a
// cluster that is being made or deleted.
func activeCluster(c *standin.Call) (*standin.Record, error) {
	cluster := c.Find(ClusterType, c.In().Str("clusterName"))
	if cluster.Status == standin.StatusCreating || cluster.Status == standin.StatusDeleting {
		return nil, c.Refusef("InvalidRequestException", "Cluster '%s' is not in ACTIVE status", cluster.ID)
	}
	return cluster, nil
}

// Issuer of a cluster's service account tokens.
func Issuer(r *standin.Record) string {
	for _, identity := range r.Outputs.Objects("identities") {
		for _, oidc := range identity.Objects("oidcs") {
			return oidc.Str("issuer")
		}
	}
	return ""
}

// ClusterNamed is the cluster of a name, in any region, or nil.
func ClusterNamed(c *standin.Cloud, name string) *standin.Record {
	for _, r := range c.Snapshot(ClusterType) {
		if r.Outputs.Str("name") == name {
			return r
		}
	}
	return nil
}
