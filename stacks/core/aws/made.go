package aws

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"tombolo/config"
	"tombolo/stacks/core/live"
)

// made is what the state of the own stack says that earlier runs made. AWS lets some
// of it never change, and the cluster file does not tell it: the zones that the control
// plane was made in, the blocks that subnets have, the names of node groups.
type made struct{ live.Resources }

// begun says whether the state has a resource of AWS. The stack's outputs would not
// tell: a first up that was killed has none.
func (m made) begun() bool {
	return slices.ContainsFunc(m.Resources, func(r live.Resource) bool { return strings.HasPrefix(r.Type, "aws:") })
}

// subnets are the subnets that the cluster's own network has, for each zone, by its name.
func (m made) subnets(cluster string) []config.SubnetPlan {
	byZone := map[string]*config.SubnetPlan{}
	for _, r := range m.OfType(subnetToken) {
		block, err := netip.ParsePrefix(r.Outputs.Text("cidrBlock"))
		if err != nil {
			continue
		}
		zone := r.Outputs.Text("availabilityZone")
		plan := byZone[zone]
		if plan == nil {
			plan = &config.SubnetPlan{Zone: zone}
			byZone[zone] = plan
		}
		switch r.Name {
		case cluster + "-private-" + zone:
			plan.Private = block
		case cluster + "-public-" + zone:
			plan.Public = block
		}
	}
	var out []config.SubnetPlan
	for _, zone := range slices.Sorted(maps.Keys(byZone)) {
		out = append(out, *byZone[zone])
	}
	return out
}

// subnetZone is the zone of a subnet that core made, "" for others.
func (m made) subnetZone(id string) string {
	for _, r := range m.OfType(subnetToken) {
		if strings.HasSuffix(r.Outputs.Text("arn"), "/"+id) {
			return r.Outputs.Text("availabilityZone")
		}
	}
	return ""
}

// controlPlaneSubnets are the subnets of the control plane; none when there is none yet.
func (m made) controlPlaneSubnets() []string {
	cluster, _ := m.First(clusterToken)
	return cluster.Outputs.In("vpcConfig").Texts("subnetIds")
}

// adminByEKS says that there is a control plane whose creator EKS has made an admin. The
// provider keeps the argument as it was given; EKS's own default is true.
func (m made) adminByEKS() bool {
	cluster, there := m.First(clusterToken)
	given, ok := cluster.Outputs.In("accessConfig")["bootstrapClusterCreatorAdminPermissions"].(bool)
	return there && (given || !ok)
}

// creator is the principal with the creator's access entry, "" when there is none yet.
func (m made) creator(cluster string) string {
	return m.Named(accessEntryToken, cluster+"-creator").Outputs.Text("principalArn")
}

// addonVersion is the version that a managed addon runs with, "" when there is none yet.
func (m made) addonVersion(cluster, addon string) string {
	return m.Named(managedAddonToken, cluster+"-addon-"+addon).Outputs.Text("addonVersion")
}
