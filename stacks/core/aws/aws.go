// Package aws is the core stack of a cluster in AWS: the network, EKS and the roles
// of its services and addons.
package aws

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tombolo/components/eks"
	"tombolo/components/network"
	"tombolo/config"
	"tombolo/stacks/core/live"
	"tombolo/stacks/handoff"
	"tombolo/stacks/owner"
)

// Build registers what the cluster consists of and returns the hand-off. It fails
// before anything is made when the credentials are of another account than the
// cluster file's. The hub is the cluster that config.LoadHub returns; had is what the
// state of the stack had before.
func Build(ctx *pulumi.Context, c, hub *config.Cluster, own owner.Owner, had live.Resources) (handoff.Handoff, error) {
	none := handoff.Handoff{}
	provider, err := NewProvider(ctx, c.Cloud, owned(c, own), own.Before())
	if err != nil {
		return none, err
	}
	caller, partition, err := Guard(ctx, "cluster file", c.Cloud, provider)
	if err != nil {
		return none, err
	}
	opts := pulumi.Provider(provider)
	have := made{had}
	if err := refuseStrangers(ctx, c, own, have, opts); err != nil {
		return none, err
	}
	if err := refuseOwnProvider(c, have); err != nil {
		return none, err
	}
	if err := checkGiven(ctx, c, partition, opts); err != nil {
		return none, err
	}
	net, cluster, err := networkAndCluster(ctx, c, caller, partition, have, opts)
	if err != nil {
		return none, err
	}
	roles, err := makeIdentities(ctx, c, cluster, opts)
	if err != nil {
		return none, err
	}
	made, err := makeAddons(ctx, c, cluster, net, opts)
	if err != nil {
		return none, err
	}
	fleet, err := makeFleetRoles(ctx, c, hub, partition, cluster, opts)
	if err != nil {
		return none, err
	}
	return handoff.Handoff{
		Cloud:           string(config.AWS),
		ClusterName:     cluster.Name,
		ClusterID:       cluster.ARN,
		ClusterVersion:  cluster.Version,
		ClusterEndpoint: cluster.Endpoint,
		ClusterCA:       cluster.CA,
		Region:          pulumi.String(c.Cloud.Region).ToStringOutput(),
		OIDCIssuer:      cluster.OIDCIssuer,
		AWS: handoff.AWS{
			ClusterARN:             cluster.ARN,
			AccountID:              pulumi.String(c.Cloud.Account).ToStringOutput(),
			Partition:              pulumi.String(partition).ToStringOutput(),
			OIDCProviderARN:        cluster.OIDCProviderARN,
			VPCID:                  net.VPCID,
			VPCCIDR:                net.CIDR,
			PrivateSubnetIDs:       net.PrivateSubnetIDs,
			PublicSubnetIDs:        net.PublicSubnetIDs,
			ClusterSecurityGroupID: cluster.SecurityGroupID,
			NodeRoleARN:            cluster.NodeRoleARN,
			ArgoCDRoleARN:          fleet.argocd,
			RegistrationRoleARN:    fleet.registration,
		},
	}.WithMaps(roles, made), nil
}

// NewProvider makes the AWS provider that all resources of a stack use, with the tags
// of each: never the default one, whose region and account come from wherever the
// program happens to run.
func NewProvider(ctx *pulumi.Context, cloud config.Cloud, tags map[string]string, opts ...pulumi.ResourceOption) (*aws.Provider, error) {
	args := &aws.ProviderArgs{
		Region:            pulumi.String(cloud.Region),
		AllowedAccountIds: pulumi.ToStringArray([]string{cloud.Account}),
		DefaultTags:       aws.ProviderDefaultTagsArgs{Tags: pulumi.ToStringMap(tags)},
	}
	if cloud.Profile != "" {
		args.Profile = pulumi.String(cloud.Profile)
	}
	args.AssumeRole = assumeRole(cloud)
	return aws.NewProvider(ctx, "aws", args, opts...)
}

// assumeRole is the role that a provider assumes; nil for none.
func assumeRole(cloud config.Cloud) aws.ProviderAssumeRolePtrInput {
	role := cloud.AssumeRole
	if role == nil {
		return nil
	}
	args := aws.ProviderAssumeRoleArgs{RoleArn: pulumi.String(role.RoleARN), SessionName: pulumi.String(role.SessionName)}
	if role.ExternalID != "" {
		args.ExternalId = pulumi.String(role.ExternalID)
	}
	return args
}

// owned are the tags with those of the owner. Instances and their volumes do without
// these: they are in the launch template, of which a change replaces every node.
func owned(c *config.Cluster, own owner.Owner) map[string]string {
	all := c.AllTags()
	maps.Copy(all, own.Tags())
	return all
}

// Guard checks that the credentials are of the account that the file allows, which is
// a "cluster file" or an "account file", and finds out who the caller is and the
// account's partition.
func Guard(ctx *pulumi.Context, file string, cloud config.Cloud, provider *aws.Provider) (callerARN, partition string, err error) {
	caller, err := aws.GetCallerIdentity(ctx, nil, pulumi.Provider(provider))
	if status.Code(err) == codes.Canceled {
		// The provider refused its configuration, and has said why itself.
		return "", "", fmt.Errorf("the AWS provider did not start; the %s allows account %s only: "+
			"use credentials of that account, by cloud.profile or the environment, or correct cloud.account%s", file, cloud.Account, roleRemedy(cloud))
	}
	if err != nil {
		return "", "", fmt.Errorf("find out the account of the AWS credentials (the %s allows %s only): %w; "+
			"check the credentials and cloud.profile%s", file, cloud.Account, err, roleRemedy(cloud))
	}
	if caller.AccountId != cloud.Account {
		return "", "", fmt.Errorf("the AWS credentials are of account %s, but the %s allows %s only; "+
			"use credentials of %s or correct cloud.account", caller.AccountId, file, cloud.Account, cloud.Account)
	}
	found, err := aws.GetPartition(ctx, nil, pulumi.Provider(provider))
	if err != nil {
		return "", "", fmt.Errorf("find out the AWS partition: %w", err)
	}
	return caller.Arn, found.Partition, nil
}

// networkAndCluster makes both, or reads those of the existing cluster that the file names.
func networkAndCluster(ctx *pulumi.Context, c *config.Cluster, caller, partition string, have made, opts pulumi.ResourceOrInvokeOption) (*network.Network, *eks.Cluster, error) {
	if c.IsExisting() {
		return adopt(ctx, c, partition, have, opts)
	}
	creator, err := creatorOf(ctx, c, caller, have, opts)
	if err != nil {
		return nil, nil, err
	}
	net, err := newNetwork(ctx, c, have, opts)
	if err != nil {
		return nil, nil, err
	}
	cluster, err := newCluster(ctx, c, partition, net, have, creator, opts)
	return net, cluster, err
}

// roleRemedy says what else can be wrong with credentials where a role is assumed.
func roleRemedy(cloud config.Cloud) string {
	if cloud.AssumeRole == nil {
		return ""
	}
	return "; the trust policy of " + cloud.AssumeRole.RoleARN + " has to let them in, with the external id of cloud.assumeRole"
}

// newNetwork makes the network of the cluster file, or looks up the existing one
// that it names.
func newNetwork(ctx *pulumi.Context, c *config.Cluster, have made, opts ...pulumi.ResourceOption) (*network.Network, error) {
	if existing := c.Network.Existing; existing != nil {
		return existingNetwork(ctx, c, existingArgs(existing), opts...)
	}
	args, err := vpcArgs(c, have)
	if err != nil {
		return nil, err
	}
	return network.NewVPC(ctx, c.Name, args, opts...)
}

// existingNetwork looks a network up that others own. Addons whose policies name the VPC's
// account need to know it.
func existingNetwork(ctx *pulumi.Context, c *config.Cluster, args *network.ExistingArgs, opts ...pulumi.ResourceOption) (*network.Network, error) {
	net, err := network.NewExisting(ctx, c.Name, args, opts...)
	if err != nil {
		return nil, err
	}
	named := c.Cloud.Account
	if e := c.Network.Existing; e != nil {
		named = cmp.Or(e.Account, named)
	}
	of := slices.DeleteFunc([]string{loadBalancerAddon, "karpenter"}, func(name string) bool { return !slices.Contains(c.Addons.Names(), name) })
	if net.Owner == named || len(of) == 0 {
		return net, nil
	}
	return nil, fmt.Errorf("%s is of account %s, not of %s, and the policies of the addons %s name it: set network.existing.account to %q",
		args.VPCID, net.Owner, named, strings.Join(of, ", "), net.Owner)
}

// newCluster makes the cluster in the network. What EKS cannot change in place of one
// that exists stays: the zones of its control plane, and node groups with their size.
// Managed addons without a version get theirs from AWS.
func newCluster(ctx *pulumi.Context, c *config.Cluster, partition string, net *network.Network, have made, creator *eks.Creator, provider pulumi.ResourceOrInvokeOption) (*eks.Cluster, error) {
	args := clusterArgs(c, partition, net)
	args.Creator = creator
	var err error
	if args.ControlPlaneSubnetIDs, err = controlPlaneSubnets(ctx, c, net, have, provider); err != nil {
		return nil, err
	}
	if err := findGroups(ctx, c, net, have, args.NodeGroups, provider); err != nil {
		return nil, err
	}
	if err := findAddonVersions(ctx, c, have, args.Addons, provider); err != nil {
		return nil, err
	}
	return eks.NewCluster(ctx, c.Name, args, provider)
}
