// Package eks makes an EKS cluster: the control plane by the pulumi-eks
// component, and around it the encryption key, log group, roles, OIDC
// provider, access entries, node groups and addons.
package eks

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi-eks/sdk/v2/go/eks/utilities"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/previewers"
	"tombolo/components/ready"
)

const clusterType = "tombolo:eks:Cluster"

// componentType is that of the pulumi-eks component. Its inputs are given by name: the types in its
// SDK take those of Kubernetes and five services along, a tenth of the program.
// https://www.pulumi.com/registry/packages/eks/api-docs/cluster
const componentType = "eks:index:Cluster"

// remoteCluster is the component, with what is used of its outputs.
type remoteCluster struct {
	pulumi.ResourceState

	EksCluster awseks.ClusterOutput `pulumi:"eksCluster"`
}

// Cluster is an EKS cluster with its nodes.
//
// The identity that creates it is a cluster administrator by an access entry of its own,
// Creator in the arguments: bootstrap runs as that identity right afterwards.
type Cluster struct {
	pulumi.ResourceState

	// Name, ARN and Version of the cluster.
	Name, ARN, Version pulumi.StringOutput
	// Endpoint of the Kubernetes API, and CA, its certificate authority as
	// base64 of PEM.
	Endpoint, CA pulumi.StringOutput
	// OIDCIssuer is the issuer's URL, OIDCProviderARN the IAM provider for it.
	OIDCIssuer, OIDCProviderARN pulumi.StringOutput
	// SecurityGroupID of the group that EKS makes for control plane and nodes.
	SecurityGroupID pulumi.StringOutput
	// NodeRoleARN is the role of all node groups.
	NodeRoleARN pulumi.StringOutput
}

// NewCluster makes a cluster. Its outputs, the endpoint among them, resolve
// when node groups and addons are there.
func NewCluster(ctx *pulumi.Context, name string, args *ClusterArgs, opts ...pulumi.ResourceOption) (*Cluster, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	c := &Cluster{}
	inputs := pulumi.Map{"name": pulumi.String(args.Name), "version": pulumi.String(args.Version)}
	if err := ctx.RegisterComponentResourceV2(clusterType, name, inputs, c, opts...); err != nil {
		return nil, fmt.Errorf("register cluster %s: %w", name, err)
	}
	b := &builder{ctx: ctx, name: name, args: args, component: c, parent: pulumi.Parent(c)}
	for _, step := range []func() error{
		b.makeRoles, b.makeKey, b.makeLogGroup, b.makeControlPlane, b.makeSecurityGroupTags, b.makePrivateAccess, b.makeOIDCProvider,
		b.makeAccess, b.makeEarlyAddons, b.makeNodeGroups, b.makeLateAddons, b.makeIdentityProvider,
	} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("cluster %s: %w", name, err)
		}
	}
	b.setOutputs()
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{
		"name": c.Name, "arn": c.ARN, "version": c.Version, "endpoint": c.Endpoint,
		"oidcIssuer": c.OIDCIssuer, "oidcProviderArn": c.OIDCProviderARN,
		"securityGroupId": c.SecurityGroupID, "nodeRoleArn": c.NodeRoleARN,
	})
}

// builder holds what the steps of making a cluster hand to each other.
type builder struct {
	ctx       *pulumi.Context
	name      string
	args      *ClusterArgs
	component *Cluster
	parent    pulumi.ResourceOption

	clusterRole                   *iam.Role
	nodeRoleARN                   pulumi.StringOutput
	clusterPolicies, nodePolicies []pulumi.Resource
	keyARN                        pulumi.StringPtrInput
	logs                          pulumi.Resource
	cluster                       awseks.ClusterOutput
	oidc                          *iam.OpenIdConnectProvider
	earlyAddons                   []pulumi.Resource
	// complete is all that a usable cluster consists of.
	complete []pulumi.Resource
}

// makeControlPlane runs the pulumi-eks component for the control plane only:
// no nodes, no OIDC provider and no CNI of its own. Of its outputs only the
// cluster is used; its kubeconfig is left where it is.
func (b *builder) makeControlPlane() error {
	inputs := pulumi.Map{
		"name":                   pulumi.String(b.args.Name),
		"version":                pulumi.String(b.args.Version),
		"vpcId":                  b.args.VPCID.ToStringOutput(),
		"subnetIds":              b.args.ControlPlaneSubnetIDs,
		"authenticationMode":     pulumi.String("API"),
		"serviceRole":            b.clusterRole,
		"instanceRoles":          iam.RoleArray{},
		"skipDefaultNodeGroup":   pulumi.Bool(true),
		"useDefaultVpcCni":       pulumi.Bool(true),
		"createOidcProvider":     pulumi.Bool(false),
		"endpointPrivateAccess":  pulumi.Bool(b.args.PrivateEndpoint),
		"endpointPublicAccess":   pulumi.Bool(b.args.PublicEndpoint),
		"enabledClusterLogTypes": pulumi.ToStringArray(b.args.LogTypes),
	}
	if b.keyARN != nil {
		inputs["encryptionConfigKeyArn"] = b.keyARN
	}
	if b.args.PublicEndpoint {
		inputs["publicAccessCidrs"] = pulumi.ToStringArray(b.args.PublicCIDRs)
	}
	if b.args.ServiceCIDR != "" {
		inputs["kubernetesServiceIpAddressRange"] = pulumi.String(b.args.ServiceCIDR)
	}
	if b.args.Profile != "" {
		inputs["providerCredentialOpts"] = pulumi.Map{"profileName": pulumi.String(b.args.Profile)}
	}
	before := append([]pulumi.Resource{b.logs}, b.clusterPolicies...)
	if b.args.AutoMode { // whose nodes come as soon as the control plane is there
		before = append(before, b.nodePolicies...)
	}
	control := &remoteCluster{}
	options := utilities.PkgResourceDefaultOpts([]pulumi.ResourceOption{
		b.parent, pulumi.DependsOn(before), pulumi.Protect(b.args.Protect), pulumi.Transforms([]pulumi.ResourceTransform{b.transform}),
	})
	if err := b.ctx.RegisterRemoteComponentResource(componentType, b.name+"-control-plane", inputs, control, options...); err != nil {
		return err
	}
	b.cluster = control.EksCluster
	b.complete = append(b.complete, control)
	return nil
}

// makeSecurityGroupTags tags the group one key at a time, as EKS has made the
// group and its other tags.
func (b *builder) makeSecurityGroupTags() error {
	for _, key := range slices.Sorted(maps.Keys(b.args.SecurityGroupTags)) {
		tag, err := ec2.NewTag(b.ctx, b.name+"-security-group-tag-"+key, &ec2.TagArgs{
			ResourceId: b.securityGroup(),
			Key:        pulumi.String(key),
			Value:      pulumi.String(b.args.SecurityGroupTags[key]),
		}, b.parent)
		if err != nil {
			return err
		}
		b.complete = append(b.complete, tag)
	}
	return nil
}

// securityGroup is the group that EKS makes. In a preview of a cluster that does
// not exist it is unknown; the SDK, which forgets that a part of an object of
// another program's resource is unknown, says "".
func (b *builder) securityGroup() pulumi.StringOutput {
	return b.cluster.VpcConfig().ClusterSecurityGroupId().Elem().ApplyT(func(id string) pulumi.StringOutput {
		if id == "" && b.ctx.DryRun() {
			return pulumi.UnsafeUnknownOutput(nil).ApplyT(func(any) string { return "" }).(pulumi.StringOutput)
		}
		return pulumi.String(id).ToStringOutput()
	}).(pulumi.StringOutput)
}

// makeOIDCProvider gives no thumbprints: IAM checks EKS's issuers against its
// own store of certificate authorities.
func (b *builder) makeOIDCProvider() error {
	var err error
	b.oidc, err = iam.NewOpenIdConnectProvider(b.ctx, b.name+"-oidc", &iam.OpenIdConnectProviderArgs{
		Url:           b.issuer(),
		ClientIdLists: pulumi.ToStringArray([]string{"sts.amazonaws.com"}),
	}, b.parent)
	return err
}

func (b *builder) issuer() pulumi.StringOutput {
	return b.cluster.Identities().Index(pulumi.Int(0)).Oidcs().Index(pulumi.Int(0)).Issuer().Elem()
}

// makeAccess gives the creator and each admin an access entry, and by an EKS access policy
// the rights of cluster-admin. A previewer has those of a group, which bootstrap makes.
func (b *builder) makeAccess() error {
	creator := b.args.Creator
	if creator != nil {
		if err := b.makeAdmin("creator", creator.arn()); err != nil {
			return err
		}
	}
	for _, admin := range b.args.Admins {
		if creator != nil && admin.PrincipalARN == creator.ARN {
			continue // a principal has one entry
		}
		if err := b.makeAdmin("admin-"+admin.Name, pulumi.String(admin.PrincipalARN)); err != nil {
			return err
		}
	}
	for _, p := range b.args.Previewers {
		entry, err := awseks.NewAccessEntry(b.ctx, b.name+"-previewer-"+p.Name, &awseks.AccessEntryArgs{
			ClusterName:      b.cluster.Name(),
			PrincipalArn:     pulumi.String(p.PrincipalARN),
			Type:             pulumi.String("STANDARD"),
			KubernetesGroups: pulumi.ToStringArray([]string{previewers.Group}),
		}, b.parent)
		if err != nil {
			return err
		}
		b.complete = append(b.complete, entry)
	}
	return b.makeOthersAccess()
}

func (b *builder) makeAdmin(name string, principalARN pulumi.StringInput) error {
	entry, err := awseks.NewAccessEntry(b.ctx, b.name+"-"+name, &awseks.AccessEntryArgs{
		ClusterName:  b.cluster.Name(),
		PrincipalArn: principalARN,
		Type:         pulumi.String("STANDARD"),
	}, b.parent)
	if err != nil {
		return err
	}
	policy, err := awseks.NewAccessPolicyAssociation(b.ctx, b.name+"-"+name, &awseks.AccessPolicyAssociationArgs{
		ClusterName:  b.cluster.Name(),
		PrincipalArn: entry.PrincipalArn,
		PolicyArn:    b.accessPolicy("AmazonEKSClusterAdminPolicy"),
		AccessScope:  awseks.AccessPolicyAssociationAccessScopeArgs{Type: pulumi.String("cluster")},
	}, b.parent)
	if err != nil {
		return err
	}
	b.complete = append(b.complete, policy)
	return nil
}

func (b *builder) setOutputs() {
	c := b.component
	c.Name = b.cluster.Name()
	c.ARN = b.cluster.Arn()
	c.Version = b.cluster.Version()
	c.CA = b.cluster.CertificateAuthority().Data().Elem()
	c.OIDCIssuer = b.issuer()
	c.OIDCProviderARN = b.oidc.Arn
	c.SecurityGroupID = b.securityGroup()
	c.NodeRoleARN = b.nodeRoleARN
	c.Endpoint = ready.After(b.cluster.Endpoint(), b.complete...)
}
