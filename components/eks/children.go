package eks

import (
	"context"
	"maps"
	"slices"

	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// controlPlaneType is that of the control plane, a child of the pulumi-eks component.
const controlPlaneType = "aws:eks/cluster:Cluster"

// The properties of the control plane that only its creation decides here.
const (
	creatorPermissions = "accessConfig.bootstrapClusterCreatorAdminPermissions"
	upgradePolicy      = "upgradePolicy"
)

// transform sets on the control plane what the pulumi-eks component has no argument for.
// The engine calls it with what the component has set. What is ignored is taken from
// the state where the cluster lives, and as it is here when it is made:
//
//   - EKS does not make the creator an admin: it has an access entry as others have.
//     On a live cluster this argument forces a replacement.
//   - A cluster whose file does not say what support it is to have is made with that
//     of STANDARD, and a live one keeps its own.
func (b *builder) transform(_ context.Context, a *pulumi.ResourceTransformArgs) *pulumi.ResourceTransformResult {
	if a.Type != controlPlaneType {
		return nil
	}
	props, opts := maps.Clone(a.Props), a.Opts
	props["accessConfig"] = awseks.ClusterAccessConfigArgs{
		AuthenticationMode: pulumi.String("API"), BootstrapClusterCreatorAdminPermissions: pulumi.Bool(false),
	}
	if !slices.Contains(opts.IgnoreChanges, creatorPermissions) {
		opts.IgnoreChanges = append(opts.IgnoreChanges, creatorPermissions)
	}
	support := b.args.Support
	if support == "" {
		support = standardSupport
		opts.IgnoreChanges = append(opts.IgnoreChanges, upgradePolicy)
	}
	props[upgradePolicy] = awseks.ClusterUpgradePolicyArgs{SupportType: pulumi.String(support)}
	if b.args.AutoMode {
		b.autoMode(props)
	}
	if b.args.ZonalShift != nil {
		props["zonalShiftConfig"] = awseks.ClusterZonalShiftConfigArgs{Enabled: pulumi.Bool(*b.args.ZonalShift)}
	}
	return &pulumi.ResourceTransformResult{Props: props, Opts: opts}
}
