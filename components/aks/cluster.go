// Package aks makes an AKS cluster: the control plane with its identities and what these
// may do, and the node pools. Nothing else of the project knows the version of AKS's API.
package aks

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"

	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20240901"
	managedidentity "github.com/pulumi/pulumi-azure-native-sdk/managedidentity/v2/v20230131"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/ready"
	"tombolo/internal/armid"
	"tombolo/internal/kubeversion"
)

const clusterType = "tombolo:aks:Cluster"

// Cluster is an AKS cluster with its nodes. It knows people and programs by Entra only: there
// is no account of its own, and the groups of admins are the only cluster administrators.
type Cluster struct {
	pulumi.ResourceState

	// Name, ID in Azure's Resource Manager, and Version of the cluster.
	Name, ID, Version pulumi.StringOutput
	// Endpoint of the Kubernetes API, and CA, its certificate authority as base64 of PEM.
	Endpoint, CA pulumi.StringOutput
	// OIDCIssuer is the URL of the issuer of service account tokens.
	OIDCIssuer pulumi.StringOutput
	// NodeResourceGroup is the name of the group that AKS has made.
	NodeResourceGroup pulumi.StringOutput
	// KubeletClientID is the client id of the identity by which nodes pull images.
	KubeletClientID pulumi.StringOutput
}

// NewCluster makes a cluster. Its endpoint resolves when the node pools are there.
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
	for _, step := range []func() error{b.makeIdentities, b.makeGrants, b.makeControlPlane, b.makePools} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("cluster %s: %w", name, err)
		}
	}
	b.setOutputs()
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{
		"name": c.Name, "resourceId": c.ID, "version": c.Version, "endpoint": c.Endpoint, "oidcIssuer": c.OIDCIssuer,
		"nodeResourceGroup": c.NodeResourceGroup, "kubeletClientId": c.KubeletClientID,
	})
}

// builder holds what the steps of making a cluster hand to each other.
type builder struct {
	ctx       *pulumi.Context
	name      string
	args      *ClusterArgs
	component *Cluster
	parent    pulumi.ResourceOrInvokeOption

	controlPlane, kubelet *managedidentity.UserAssignedIdentity
	grants                []pulumi.Resource
	cluster               *containerservice.ManagedCluster
	// complete is all that a usable cluster consists of.
	complete []pulumi.Resource
}

// id of a resource of the cluster's group, by which Azure knows it. Names are given, so that
// it is known before.
func (b *builder) id(resourceType, name string) string {
	return armid.Resource(b.args.Subscription, b.args.GroupName, resourceType, name)
}

// makeControlPlane makes the cluster with its first system pool. AKS would take the others
// here, too, and then sets them all when one changes:
// https://github.com/pulumi/pulumi-azure-native/issues/4264
func (b *builder) makeControlPlane() (err error) {
	a := b.args
	system := a.Pools[b.inlinePool()]
	options := []pulumi.ResourceOption{b.parent, pulumi.DependsOn(b.grants), pulumi.Protect(a.Protect)}
	if system.Live == nil {
		options = append(options, pulumi.IgnoreChanges([]string{a.keptOfPools()}))
	}
	plan := "KubernetesOfficial"
	if a.LongTermSupport {
		plan = LongTermSupportPlan
	}
	b.cluster, err = containerservice.NewManagedCluster(b.ctx, b.name+"-cluster", &containerservice.ManagedClusterArgs{
		ResourceName:      pulumi.String(a.Name),
		ResourceGroupName: a.ResourceGroup,
		Location:          pulumi.String(a.Location),
		Tags:              pulumi.ToStringMap(a.Tags),
		DnsPrefix:         pulumi.String(a.Name),
		NodeResourceGroup: pulumi.String(a.NodeResourceGroup),
		KubernetesVersion: pulumi.String(a.Version),
		Sku:               containerservice.ManagedClusterSKUArgs{Name: pulumi.String("Base"), Tier: pulumi.String(cmp.Or(a.Tier, Standard))},
		SupportPlan:       pulumi.String(plan),
		AutoUpgradeProfile: containerservice.ManagedClusterAutoUpgradeProfileArgs{
			UpgradeChannel:       pulumi.String(cmp.Or(a.UpgradeChannel, UpgradePatch)),
			NodeOSUpgradeChannel: pulumi.String(cmp.Or(a.NodeImageChannel, ImagesNodeImage)),
		},
		Identity:               b.identity(),
		IdentityProfile:        b.identityProfile(),
		EnableRBAC:             pulumi.Bool(true),
		DisableLocalAccounts:   pulumi.Bool(true),
		AadProfile:             b.signIn(),
		OidcIssuerProfile:      containerservice.ManagedClusterOIDCIssuerProfileArgs{Enabled: pulumi.Bool(true)},
		SecurityProfile:        workloadIdentity(),
		ApiServerAccessProfile: b.access(),
		NetworkProfile:         b.network(),
		HttpProxyConfig:        b.proxy(),
		AgentPoolProfiles:      containerservice.ManagedClusterAgentPoolProfileArray{b.profile(system)},
	}, options...)
	b.complete = append(b.complete, b.cluster)
	return err
}

// keptOfPools is what stays as the state has it while nothing changes.
func (a *ClusterArgs) keptOfPools() string {
	if a.ListsPools {
		return "agentPoolProfiles"
	}
	return "agentPoolProfiles[0].count"
}

// signIn has Entra say who people are, and Kubernetes what they may: Git decides by roles and
// bindings. Source: https://learn.microsoft.com/azure/aks/azure-ad-rbac
func (b *builder) signIn() containerservice.ManagedClusterAADProfileArgs {
	return containerservice.ManagedClusterAADProfileArgs{
		Managed:             pulumi.Bool(true),
		EnableAzureRBAC:     pulumi.Bool(false),
		TenantID:            pulumi.String(b.args.Tenant),
		AdminGroupObjectIDs: pulumi.ToStringArray(b.args.AdminGroups),
	}
}

func workloadIdentity() containerservice.ManagedClusterSecurityProfileArgs {
	return containerservice.ManagedClusterSecurityProfileArgs{
		WorkloadIdentity: containerservice.ManagedClusterSecurityProfileWorkloadIdentityArgs{Enabled: pulumi.Bool(true)},
	}
}

// access says who reaches the API. A private one has a public name only where it has no
// other. Commands by Azure's Resource Manager would go around both network and Kubernetes'
// own sign-in. Sources: https://learn.microsoft.com/azure/aks/private-clusters and
// https://learn.microsoft.com/azure/aks/access-private-cluster
func (b *builder) access() containerservice.ManagedClusterAPIServerAccessProfileArgs {
	api := b.args.API
	out := containerservice.ManagedClusterAPIServerAccessProfileArgs{
		DisableRunCommand: pulumi.Bool(true), EnablePrivateCluster: pulumi.Bool(api.Private),
	}
	if api.Private {
		out.EnablePrivateClusterPublicFQDN = pulumi.Bool(api.PrivateDNSZone == NoZone)
		out.PrivateDNSZone = pulumi.String(api.PrivateDNSZone)
		return out
	}
	if len(api.AuthorizedRanges) > 0 {
		out.AuthorizedIPRanges = b.ranges()
	}
	return out
}

// ranges lets the cluster's own nodes in beside those that are given: they reach a public API
// over the internet. Source: https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges
func (b *builder) ranges() pulumi.StringArray {
	all := pulumi.ToStringArray(b.args.API.AuthorizedRanges)
	if own := b.args.API.OutboundIP; own != nil {
		all = append(all, pulumi.Sprintf("%s/32", own))
	}
	return all
}

// network is Azure's CNI as an overlay, with Cilium: pods have addresses of their own block,
// and none of the network's. Source: https://learn.microsoft.com/azure/aks/azure-cni-powered-by-cilium
func (b *builder) network() containerservice.ContainerServiceNetworkProfileArgs {
	return containerservice.ContainerServiceNetworkProfileArgs{
		NetworkPlugin:     pulumi.String("azure"),
		NetworkPluginMode: pulumi.String("overlay"),
		NetworkDataplane:  pulumi.String("cilium"),
		NetworkPolicy:     pulumi.String("cilium"),
		LoadBalancerSku:   pulumi.String("standard"),
		OutboundType:      pulumi.String(b.args.Outbound),
		PodCidr:           pulumi.String(b.args.PodCIDR),
		ServiceCidr:       pulumi.String(b.args.ServiceCIDR),
		DnsServiceIP:      pulumi.String(b.args.DNSServiceIP),
	}
}

// proxy is what AKS gives to every node, and to pods by a webhook. Source:
// https://learn.microsoft.com/azure/aks/http-proxy
func (b *builder) proxy() containerservice.ManagedClusterHTTPProxyConfigPtrInput {
	p := b.args.Proxy
	if p == nil {
		return nil
	}
	out := containerservice.ManagedClusterHTTPProxyConfigArgs{
		HttpProxy: pulumi.String(p.URL), HttpsProxy: pulumi.String(p.URL), NoProxy: pulumi.ToStringArray(p.NoProxy),
	}
	if p.CertificateAuthority != "" {
		out.TrustedCa = pulumi.String(base64.StdEncoding.EncodeToString([]byte(p.CertificateAuthority)))
	}
	return out
}

// inlinePool is the place of the pool that is a part of the cluster: the first for the system.
func (b *builder) inlinePool() int {
	return slices.IndexFunc(b.args.Pools, func(p NodePool) bool { return p.System })
}

func (b *builder) setOutputs() {
	c, a := b.component, b.args
	c.Name = ready.After(pulumi.String(a.Name).ToStringOutput(), b.cluster)
	c.ID = ready.After(pulumi.String(b.id(armid.ManagedClusters, a.Name)).ToStringOutput(), b.cluster)
	c.Version = b.cluster.KubernetesVersion.Elem().ApplyT(kubeversion.Minor).(pulumi.StringOutput)
	c.OIDCIssuer = b.cluster.OidcIssuerProfile.IssuerURL().Elem()
	c.NodeResourceGroup = ready.After(pulumi.String(a.NodeResourceGroup).ToStringOutput(), b.cluster)
	c.KubeletClientID = b.kubelet.ClientId
	way := b.wayIn()
	c.CA = way.ca
	c.Endpoint = ready.After(way.server, b.complete...)
}
