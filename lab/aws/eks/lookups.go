package eks

import (
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/standin"
)

// ClusterQuota is the default quota of clusters in a region:
// https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html
const ClusterQuota = 100

// Functions look up clusters, node groups and addons.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:eks/getCluster:getCluster":           {SDK: eks.LookupCluster, Run: getCluster},
		"aws:eks/getNodeGroup:getNodeGroup":       {SDK: eks.LookupNodeGroup, Run: getNodeGroup},
		"aws:eks/getNodeGroups:getNodeGroups":     {SDK: eks.GetNodeGroups, Run: getNodeGroups},
		"aws:eks/getAddon:getAddon":               {SDK: eks.LookupAddon, Run: getAddon},
		"aws:eks/getAddonVersion:getAddonVersion": {SDK: eks.GetAddonVersion, Run: getAddonVersion},
		"aws:eks/getClusters:getClusters": {SDK: eks.GetClusters, Run: func(q *standin.Query) (standin.Props, error) {
			return standin.Props{"id": q.Region, "names": ec2.IDs(q, ClusterType)}, nil
		}},
	}
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
