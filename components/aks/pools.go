package aks

import (
	"cmp"
	"slices"

	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20240901"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/ready"
)

// SpotKey is that of the label and the taint that AKS puts on nodes of spot capacity, and takes
// from nobody else: its prefix is reserved. Sources:
// https://learn.microsoft.com/azure/aks/spot-node-pool and
// https://learn.microsoft.com/azure/aks/use-labels
const SpotKey = "kubernetes.azure.com/scalesetpriority"

// makePools makes the pools that are no part of the cluster itself.
func (b *builder) makePools() error {
	inline := b.inlinePool()
	for i, p := range b.args.Pools {
		if i == inline {
			continue
		}
		options := []pulumi.ResourceOption{b.parent}
		if p.Live == nil {
			options = append(options, pulumi.IgnoreChanges([]string{"count"}))
		}
		pool, err := containerservice.NewAgentPool(b.ctx, b.name+"-pool-"+p.Name, b.pool(p), options...)
		if err != nil {
			return err
		}
		b.complete = append(b.complete, pool)
	}
	return nil
}

// pool is a pool beside the cluster: what its profile has, and where it belongs to.
func (b *builder) pool(p NodePool) *containerservice.AgentPoolArgs {
	of := b.profile(p)
	args := &containerservice.AgentPoolArgs{
		AgentPoolName:     pulumi.String(p.Name),
		ResourceGroupName: b.args.ResourceGroup,
		ResourceName:      ready.After(pulumi.String(b.args.Name).ToStringOutput(), b.cluster),
		Type:              of.Type, Mode: of.Mode, OrchestratorVersion: of.OrchestratorVersion,
		VmSize: of.VmSize, OsType: of.OsType, OsSKU: of.OsSKU, OsDiskSizeGB: of.OsDiskSizeGB, MaxPods: of.MaxPods,
		EnableAutoScaling: of.EnableAutoScaling, MinCount: of.MinCount, MaxCount: of.MaxCount, Count: of.Count,
		VnetSubnetID: of.VnetSubnetID, AvailabilityZones: of.AvailabilityZones,
		NodeLabels: of.NodeLabels, NodeTaints: of.NodeTaints, UpgradeSettings: of.UpgradeSettings, Tags: of.Tags,
	}
	args.ScaleSetPriority, args.ScaleSetEvictionPolicy, args.SpotMaxPrice = of.ScaleSetPriority, of.ScaleSetEvictionPolicy, of.SpotMaxPrice
	return args
}

// profiles are the pools in the inputs of the cluster. AKS takes versions of all pools that live or
// of none, and each is the one that the pool has, or the control plane's
// (NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged; https://github.com/Azure/ARO-HCP/pull/662
// and https://github.com/Azure/AKS/pull/2889). So a cluster that lives has its first pool there
// without a version, but for the update that takes the nodes to another one.
func (b *builder) profiles(system NodePool) containerservice.ManagedClusterAgentPoolProfileArray {
	first := b.profile(system)
	out := containerservice.ManagedClusterAgentPoolProfileArray{}
	switch {
	case system.Live == nil: // it is made, or nothing changes
		return append(out, first)
	case !b.args.MovesNodes:
		first.OrchestratorVersion = nil
		return append(out, first)
	}
	out = append(out, first)
	for _, p := range slices.Concat(b.args.Pools, b.args.Leaving) {
		if p.Live != nil && p.Name != system.Name {
			out = append(out, b.profile(p))
		}
	}
	return out
}

// profile is the pool as a part of the cluster, and what a pool beside it has too.
func (b *builder) profile(p NodePool) containerservice.ManagedClusterAgentPoolProfileArgs {
	args := containerservice.ManagedClusterAgentPoolProfileArgs{
		Name:                pulumi.String(p.Name),
		Type:                pulumi.String("VirtualMachineScaleSets"),
		Mode:                pulumi.String(p.mode()),
		OrchestratorVersion: pulumi.String(b.nodeVersion()),
		VmSize:              pulumi.String(p.VMSize),
		OsType:              pulumi.String("Linux"),
		OsSKU:               pulumi.String(p.OS),
		OsDiskSizeGB:        pulumi.Int(p.DiskGiB),
		MaxPods:             pulumi.Int(p.MaxPods),
		EnableAutoScaling:   pulumi.Bool(true),
		MinCount:            pulumi.Int(p.Min),
		MaxCount:            pulumi.Int(p.Max),
		Count:               pulumi.Int(p.count()),
		VnetSubnetID:        b.args.SubnetReady.ToStringOutput(),
		AvailabilityZones:   list(p.Zones),
		NodeLabels:          pulumi.ToStringMap(p.Labels),
		NodeTaints:          list(p.taints()),
		UpgradeSettings:     p.upgrade(),
		Tags:                pulumi.ToStringMap(b.args.Tags),
	}
	if p.Spot {
		args.ScaleSetPriority = pulumi.String("Spot")
		args.ScaleSetEvictionPolicy = pulumi.String("Delete")
		args.SpotMaxPrice = pulumi.Float64(-1) // up to the price of regular capacity
	}
	return args
}

func (b *builder) nodeVersion() string { return cmp.Or(b.args.NodeVersion, b.args.Version) }

func (p NodePool) mode() string {
	if p.System {
		return "System"
	}
	return "User"
}

// count is the number of nodes to ask for: of a pool that lives, the one that its autoscaler
// has chosen, as near as the bounds allow.
func (p NodePool) count() int {
	if p.Live == nil {
		return p.Desired
	}
	return min(max(*p.Live, p.Min), p.Max)
}

// taints as AKS writes them: key=value:effect.
func (p NodePool) taints() []string {
	var out []string
	for _, t := range p.Taints {
		out = append(out, t.Key+"="+t.Value+":"+t.Effect)
	}
	return out
}

func (p NodePool) upgrade() containerservice.AgentPoolUpgradeSettingsPtrInput {
	if p.MaxSurge == "" {
		return nil
	}
	return containerservice.AgentPoolUpgradeSettingsArgs{MaxSurge: pulumi.String(p.MaxSurge)}
}

// list is nil for no items, so that nothing is sent.
func list(items []string) pulumi.StringArrayInput {
	if len(items) == 0 {
		return nil
	}
	return pulumi.ToStringArray(items)
}
