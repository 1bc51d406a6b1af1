// Package aks makes an AKS cluster: the control plane with its identities and what these
// may do, and the node pools. Nothing else of the project knows the version of AKS's API.
package aks

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20240901"
	managedidentity "github.com/pulumi/pulumi-azure-native-sdk/managedidentity/v2/v20230131"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"sigs.k8s.io/yaml"

	"tombolo/components/azureidentity"
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
		options = append(options, pulumi.IgnoreChanges([]string{"agentPoolProfiles"}))
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
		SecurityProfile:        b.security(),
		ApiServerAccessProfile: b.access(),
		NetworkProfile:         b.network(),
		HttpProxyConfig:        b.proxy(),
		AgentPoolProfiles:      b.profiles(system),
	}, options...)
	b.complete = append(b.complete, b.cluster)
	return err
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

// security lets pods have identities, and encrypts Secrets by the key. A cluster that had one is told
// that it has none: what an update leaves out stays. Source:
// https://learn.microsoft.com/azure/aks/use-kms-etcd-encryption
func (b *builder) security() containerservice.ManagedClusterSecurityProfileArgs {
	out := containerservice.ManagedClusterSecurityProfileArgs{
		WorkloadIdentity: containerservice.ManagedClusterSecurityProfileWorkloadIdentityArgs{Enabled: pulumi.Bool(true)},
	}
	switch key := b.args.SecretsKey; {
	case key != nil && !key.Off:
		out.AzureKeyVaultKms = containerservice.AzureKeyVaultKmsArgs{
			Enabled: pulumi.Bool(true), KeyId: pulumi.String(key.ID), KeyVaultNetworkAccess: pulumi.String("Public"),
		}
	case b.args.HadSecretsKey:
		out.AzureKeyVaultKms = containerservice.AzureKeyVaultKmsArgs{Enabled: pulumi.Bool(false)}
	}
	return out
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

// proxy is what AKS gives to every node, and to pods by a webhook. Some versions of AKS refuse a URL
// without the slash at its end, with HTTPProxyWrongUrlError. Sources:
// https://learn.microsoft.com/azure/aks/http-proxy, https://github.com/Azure/AKS/issues/5561 and
// https://github.com/Azure/AKS/issues/4574
func (b *builder) proxy() containerservice.ManagedClusterHTTPProxyConfigPtrInput {
	p := b.args.Proxy
	if p == nil {
		return nil
	}
	url := pulumi.String(strings.TrimSuffix(p.URL, "/") + "/")
	out := containerservice.ManagedClusterHTTPProxyConfigArgs{HttpProxy: url, HttpsProxy: url, NoProxy: pulumi.ToStringArray(p.NoProxy)}
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

// kubeletIdentity is the key of the kubelet's identity in a cluster's profile of identities.
const kubeletIdentity = "kubeletidentity"

func (b *builder) controlPlaneName() string { return b.args.Name + "-control-plane" }
func (b *builder) kubeletName() string      { return b.args.Name + "-kubelet" }
func (b *builder) controlPlaneID() string   { return b.id(armid.Identities, b.controlPlaneName()) }
func (b *builder) kubeletID() string        { return b.id(armid.Identities, b.kubeletName()) }

// makeIdentities makes that of the control plane and that of the kubelets.
func (b *builder) makeIdentities() (err error) {
	if b.controlPlane, err = b.makeIdentity("control-plane", b.controlPlaneName()); err != nil {
		return err
	}
	b.kubelet, err = b.makeIdentity("kubelet", b.kubeletName())
	return err
}

func (b *builder) makeIdentity(suffix, name string) (*managedidentity.UserAssignedIdentity, error) {
	return managedidentity.NewUserAssignedIdentity(b.ctx, b.name+"-"+suffix, &managedidentity.UserAssignedIdentityArgs{
		ResourceName: pulumi.String(name), ResourceGroupName: b.args.ResourceGroup,
		Location: pulumi.String(b.args.Location), Tags: pulumi.ToStringMap(b.args.Tags),
	}, b.parent)
}

// makeGrants gives the control plane's identity what AKS wants it to have before the cluster
// is there. Sources: "Bring your own control plane identity" and "kubelet identity" in
// https://learn.microsoft.com/azure/aks/use-managed-identity, for the subnet
// https://learn.microsoft.com/azure/aks/configure-azure-cni#prerequisites, for the route table
// https://learn.microsoft.com/azure/aks/egress-outboundtype, for a key of one's own
// https://learn.microsoft.com/azure/aks/use-kms-etcd-encryption, and for a DNS zone of one's own
// https://learn.microsoft.com/azure/aks/private-clusters.
func (b *builder) makeGrants() error {
	a := b.args
	if err := b.grant("kubelet", azureidentity.ManagedIdentityOperator, b.kubeletID(), ready.After(pulumi.String(b.kubeletID()).ToStringOutput(), b.kubelet)); err != nil {
		return err
	}
	if a.GrantSubnet {
		if err := b.grant("subnet", azureidentity.NetworkContributor, a.SubnetID, a.SubnetReady); err != nil {
			return err
		}
		if err := b.grant("routes", azureidentity.NetworkContributor, a.RouteTableID, nil); err != nil {
			return err
		}
	}
	if key := a.SecretsKey; key != nil {
		if err := b.grant("secrets", azureidentity.KeyVaultCryptoUser, key.VaultID, nil); err != nil {
			return err
		}
	}
	zone := a.API.zone()
	if err := b.grant("zone", azureidentity.PrivateDNSZoneContributor, zone, nil); err != nil {
		return err
	}
	if zone == "" {
		return nil
	}
	// AKS links the zone with the network, which is there when its subnet is.
	network := a.SubnetReady.ToStringOutput().ApplyT(func(string) string { return a.VNetID }).(pulumi.StringOutput)
	return b.grant("network", azureidentity.NetworkContributor, a.VNetID, network)
}

// grant gives the control plane's identity a role on a scope; none on the scope "". ready is
// the scope once it is there; nil when it is not made here.
func (b *builder) grant(suffix, role, scope string, ready pulumi.StringInput) error {
	if scope == "" {
		return nil
	}
	made, err := azureidentity.NewAssignment(b.ctx, b.name+"-control-plane-"+suffix, &azureidentity.AssignmentArgs{
		Scope: scope, ScopeReady: ready, RoleDefinitionID: azureidentity.RoleDefinitionID(scope, role),
		IdentityID: b.controlPlaneID(), PrincipalID: b.controlPlane.PrincipalId,
	}, b.parent)
	b.grants = append(b.grants, made)
	return err
}

func (b *builder) identity() containerservice.ManagedClusterIdentityArgs {
	return containerservice.ManagedClusterIdentityArgs{
		Type:                   containerservice.ResourceIdentityTypeUserAssigned,
		UserAssignedIdentities: pulumi.StringArray{ready.After(pulumi.String(b.controlPlaneID()).ToStringOutput(), b.controlPlane)},
	}
}

func (b *builder) identityProfile() containerservice.UserAssignedIdentityMap {
	return containerservice.UserAssignedIdentityMap{kubeletIdentity: containerservice.UserAssignedIdentityArgs{
		ResourceId: ready.After(pulumi.String(b.kubeletID()).ToStringOutput(), b.kubelet),
		ClientId:   b.kubelet.ClientId,
		ObjectId:   b.kubelet.PrincipalId,
	}}
}

// way is how the Kubernetes API is reached.
type way struct{ server, ca pulumi.StringOutput }

// wayIn asks AKS for the kubeconfig of a user, and takes server and certificate authority of
// it. Of a cluster with Entra it has no credentials, but a program that gets some; the answer
// is a secret all the same, and nothing else of it goes on.
func (b *builder) wayIn() way {
	args := containerservice.ListManagedClusterUserCredentialsOutputArgs{
		ResourceGroupName: pulumi.String(b.args.GroupName),
		// Of the id, so that a preview without a cluster does not ask.
		ResourceName: b.cluster.ID().ApplyT(func(pulumi.ID) string { return b.args.Name }).(pulumi.StringOutput),
	}
	if kind := b.args.API.fqdn(); kind != "" {
		args.ServerFqdn = pulumi.String(kind)
	}
	answer := containerservice.ListManagedClusterUserCredentialsOutput(b.ctx, args, b.parent)
	part := func(take func(endpoint) string) pulumi.StringOutput {
		found := pulumi.ToSecret(answer).ApplyT(func(v any) (string, error) {
			e, err := endpointOf(v.(containerservice.ListManagedClusterUserCredentialsResult).Kubeconfigs)
			return take(e), err
		})
		return pulumi.Unsecret(found).(pulumi.StringOutput)
	}
	return way{
		server: part(func(e endpoint) string { return e.Server }),
		ca:     part(func(e endpoint) string { return e.CA }),
	}
}

// fqdn is which name of the API is wanted: a private one without a zone has a public name only.
func (a API) fqdn() string {
	if a.Private && a.PrivateDNSZone == NoZone {
		return "public"
	}
	return ""
}

// endpoint is what is taken of a kubeconfig.
type endpoint struct {
	Server string `json:"server"`
	CA     string `json:"certificate-authority-data"`
}

var errNoEndpoint = errors.New("AKS answered with a kubeconfig without server or certificate authority; run up again")

// endpointOf reads the first kubeconfig of an answer. No error holds any of it.
func endpointOf(answer []containerservice.CredentialResultResponse) (endpoint, error) {
	if len(answer) == 0 {
		return endpoint{}, errNoEndpoint
	}
	text, err := base64.StdEncoding.DecodeString(answer[0].Value)
	if err != nil {
		return endpoint{}, errNoEndpoint
	}
	var config struct {
		Clusters []struct {
			Cluster endpoint `json:"cluster"`
		} `json:"clusters"`
	}
	if yaml.Unmarshal(text, &config) != nil || len(config.Clusters) == 0 {
		return endpoint{}, errNoEndpoint
	}
	found := config.Clusters[0].Cluster
	if found.Server == "" || found.CA == "" {
		return endpoint{}, errNoEndpoint
	}
	return found, nil
}
