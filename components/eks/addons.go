package eks

import (
	"encoding/json"
	"fmt"
	"slices"

	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/identity"
)

// early tells the addons that nodes need to become ready. They are DaemonSets,
// which EKS calls active without a node; the others wait for nodes.
func early(addon string) bool {
	switch addon {
	case cniAddon, "kube-proxy", "eks-pod-identity-agent":
		return true
	default:
		return false
	}
}

func (b *builder) makeEarlyAddons() error {
	for _, a := range b.args.Addons {
		if !early(a.Name) {
			continue
		}
		addon, err := b.addon(a)
		if err != nil {
			return err
		}
		b.earlyAddons = append(b.earlyAddons, addon)
	}
	return nil
}

// makeLateAddons makes the addons whose pods need nodes, all at the same time, after the
// nodes: EKS calls CoreDNS degraded without a node, and may keep it so when nodes come.
// Source: https://github.com/pulumi/pulumi-eks/issues/1819.
func (b *builder) makeLateAddons() error {
	before := pulumi.DependsOn(slices.Clone(b.complete))
	for _, a := range b.args.Addons {
		if early(a.Name) {
			continue
		}
		addon, err := b.addon(a, before)
		if err != nil {
			return err
		}
		b.complete = append(b.complete, addon)
	}
	return nil
}

func (b *builder) addon(a Addon, opts ...pulumi.ResourceOption) (*awseks.Addon, error) {
	args := &awseks.AddonArgs{
		ClusterName: b.cluster.Name(),
		AddonName:   pulumi.String(a.Name),
		// On creation EKS may find its self-managed predecessor; later on,
		// what was set by hand stays.
		ResolveConflictsOnCreate: pulumi.String("OVERWRITE"),
		ResolveConflictsOnUpdate: pulumi.String("PRESERVE"),
	}
	if a.Version != "" {
		args.AddonVersion = pulumi.String(a.Version)
	}
	if len(a.Configuration) > 0 {
		values, err := json.Marshal(a.Configuration)
		if err != nil {
			return nil, fmt.Errorf("render configuration of addon %s: %w", a.Name, err)
		}
		args.ConfigurationValues = pulumi.String(string(values))
	}
	arn, err := b.addonRole(a)
	if err != nil {
		return nil, err
	}
	args.ServiceAccountRoleArn = arn
	return awseks.NewAddon(b.ctx, b.name+"-addon-"+a.Name, args, append(opts, b.parent)...)
}

// addonRole is the ARN of the role that the addon is to have; nil for an addon without one.
func (b *builder) addonRole(a Addon) (pulumi.StringPtrInput, error) {
	name, role := "-eks-"+a.Name, a.Role
	if role == nil && a.Name == cniAddon {
		name, role = "-cni", b.cniRole()
	}
	switch {
	case role == nil:
		return nil, nil
	case role.ARN != "":
		return pulumi.String(role.ARN), nil
	}
	made, err := identity.NewRole(b.ctx, b.name+name, &identity.RoleArgs{
		RoleName:        role.Name,
		Place:           b.args.Place,
		Mode:            identity.IRSA,
		Namespace:       role.Namespace,
		ServiceAccount:  role.ServiceAccount,
		PolicyARNs:      role.PolicyARNs,
		Statements:      role.Statements,
		OIDCProviderARN: b.oidc.Arn,
		OIDCIssuer:      b.issuer(),
	}, b.parent)
	if err != nil {
		return nil, err
	}
	return made.ARN, nil
}

// cniRole keeps the right to change network interfaces with the CNI's service
// account, where otherwise every pod on the node's network would have it.
func (b *builder) cniRole() *AddonRole {
	return &AddonRole{
		Name: b.args.Name + "-cni", Namespace: "kube-system", ServiceAccount: "aws-node",
		PolicyARNs: []string{identity.ManagedPolicyARN(b.args.Partition, "AmazonEKS_CNI_Policy")},
	}
}

// ownAddons says that EKS puts addons into a cluster that it makes. EKS refuses Auto Mode
// with them, and the argument forces a replacement of a live cluster.
const ownAddons = "bootstrapSelfManagedAddons"

// builtInPools are the node pools that EKS Auto Mode has by itself. The nodes of system are
// for what tolerates CriticalAddonsOnly:
// https://docs.aws.amazon.com/eks/latest/userguide/set-builtin-node-pools.html
var builtInPools = []string{"general-purpose", "system"}

// autoMode sets on the control plane what turns EKS Auto Mode on: compute, load balancing and
// block storage, of which EKS takes all or none.
func (b *builder) autoMode(props pulumi.Map) {
	network := awseks.ClusterKubernetesNetworkConfigArgs{
		ElasticLoadBalancing: awseks.ClusterKubernetesNetworkConfigElasticLoadBalancingArgs{Enabled: pulumi.Bool(true)},
	}
	if b.args.ServiceCIDR != "" {
		network.ServiceIpv4Cidr = pulumi.String(b.args.ServiceCIDR)
	}
	props["kubernetesNetworkConfig"] = network
	props["computeConfig"] = awseks.ClusterComputeConfigArgs{
		Enabled: pulumi.Bool(true), NodePools: pulumi.ToStringArray(builtInPools), NodeRoleArn: b.nodeRoleARN,
	}
	props["storageConfig"] = awseks.ClusterStorageConfigArgs{
		BlockStorage: awseks.ClusterStorageConfigBlockStorageArgs{Enabled: pulumi.Bool(true)},
	}
	props[ownAddons] = pulumi.Bool(false)
}
