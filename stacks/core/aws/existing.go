package aws

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/eks"
	"tombolo/components/network"
	"tombolo/config"
	"tombolo/internal/wording"
)

// This file reads a cluster that others own, in place of making one.

// The tags by which the AWS Load Balancer Controller finds subnets. Source:
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/deploy/subnet_discovery/
const (
	publicRoleTag  = "kubernetes.io/role/elb"
	privateRoleTag = "kubernetes.io/role/internal-elb"
)

// loadBalancerAddon is the addon that goes by them.
const loadBalancerAddon = "aws-load-balancer-controller"

// adopt reads the cluster and its network, and warns of what the cluster lacks for the
// file's addons: nothing of it is changed.
func adopt(ctx *pulumi.Context, c *config.Cluster, partition string, have made, provider pulumi.ResourceOrInvokeOption) (*network.Network, *eks.Cluster, error) {
	found, err := eks.NewExisting(ctx, c.Name, existingClusterArgs(c, partition, have), provider)
	if err != nil {
		return nil, nil, err
	}
	named := c.Network.Existing
	if named != nil && named.VPC != found.VPCID {
		return nil, nil, fmt.Errorf("the existing cluster %s is in %s, and network.existing says %s: take network.existing out, and core reads it from the cluster",
			c.NameInCloud(), found.VPCID, named.VPC)
	}
	subnets, err := lookUpSubnets(ctx, c, found, provider)
	if err != nil {
		return nil, nil, err
	}
	args := subnets.network(found.VPCID)
	if named != nil {
		args = existingArgs(named)
	}
	if len(args.PrivateSubnetIDs) < 2 {
		return nil, nil, fmt.Errorf("the existing cluster %s has %d private subnets (without the tag %s, and without public addresses for instances): "+
			"name at least two in network.existing.privateSubnets", c.NameInCloud(), len(args.PrivateSubnetIDs), publicRoleTag)
	}
	for _, warning := range warnings(c, found, subnets) {
		if err := ctx.Log.Warn(warning, nil); err != nil {
			return nil, nil, err
		}
	}
	net, err := existingNetwork(ctx, c, args, provider)
	return net, found.Cluster, err
}

func existingClusterArgs(c *config.Cluster, partition string, have made) *eks.ExistingArgs {
	e := c.Kubernetes.Existing
	args := &eks.ExistingArgs{
		Name: e.Name, Partition: partition,
		NeedsOIDC: c.NeedsOIDC(), CreateOIDC: e.CreateOIDCProvider, MadeOIDC: have.Named(oidcToken, c.Name+"-oidc").Type != "",
		PodIdentity: slices.ContainsFunc(c.Services, func(s config.Service) bool {
			return s.Identity != nil && s.Identity.Mode == config.PodIdentity
		}),
	}
	for _, a := range c.Kubernetes.Admins {
		args.Admins = append(args.Admins, eks.Principal{Name: a.Name, PrincipalARN: a.PrincipalARN})
	}
	for _, p := range c.Kubernetes.Previewers {
		args.Previewers = append(args.Previewers, eks.Principal{Name: p.Name, PrincipalARN: p.PrincipalARN})
	}
	args.Access = othersAccess(c.Kubernetes.Access)
	for a, needs := range c.AddonNeeds() {
		if needs.NodeRole != nil {
			args.Entries = append(args.Entries, "the addon "+a.Name)
		}
	}
	if c.IsSpoke() && c.GitOps.ArgoCD.Credentials == config.CredentialsAWS {
		args.Entries = append(args.Entries, "gitops.argocd.credentials: aws")
	}
	return args
}

// foundSubnet is a subnet of others.
type foundSubnet struct {
	id     string
	public bool
	tags   map[string]string
}

type foundSubnets []foundSubnet

// lookUpSubnets reads the subnets that the file names, or those of the control plane.
func lookUpSubnets(ctx *pulumi.Context, c *config.Cluster, found *eks.Existing, provider pulumi.InvokeOption) (foundSubnets, error) {
	ids := found.SubnetIDs
	if named := c.Network.Existing; named != nil {
		ids = slices.Concat(named.PrivateSubnets, named.PublicSubnets)
	}
	var out foundSubnets
	for _, id := range ids {
		s, err := ec2.LookupSubnet(ctx, &ec2.LookupSubnetArgs{Id: &id}, provider)
		if err != nil {
			return nil, fmt.Errorf("look up subnet %s of the existing cluster %s: %w; allow ec2:DescribeSubnets to the credentials", id, c.NameInCloud(), err)
		}
		_, balanced := s.Tags[publicRoleTag]
		out = append(out, foundSubnet{id: id, public: balanced || s.MapPublicIpOnLaunch, tags: s.Tags})
	}
	return out, nil
}

// network puts the subnets apart. AWS has no word for a public subnet: one is meant for
// load balancers on the internet by its tag, or gives instances public addresses.
func (all foundSubnets) network(vpc string) *network.ExistingArgs {
	args := &network.ExistingArgs{VPCID: vpc}
	for _, s := range all {
		if s.public {
			args.PublicSubnetIDs = append(args.PublicSubnetIDs, s.id)
		} else {
			args.PrivateSubnetIDs = append(args.PrivateSubnetIDs, s.id)
		}
	}
	return args
}

// warnings say what the owner of the cluster should know or set.
func warnings(c *config.Cluster, found *eks.Existing, subnets foundSubnets) []string {
	var out []string
	if notice := config.SupportNotice(found.Version, config.Support(strings.ToLower(found.Support))); notice != "" {
		out = append(out, fmt.Sprintf("the existing cluster %s: Kubernetes %s; its owner upgrades it", c.NameInCloud(), notice))
	}
	if _, on := c.Addons[loadBalancerAddon]; !on {
		return out
	}
	var bare []string
	for _, s := range subnets {
		_, public := s.tags[publicRoleTag]
		_, private := s.tags[privateRoleTag]
		if !public && !private {
			bare = append(bare, s.id)
		}
	}
	if len(bare) > 0 {
		out = append(out, fmt.Sprintf("the addon %s finds subnets by the tags %s: \"1\" (public) and %s: \"1\" (private), and %s without: "+
			"have the network's owner set them, or name subnets on each Ingress and Service; Tombolo changes no tag of others",
			loadBalancerAddon, publicRoleTag, privateRoleTag, wording.And(bare)+map[bool]string{true: " is", false: " are"}[len(bare) == 1]))
	}
	return out
}
