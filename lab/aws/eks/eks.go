// Package eks is Elastic Kubernetes Service in the stand-in. Its clusters are
// real control planes.
package eks

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/standin"
)

// Types are clusters, their nodes and addons, and the access to them.
func Types() map[string]*standin.Type {
	types := eksClusterTypes()
	maps.Copy(types, eksNodeTypes())
	maps.Copy(types, eksAddonTypes())
	maps.Copy(types, eksAccessTypes())
	maps.Copy(types, eksIdentityProviderTypes())
	return types
}

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

// ClusterQuota is the default quota of clusters in a region:
// https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html
const ClusterQuota = 100

// Functions look up clusters, node groups and addons.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:eks/getCluster:getCluster":                 {SDK: eks.LookupCluster, Run: getCluster},
		"aws:eks/getNodeGroup:getNodeGroup":             {SDK: eks.LookupNodeGroup, Run: getNodeGroup},
		"aws:eks/getNodeGroups:getNodeGroups":           {SDK: eks.GetNodeGroups, Run: getNodeGroups},
		"aws:eks/getAddon:getAddon":                     {SDK: eks.LookupAddon, Run: getAddon},
		"aws:eks/getAddonVersion:getAddonVersion":       {SDK: eks.GetAddonVersion, Run: getAddonVersion},
		"aws:eks/getClusterVersions:getClusterVersions": {SDK: eks.GetClusterVersions, Run: getClusterVersions},
		"aws:eks/getClusters:getClusters":               {SDK: eks.GetClusters, Run: ec2.ListIDs(ClusterType, "names")},
	}
}

// getClusterVersions lists what CreateCluster takes.
func getClusterVersions(q *standin.Query) (standin.Props, error) {
	if len(q.Args) > 0 {
		return nil, fmt.Errorf("the AWS stand-in filters no cluster versions by %v", standin.SortedKeys(q.Args))
	}
	all := []any{}
	for _, v := range KubernetesVersions {
		all = append(all, map[string]any{"clusterVersion": v, "clusterType": "eks", "defaultVersion": v == newest})
	}
	return standin.Props{"id": q.Region, "clusterVersions": all}, nil
}

func getCluster(q *standin.Query) (standin.Props, error) {
	name := q.Args.Str("name")
	r := q.Find(ClusterType, name)
	if r == nil {
		return nil, fmt.Errorf("reading EKS Cluster (%s): couldn't find resource", name)
	}
	out := standin.WithID(r)
	return standin.Merged(out, standin.Props{
		"accessConfigs":            []any{out["accessConfig"]},
		"kubernetesNetworkConfigs": []any{out["kubernetesNetworkConfig"]},
		"upgradePolicies":          []any{out["upgradePolicy"]},
	}), nil
}

func getNodeGroup(q *standin.Query) (standin.Props, error) {
	id := q.Args.Str("clusterName") + ":" + q.Args.Str("nodeGroupName")
	r := q.Find(NodeGroupType, id)
	if r == nil {
		return nil, fmt.Errorf("reading EKS Node Group (%s): couldn't find resource", id)
	}
	out := standin.WithID(r)
	return standin.Merged(out, standin.Props{"scalingConfigs": []any{out["scalingConfig"]}, "remoteAccesses": []any{}, "launchTemplates": []any{}}), nil
}

// getNodeGroups fails without the cluster, as ListNodegroups does.
func getNodeGroups(q *standin.Query) (standin.Props, error) {
	cluster := q.Args.Str("clusterName")
	if q.Find(ClusterType, cluster) == nil {
		return nil, fmt.Errorf("listing EKS Node Groups (%s): ResourceNotFoundException: No cluster found for name: %s", cluster, cluster)
	}
	names := []any{}
	for r := range q.Cloud.Each(NodeGroupType, q.Region) {
		if r.Inputs.Str("clusterName") == cluster {
			names = append(names, r.Outputs.Str("nodeGroupName"))
		}
	}
	return standin.Props{"id": cluster, "clusterName": cluster, "names": names}, nil
}

// getAddon reads an addon as DescribeAddon does. internal/service/eks/addon_data_source.go
func getAddon(q *standin.Query) (standin.Props, error) {
	id := q.Args.Str("clusterName") + ":" + q.Args.Str("addonName")
	r := q.Find(AddonType, id)
	if r == nil {
		return nil, fmt.Errorf("reading EKS Add-On (%s): couldn't find resource", id)
	}
	return standin.WithID(r), nil
}

// getAddonVersion is by DescribeAddonVersions: the default version, or the newest one.
func getAddonVersion(q *standin.Query) (standin.Props, error) {
	name, kubernetes := q.Args.Str("addonName"), q.Args.Str("kubernetesVersion")
	versions := addonVersions(name, kubernetes)
	if len(versions) == 0 || !slices.Contains(KubernetesVersions, kubernetes) {
		return nil, fmt.Errorf("reading EKS Add-On version info (%s, %s): empty result", name, kubernetes)
	}
	version := defaultVersion(name, kubernetes)
	if q.Args.Boolean("mostRecent") {
		version = versions[0]
	}
	return standin.Props{"id": name, "version": version}, nil
}

// Interfaces are those by which a control plane reaches the nodes.
// Source: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
func Interfaces(c *standin.Call) (all []*standin.Record) {
	for cluster := range c.Cloud.Each(ClusterType, c.Region) {
		config := cluster.Outputs.Sub("vpcConfig")
		groups := append(standin.Values(config.List("securityGroupIds")...), config.Str("clusterSecurityGroupId"))
		for _, id := range config.List("subnetIds") {
			all = append(all, ec2.Implied(c, cluster, ec2.ImpliedInterface{
				ID: ec2.DerivedID(cluster.ID, id), Kind: "interface", Description: "Amazon EKS " + cluster.ID,
				Subnet: c.Find(ec2.SubnetType, id), Groups: groups,
			}))
		}
	}
	return all
}
