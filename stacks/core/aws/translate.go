package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
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

// given is a role of the cluster file that others own.
type given struct {
	// of is whose role it is, key where the file names it.
	of, key, arn string
	// trusts are what its trust policy has to name; none for a role whose trust depends on
	// the cluster.
	trusts []string
}

// Where the cluster file names given roles.
const (
	givenClusterKey = "cloud.roles.given.cluster"
	givenNodesKey   = "cloud.roles.given.nodes"
	givenAddonsKey  = "cloud.roles.given.addons"
)

// Service principals and actions of trust policies. Sources:
// https://docs.aws.amazon.com/eks/latest/userguide/cluster-iam-role.html,
// https://docs.aws.amazon.com/eks/latest/userguide/auto-cluster-iam-role.html and
// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
const (
	eksService  = "eks.amazonaws.com"
	podsService = "pods.eks.amazonaws.com"
	tagSession  = "sts:TagSession"
)

// givenRoles are all of the file, in a stable order.
func givenRoles(c *config.Cluster, partition string) []given {
	var out []given
	add := func(of, key, arn string, trusts ...string) {
		if arn != "" {
			out = append(out, given{of, key, arn, trusts})
		}
	}
	roles := c.Cloud.Roles.Given
	controlPlane := []string{eksService}
	if c.Kubernetes.Auto() {
		controlPlane = append(controlPlane, tagSession)
	}
	instances := identity.EC2(partition)[0] // in China the other one begins with it
	add("the control plane", givenClusterKey, roles.Cluster, controlPlane...)
	add("the nodes", givenNodesKey, roles.Nodes, instances)
	for _, name := range slices.Sorted(maps.Keys(roles.Addons)) {
		var trusts []string
		if slices.ContainsFunc(c.Addons.Names(), func(addon string) bool { return name == config.AddonRole(addon, config.NodeIdentity) }) {
			trusts = []string{instances}
		}
		add("the addon "+name, givenAddonsKey, roles.Addons[name], trusts...)
	}
	for _, a := range c.Kubernetes.Addons {
		if a.Identity != nil {
			add("EKS's addon "+a.Name, "identity.roleArn", a.Identity.RoleARN)
		}
	}
	for _, s := range c.Services {
		switch {
		case s.Identity == nil:
		case s.Identity.Mode == config.PodIdentity:
			add("the service "+s.Name, "identity.roleArn", s.Identity.RoleARN, podsService, tagSession)
		default:
			add("the service "+s.Name, "identity.roleArn", s.Identity.RoleARN)
		}
	}
	return out
}

// checkGiven looks the roles up that others own, before anything is made: EKS would refuse
// some of them only after minutes, and pods would start without their rights.
func checkGiven(ctx *pulumi.Context, c *config.Cluster, partition string, provider pulumi.InvokeOption) error {
	for _, g := range givenRoles(c, partition) {
		if err := g.check(ctx, provider); err != nil {
			return err
		}
	}
	return nil
}

func (g given) check(ctx *pulumi.Context, provider pulumi.InvokeOption) error {
	what := fmt.Sprintf("the role %s of %s (%s)", g.arn, g.of, g.key)
	found, err := iam.LookupRole(ctx, &iam.LookupRoleArgs{Name: identity.RoleNameOf(g.arn)}, provider)
	switch {
	case err != nil:
		return fmt.Errorf("look up %s: %w; have its owner make it, or correct the ARN; allow iam:GetRole to the credentials", what, err)
	case found.Arn != g.arn:
		return fmt.Errorf("look up %s: the role of that name is %s; correct the path", what, found.Arn)
	}
	for _, name := range g.trusts {
		if !strings.Contains(found.AssumeRolePolicy, name) {
			return fmt.Errorf("check %s: its trust policy does not name %s; `tombolo roles` prints what its owner has to allow", what, name)
		}
	}
	return nil
}
