package aws

import (
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/eks"
	"tombolo/components/network"
	"tombolo/config"
	"tombolo/internal/wording"
)

// controlPlaneSubnets are the private subnets of the network in the zones that the
// control plane was made in, or all of them for a new one. EKS takes other subnets for a
// control plane in the zones of its creation only: "Subnets" in
// https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html.
func controlPlaneSubnets(ctx *pulumi.Context, c *config.Cluster, net *network.Network, have made, provider pulumi.InvokeOption) (pulumi.StringArrayInput, error) {
	zones, err := controlPlaneZones(ctx, c, net, have, provider)
	if err != nil {
		return nil, err
	}
	if len(net.ControlPlaneSubnetIDs) > 0 {
		return ownSubnets(c, net, zones)
	}
	var gone []string
	for _, zone := range zones {
		if !slices.Contains(net.PrivateSubnetZones, zone) {
			gone = append(gone, zone)
		}
	}
	if len(gone) > 0 {
		return nil, fmt.Errorf("the control plane of cluster %s is in %s, where the network of the cluster file has no private subnet: "+
			"EKS keeps the zones that a control plane was made in; put %s back, or build a new cluster",
			c.Name, wording.And(gone), map[bool]string{true: "it", false: "them"}[len(gone) == 1])
	}
	kept := func(zone string) bool { return len(zones) == 0 || slices.Contains(zones, zone) }
	everyZone := !slices.ContainsFunc(net.PrivateSubnetZones, func(zone string) bool { return !kept(zone) })
	if everyZone && (c.Network.Existing != nil || c.Kubernetes.Auto()) {
		return net.PrivateSubnetIDs, nil
	}
	// Not by PrivateSubnetIDs, which wait for routes: making a control plane takes minutes,
	// and needs no NAT gateway meanwhile; its nodes do, and those of Auto Mode come with it.
	// And in a preview the ids would be unknown until a new zone has its routes, and the
	// control plane would be shown as changed.
	var out pulumi.StringArray
	for i, zone := range net.PrivateSubnetZones {
		switch e := c.Network.Existing; {
		case !kept(zone):
		case e != nil:
			out = append(out, pulumi.String(e.PrivateSubnets[i]))
		default:
			out = append(out, net.PrivateSubnetByZone[zone])
		}
	}
	return out, nil
}

// ownSubnets are those that the cluster file gives to the control plane alone. They have to
// be in exactly the zones that it was made in.
func ownSubnets(c *config.Cluster, net *network.Network, zones []string) (pulumi.StringArrayInput, error) {
	given := slices.Compact(slices.Sorted(slices.Values(net.ControlPlaneSubnetZones)))
	if len(zones) > 0 && !slices.Equal(given, zones) {
		return nil, fmt.Errorf("the control plane of cluster %s is in %s, and network.existing.controlPlaneSubnets are in %s: "+
			"EKS keeps the zones that a control plane was made in; give subnets in exactly these, or build a new cluster",
			c.Name, wording.And(zones), wording.And(given))
	}
	return pulumi.ToStringArray(net.ControlPlaneSubnetIDs), nil
}

// controlPlaneZones are the zones of the control plane that the state has, in order;
// none for a new one.
func controlPlaneZones(ctx *pulumi.Context, c *config.Cluster, net *network.Network, have made, provider pulumi.InvokeOption) ([]string, error) {
	var zones []string
	for _, id := range have.controlPlaneSubnets() {
		zone, err := zoneOf(ctx, c, net, have, id, provider)
		if err != nil {
			return nil, fmt.Errorf("find out the zones of the control plane of cluster %s: %w", c.Name, err)
		}
		zones = append(zones, zone)
	}
	slices.Sort(zones)
	return slices.Compact(zones), nil
}

// zoneOf asks AWS only for a subnet of others that the cluster file no longer names.
func zoneOf(ctx *pulumi.Context, c *config.Cluster, net *network.Network, have made, id string, provider pulumi.InvokeOption) (string, error) {
	if zone := have.subnetZone(id); zone != "" {
		return zone, nil
	}
	if e := c.Network.Existing; e != nil && slices.Contains(e.PrivateSubnets, id) {
		return net.PrivateSubnetZones[slices.Index(e.PrivateSubnets, id)], nil
	}
	if i := slices.Index(net.ControlPlaneSubnetIDs, id); i >= 0 {
		return net.ControlPlaneSubnetZones[i], nil
	}
	found, err := ec2.LookupSubnet(ctx, &ec2.LookupSubnetArgs{Id: &id}, provider)
	if err != nil {
		return "", err
	}
	return found.AvailabilityZone, nil
}

// findGroups says of each node group how the state has it, and how many nodes EKS.
func findGroups(ctx *pulumi.Context, c *config.Cluster, net *network.Network, have made, groups []eks.NodeGroup, provider pulumi.InvokeOption) error {
	var live []string
	for i := range groups {
		g := &groups[i]
		r := have.Named(nodeGroupToken, c.Name+"-nodes-"+g.Name).Outputs
		size := r.In("scalingConfig")
		if size == nil {
			continue
		}
		if live == nil {
			var err error
			if live, err = groupsInEKS(ctx, c.Name, provider); err != nil {
				return fmt.Errorf("list the node groups of cluster %s: %w; allow eks:ListClusters and eks:ListNodegroups to the credentials", c.Name, err)
			}
		}
		g.Made = &eks.MadeGroup{
			Name: r.Text("nodeGroupName"), InstanceTypes: r.Texts("instanceTypes"), AMIType: r.Text("amiType"),
			CapacityType: r.Text("capacityType"), NodeRoleARN: r.Text("nodeRoleArn"), SubnetIDs: r.Texts("subnetIds"),
			MovesSubnets: movesSubnets(groupOf(c, g.Name), c, net, have, r.Texts("subnetIds")),
			Min:          size.Number("minSize"), Max: size.Number("maxSize"),
		}
		if !slices.Contains(live, g.Made.Name) {
			continue
		}
		var err error
		if g.Made.Live, err = scaling(ctx, c.Name, g.Made.Name, provider); err != nil {
			return fmt.Errorf("find out the size of node group %s of cluster %s: %w; allow eks:DescribeNodegroup to the credentials", g.Made.Name, c.Name, err)
		}
	}
	return nil
}

// groupsInEKS are the names of the node groups of a cluster; none, and no error, when
// there is no such cluster.
func groupsInEKS(ctx *pulumi.Context, cluster string, provider pulumi.InvokeOption) ([]string, error) {
	all, err := awseks.GetClusters(ctx, provider)
	if err != nil || !slices.Contains(all.Names, cluster) {
		return []string{}, err
	}
	found, err := awseks.GetNodeGroups(ctx, &awseks.GetNodeGroupsArgs{ClusterName: cluster}, provider)
	if err != nil {
		return nil, err
	}
	return append([]string{}, found.Names...), nil
}

func scaling(ctx *pulumi.Context, cluster, group string, provider pulumi.InvokeOption) (*eks.Scaling, error) {
	found, err := awseks.LookupNodeGroup(ctx, &awseks.LookupNodeGroupArgs{ClusterName: cluster, NodeGroupName: group}, provider)
	if err != nil || len(found.ScalingConfigs) == 0 {
		return nil, err
	}
	size := found.ScalingConfigs[0]
	return &eks.Scaling{Min: size.MinSize, Max: size.MaxSize, Desired: size.DesiredSize}, nil
}

// movesSubnets says whether a node group gets other subnets than it has.
func movesSubnets(g config.NodeGroup, c *config.Cluster, net *network.Network, have made, has []string) bool {
	if existing := c.Network.Existing; existing != nil {
		if len(g.Subnets) > 0 {
			return !sameSet(g.Subnets, has)
		}
		return !sameSet(existing.PrivateSubnets, has)
	}
	var zones []string
	for _, id := range has {
		zones = append(zones, have.subnetZone(id))
	}
	if len(g.Zones) > 0 {
		return !sameSet(g.Zones, zones)
	}
	return !sameSet(net.PrivateSubnetZones, zones)
}
