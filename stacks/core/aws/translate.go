package aws

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/eks"
	"tombolo/components/identity"
	"tombolo/components/network"
	"tombolo/config"
	"tombolo/config/awsfacts"
)

// This file translates the cluster file into the components' arguments.

func vpcArgs(c *config.Cluster, have made) (*network.VPCArgs, error) {
	plans, err := config.SubnetsBeside(c.Network.CIDR, c.Network.Zones, have.subnets(c.Name))
	if err != nil {
		return nil, err
	}
	args := &network.VPCArgs{
		Region:    c.Cloud.Region,
		CIDR:      c.Network.CIDR,
		NAT:       network.NAT(c.Network.NAT),
		Endpoints: c.Network.Endpoints,

		FlowLogs:          flowLogs(c),
		PrivateSubnetTags: discoveryTags(c),
		Protect:           c.Protect,
	}
	for _, p := range plans {
		args.Subnets = append(args.Subnets, network.Subnet{
			Zone: p.Zone, Private: p.Private.String(), Public: p.Public.String(),
		})
	}
	return args, nil
}

func flowLogs(c *config.Cluster) *network.FlowLogs {
	f := c.Network.FlowLogs
	if f == nil {
		return nil
	}
	return &network.FlowLogs{
		BucketARN: f.BucketARN, Traffic: strings.ToUpper(string(f.Traffic)), RetentionDays: f.RetentionDays, KMSKeyARN: f.KMSKeyARN,
		AccountID: c.Cloud.Account, Partition: awsfacts.Partition(c.Cloud.Region), Place: place(c),
	}
}

// accessPolicies are EKS's names of the policies of the cluster file.
func accessPolicies() map[config.AccessPolicy]string {
	return map[config.AccessPolicy]string{
		config.AccessView: "AmazonEKSViewPolicy", config.AccessEdit: "AmazonEKSEditPolicy",
		config.AccessAdmin: "AmazonEKSAdminPolicy", config.AccessClusterAdmin: "AmazonEKSClusterAdminPolicy",
	}
}

// place of all roles that core makes.
func place(c *config.Cluster) identity.Place {
	return identity.Place{Path: c.Cloud.Roles.Path, PermissionsBoundary: c.Cloud.Roles.PermissionsBoundary}
}

func existingArgs(e *config.ExistingNetwork) *network.ExistingArgs {
	return &network.ExistingArgs{
		VPCID: e.VPC, PrivateSubnetIDs: e.PrivateSubnets, PublicSubnetIDs: e.PublicSubnets, ControlPlaneSubnetIDs: e.ControlPlaneSubnets,
	}
}

func clusterArgs(c *config.Cluster, partition string, net *network.Network) *eks.ClusterArgs {
	k := c.Kubernetes
	args := &eks.ClusterArgs{
		Name:            c.Name,
		Version:         k.Version,
		NodeVersion:     k.NodeVersion,
		Partition:       partition,
		Place:           place(c),
		ClusterRoleARN:  c.Cloud.Roles.Given.Cluster,
		NodeRoleARN:     c.Cloud.Roles.Given.Nodes,
		Profile:         c.Cloud.Profile,
		PrivateEndpoint: valueOr(k.Endpoint.Private, true),
		PublicCIDRs:     k.Endpoint.AllowedCIDRs,
		PrivateCIDRs:    k.Endpoint.PrivateCIDRs,
		PrivateGroups:   k.Endpoint.SecurityGroups,
		EncryptSecrets:  valueOr(k.SecretsEncryption.Enabled, true),
		KeyARN:          k.SecretsEncryption.KeyARN,
		Tags:            c.AllTags(),
		Support:         strings.ToUpper(string(k.Support)),
		ZonalShift:      k.ZonalShift,
		AutoMode:        k.Auto(),

		SecurityGroupTags: discoveryTags(c),
		Protect:           c.Protect,

		VPCID:     net.VPCID,
		SubnetIDs: net.PrivateSubnetIDs,
	}
	for _, key := range keys() {
		key.give(k, args)
	}
	args.ServiceCIDR = k.ServiceCIDR
	if args.ServiceCIDR == "" && c.Network.Existing == nil {
		// In a network whose block only AWS knows, AWS chooses.
		args.ServiceCIDR = config.ServiceCIDR(c.Network.CIDR)
	}
	for _, a := range k.Admins {
		args.Admins = append(args.Admins, eks.Principal{Name: a.Name, PrincipalARN: a.PrincipalARN})
	}
	for _, p := range k.Previewers {
		args.Previewers = append(args.Previewers, eks.Principal{Name: p.Name, PrincipalARN: p.PrincipalARN})
	}
	args.Access = othersAccess(k.Access)
	if p := k.IdentityProvider; p != nil {
		args.IdentityProvider = new(eks.IdentityProvider(*p))
	}
	for _, g := range k.NodeGroups {
		args.NodeGroups = append(args.NodeGroups, nodeGroup(g, c.NodeEgress(), net))
	}
	for _, a := range k.Addons {
		args.Addons = append(args.Addons, managedAddon(c, partition, a))
	}
	return args
}

func othersAccess(entries []config.Access) []eks.Access {
	var out []eks.Access
	for _, a := range entries {
		out = append(out, eks.Access{
			Name: a.Name, PrincipalARN: a.PrincipalARN, Policy: accessPolicies()[a.Policy], Namespaces: a.Namespaces, Groups: a.Groups,
		})
	}
	return out
}

func managedAddon(c *config.Cluster, partition string, a config.ManagedAddon) eks.Addon {
	out := eks.Addon{Name: a.Name, Version: a.Version, Configuration: a.Configuration}
	switch {
	case a.Identity == nil:
	case a.Identity.RoleARN != "":
		out.Role = &eks.AddonRole{ARN: a.Identity.RoleARN}
	default:
		namespace, account, policies := a.Account(partition)
		out.Role = &eks.AddonRole{
			Name: config.ManagedAddonRoleName(c.Name, a.Name), Namespace: namespace, ServiceAccount: account,
			PolicyARNs: policies, Statements: permissions(a.Identity.Statements),
		}
	}
	return out
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// makeIdentities makes a role for each service that asks for one, and returns
// the roles' ARNs by service.
func makeIdentities(ctx *pulumi.Context, c *config.Cluster, cluster *eks.Cluster, provider pulumi.ResourceOrInvokeOption) (pulumi.StringMap, error) {
	arns := pulumi.StringMap{}
	for _, s := range c.Services {
		if s.Identity == nil {
			continue
		}
		role, err := identity.NewRole(ctx, c.Name+"-service-"+s.Name, roleArgs(c, s, cluster), provider)
		if err != nil {
			return nil, err
		}
		arns[s.Name] = role.ARN
	}
	return arns, nil
}

func roleArgs(c *config.Cluster, s config.Service, cluster *eks.Cluster) *identity.RoleArgs {
	args := &identity.RoleArgs{
		RoleARN:         s.Identity.RoleARN,
		RoleName:        config.ServiceRoleName(c.Name, s.Name),
		Place:           place(c),
		Mode:            identity.Mode(s.Identity.Mode),
		Namespace:       s.Namespace,
		ServiceAccount:  s.Identity.ServiceAccount,
		PolicyARNs:      s.Identity.PolicyARNs,
		AccountID:       c.Cloud.Account,
		OIDCProviderARN: cluster.OIDCProviderARN,
		OIDCIssuer:      cluster.OIDCIssuer,
		ClusterName:     cluster.Name,
		ClusterARN:      cluster.ARN,
	}
	args.Statements = permissions(s.Identity.Statements)
	return args
}

func permissions(of []config.Statement) []identity.Statement {
	var out []identity.Statement
	for _, st := range of {
		out = append(out, identity.Statement{Actions: st.Actions, Resources: st.Resources})
	}
	return out
}
