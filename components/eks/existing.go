package eks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/ready"
	"tombolo/internal/names"
)

const existingType = "tombolo:eks:Existing"

// ExistingArgs name a cluster that others own, and say what is added to it.
type ExistingArgs struct {
	// Name of the cluster in EKS.
	Name string
	// Partition of AWS, for the ARNs of AWS's policies.
	Partition string
	// Admins, Previewers and those of Access get access entries.
	Admins, Previewers []Principal
	Access             []Access
	// Entries are what else needs access entries, in words such as "the addon karpenter".
	Entries []string
	// PodIdentity says that something gets its credentials by EKS Pod Identity, for which
	// the cluster needs AWS's agent.
	PodIdentity bool
	// NeedsOIDC says that something gets them by the IAM OIDC provider of the cluster.
	// CreateOIDC makes that provider; else it is looked up. MadeOIDC says that an earlier
	// run has made it.
	NeedsOIDC, CreateOIDC, MadeOIDC bool
}

// Existing is a cluster that others own, as AWS describes it.
type Existing struct {
	*Cluster
	// Version of Kubernetes, major.minor, and Support, STANDARD or EXTENDED.
	Version, Support string
	// VPCID and the SubnetIDs of the control plane.
	VPCID     string
	SubnetIDs []string
}

// NewExisting looks a cluster up, and gives it what is asked for: access entries, and
// its IAM OIDC provider. Nothing of the cluster itself is made or changed, not even a tag;
// destroying the component leaves the cluster as it was. It fails when the cluster does
// not exist, is no usable one or is another Tombolo's, and when it lacks what is needed
// of it.
func NewExisting(ctx *pulumi.Context, name string, args *ExistingArgs, opts ...pulumi.ResourceOption) (*Existing, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("existing cluster %s: %w", name, err)
	}
	c := &Cluster{}
	if err := ctx.RegisterComponentResourceV2(existingType, name, pulumi.Map{"name": pulumi.String(args.Name)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register existing cluster %s: %w", name, err)
	}
	a := &adopter{ctx: ctx, name: name, args: args, parent: pulumi.Parent(c)}
	for _, step := range []func() error{a.lookUp, a.checkAccess, a.checkAgent, a.findProvider, a.findNodeRole, a.makeAccess} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("existing cluster %s: %w", args.Name, err)
		}
	}
	a.setOutputs(c)
	return &Existing{
			Cluster: c, Version: a.found.Version, Support: a.support(),
			VPCID: a.found.VpcConfig.VpcId, SubnetIDs: slices.Sorted(slices.Values(a.found.VpcConfig.SubnetIds)),
		}, ctx.RegisterResourceOutputs(c, pulumi.Map{
			"name": c.Name, "arn": c.ARN, "version": c.Version, "endpoint": c.Endpoint,
			"oidcIssuer": c.OIDCIssuer, "oidcProviderArn": c.OIDCProviderARN, "securityGroupId": c.SecurityGroupID,
		})
}

func (a *ExistingArgs) validate() error {
	if a.Name == "" || a.Partition == "" {
		return errors.New("name and partition are required")
	}
	return nil
}

// adopter holds what the steps hand to each other.
type adopter struct {
	ctx    *pulumi.Context
	name   string
	args   *ExistingArgs
	parent pulumi.ResourceOrInvokeOption

	found    *awseks.LookupClusterResult
	issuer   string
	provider pulumi.StringOutput
	nodeRole string
	added    []pulumi.Resource
}

// lookUp reads the cluster. One that is about to come or to go cannot be worked with.
func (a *adopter) lookUp() error {
	found, err := awseks.LookupCluster(a.ctx, &awseks.LookupClusterArgs{Name: a.args.Name}, a.parent)
	if err != nil {
		return fmt.Errorf("look it up: %w; check kubernetes.existing.name, cloud.region and cloud.account, and allow eks:DescribeCluster to the credentials", err)
	}
	if owner := found.Tags[names.OwnerTag]; owner != "" {
		return fmt.Errorf("it is a cluster that Tombolo made (%s is %s): use its own cluster file and backend", names.OwnerTag, owner)
	}
	if !slices.Contains([]string{"ACTIVE", "UPDATING"}, found.Status) {
		return fmt.Errorf("it is %s: wait until it is ACTIVE", found.Status)
	}
	for _, i := range found.Identities {
		for _, o := range i.Oidcs {
			a.issuer = o.Issuer
		}
	}
	if a.issuer == "" || len(found.CertificateAuthorities) == 0 || found.VpcConfig.VpcId == "" {
		return errors.New("AWS describes it without OIDC issuer, certificate authority or VPC: it is no cluster of EKS's own")
	}
	a.found = found
	return nil
}

// checkAccess refuses access entries where the cluster does not use them: EKS says so only
// when the first is made. Source: "authentication mode" in
// https://docs.aws.amazon.com/eks/latest/userguide/grant-k8s-access.html
func (a *adopter) checkAccess() error {
	wanted := slices.Clone(a.args.Entries)
	if len(a.args.Admins) > 0 {
		wanted = append(wanted, "kubernetes.admins")
	}
	if len(a.args.Previewers) > 0 {
		wanted = append(wanted, "kubernetes.previewers")
	}
	if len(a.args.Access) > 0 {
		wanted = append(wanted, "kubernetes.access")
	}
	mode := "CONFIG_MAP" // of clusters that are older than the modes
	for _, access := range a.found.AccessConfigs {
		mode = access.AuthenticationMode
	}
	if len(wanted) == 0 || mode != "CONFIG_MAP" {
		return nil
	}
	return fmt.Errorf("its authentication mode is %s, and %s needs access entries: have the cluster's owner set API_AND_CONFIG_MAP, "+
		"which cannot be undone, with `aws eks update-cluster-config --name %s --access-config authenticationMode=API_AND_CONFIG_MAP`, or leave that out of the cluster file",
		mode, strings.Join(wanted, " and "), a.args.Name)
}

// agentAddon is AWS's agent of EKS Pod Identity.
const agentAddon = "eks-pod-identity-agent"

// checkAgent refuses Pod Identity without its agent. Nodes of EKS Auto Mode have it:
// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html
func (a *adopter) checkAgent() error {
	auto := slices.ContainsFunc(a.found.ComputeConfigs, func(c awseks.GetClusterComputeConfig) bool { return c.Enabled })
	if !a.args.PodIdentity || auto {
		return nil
	}
	_, err := awseks.LookupAddon(a.ctx, &awseks.LookupAddonArgs{ClusterName: a.args.Name, AddonName: agentAddon}, a.parent)
	if err != nil {
		return fmt.Errorf("look up its addon %s, which a service with identity.mode: pod-identity needs: %w; "+
			"have the cluster's owner add the addon, or use irsa; allow eks:DescribeAddon to the credentials", agentAddon, err)
	}
	return nil
}

// findProvider makes the IAM OIDC provider, or looks it up where something needs it. An
// account has one for an issuer.
func (a *adopter) findProvider() error {
	a.provider = pulumi.String("").ToStringOutput()
	if !a.args.NeedsOIDC && !a.args.CreateOIDC {
		return nil
	}
	there, err := "", error(nil)
	if !a.args.MadeOIDC {
		there, err = a.lookUpProvider()
	}
	switch {
	case !a.args.CreateOIDC && err != nil:
		return fmt.Errorf("look up the IAM OIDC provider of its issuer %s, which roles of service accounts need: %w; if the account has none, "+
			"set kubernetes.existing.createOidcProvider: true, or have the cluster's owner make it; allow iam:ListOpenIDConnectProviders and iam:GetOpenIDConnectProvider to the credentials",
			a.issuer, err)
	case !a.args.CreateOIDC:
		a.provider = pulumi.String(there).ToStringOutput()
		return nil
	case there != "":
		return fmt.Errorf("the account has the IAM OIDC provider %s of its issuer already: take kubernetes.existing.createOidcProvider out of the cluster file", there)
	}
	made, err := iam.NewOpenIdConnectProvider(a.ctx, a.name+"-oidc", &iam.OpenIdConnectProviderArgs{
		Url: pulumi.String(a.issuer), ClientIdLists: pulumi.ToStringArray([]string{"sts.amazonaws.com"}),
	}, a.parent)
	if err != nil {
		return err
	}
	a.provider = made.Arn
	return nil
}

// lookUpProvider is the ARN of the account's provider. AWS lists providers by ARN only, so
// that one that cannot be read is as good as none.
func (a *adopter) lookUpProvider() (string, error) {
	found, err := iam.LookupOpenIdConnectProvider(a.ctx, &iam.LookupOpenIdConnectProviderArgs{Url: &a.issuer}, a.parent)
	if err != nil {
		return "", err
	}
	return found.Arn, nil
}

// findNodeRole is the role of the first managed node group, by name; without one that of EKS
// Auto Mode's nodes, or "".
func (a *adopter) findNodeRole() error {
	groups, err := awseks.GetNodeGroups(a.ctx, &awseks.GetNodeGroupsArgs{ClusterName: a.args.Name}, a.parent)
	if err != nil {
		return fmt.Errorf("list its node groups: %w; allow eks:ListNodegroups to the credentials", err)
	}
	if len(groups.Names) == 0 {
		for _, c := range a.found.ComputeConfigs {
			a.nodeRole = c.NodeRoleArn
		}
		return nil
	}
	first := slices.Min(groups.Names)
	group, err := awseks.LookupNodeGroup(a.ctx, &awseks.LookupNodeGroupArgs{ClusterName: a.args.Name, NodeGroupName: first}, a.parent)
	if err != nil {
		return fmt.Errorf("look up its node group %s: %w; allow eks:DescribeNodegroup to the credentials", first, err)
	}
	a.nodeRole = group.NodeRoleArn
	return nil
}

// makeAccess makes the entries as for a cluster of our own.
func (a *adopter) makeAccess() error {
	cluster := pulumi.String(a.args.Name).ToStringOutput()
	b := &builder{
		ctx: a.ctx, name: a.name, parent: a.parent,
		args:    &ClusterArgs{Partition: a.args.Partition, Admins: a.args.Admins, Previewers: a.args.Previewers, Access: a.args.Access},
		cluster: cluster.ApplyT(func(string) *awseks.Cluster { return &awseks.Cluster{Name: cluster} }).(awseks.ClusterOutput),
	}
	err := b.makeAccess()
	a.added = b.complete
	return err
}

func (a *adopter) support() string {
	for _, policy := range a.found.UpgradePolicies {
		return policy.SupportType
	}
	return ""
}

func (a *adopter) setOutputs(c *Cluster) {
	text := func(value string) pulumi.StringOutput { return pulumi.String(value).ToStringOutput() }
	c.Name, c.ARN, c.Version = text(a.args.Name), text(a.found.Arn), text(a.found.Version)
	c.CA, c.OIDCIssuer, c.OIDCProviderARN = text(a.found.CertificateAuthorities[0].Data), text(a.issuer), a.provider
	c.SecurityGroupID, c.NodeRoleARN = text(a.found.VpcConfig.ClusterSecurityGroupId), text(a.nodeRole)
	c.Endpoint = ready.After(text(a.found.Endpoint), a.added...)
}
