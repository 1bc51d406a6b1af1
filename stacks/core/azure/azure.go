// Package azure is the core stack of a cluster in Azure: its resource group, the network, AKS
// and the identities of its services.
package azure

import (
	"fmt"
	"maps"
	"strings"

	azurenative "github.com/pulumi/pulumi-azure-native-sdk/v2"
	"github.com/pulumi/pulumi-azure-native-sdk/v2/utilities"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tombolo/components/aks"
	"tombolo/components/azuregroup"
	"tombolo/components/azurenetwork"
	"tombolo/config"
	"tombolo/internal/armid"
	"tombolo/stacks/core/live"
	"tombolo/stacks/handoff"
	"tombolo/stacks/owner"
)

// Build registers what the cluster consists of and returns the hand-off. It fails before
// anything is made when the credentials are of another tenant or subscription than the
// cluster file's. Had is what the state of the stack had before; a hub needs nothing in
// Azure.
func Build(ctx *pulumi.Context, c, _ *config.Cluster, own owner.Owner, had live.Resources) (handoff.Handoff, error) {
	none := handoff.Handoff{}
	provider, err := NewProvider(ctx, "azure", c.Cloud.Account, own.Before())
	if err != nil {
		return none, err
	}
	if err := Guard(ctx, "cluster file", c.Cloud, provider); err != nil {
		return none, err
	}
	p := &program{ctx: ctx, c: c, had: made{had}, tags: owned(c, own), own: own.Before(), provider: pulumi.Provider(provider)}
	if err := p.refuseStrangers(own); err != nil {
		return none, err
	}
	if err := p.makeGroup(); err != nil {
		return none, err
	}
	if err := p.networkAndCluster(); err != nil {
		return none, err
	}
	clients, err := p.makeIdentities()
	if err != nil {
		return none, err
	}
	outputs, err := p.makeAddons()
	if err != nil {
		return none, err
	}
	h := p.handOff().WithMaps(clients, outputs)
	h.Azure.GitClientID, err = p.makeGitIdentity()
	return h, err
}

// program is one run.
type program struct {
	ctx      *pulumi.Context
	c        *config.Cluster
	had      made
	tags     map[string]string
	own      pulumi.ResourceOption
	provider pulumi.ResourceOrInvokeOption

	// group is the name of the resource group, once it is there; nil when nothing is made in
	// it.
	group   pulumi.StringInput
	network *azurenetwork.Network
	cluster *aks.Cluster
}

// NewProvider makes the Azure provider of a subscription: never the default one, whose
// subscription comes from wherever the program happens to run. Who it signs in as, and by
// that the tenant, is the environment's.
func NewProvider(ctx *pulumi.Context, name, subscription string, opts ...pulumi.ResourceOption) (*azurenative.Provider, error) {
	return azurenative.NewProvider(ctx, name, &azurenative.ProviderArgs{SubscriptionId: pulumi.String(subscription)}, opts...)
}

// Guard checks that the credentials are of the tenant and the subscription that the file, such as
// "cluster file", allows.
func Guard(ctx *pulumi.Context, file string, cloud config.Cloud, provider *azurenative.Provider) error {
	allowed := fmt.Sprintf("subscription %s of tenant %s only", cloud.Account, cloud.Tenant)
	const credentials = "use credentials of that tenant, by az login or the environment's ARM_TENANT_ID, ARM_CLIENT_ID and what goes with them"
	var caller struct {
		SubscriptionID string `pulumi:"subscriptionId"`
		TenantID       string `pulumi:"tenantId"`
	}
	// By the function's name: the package of the SDK takes all of Azure's authorization along.
	err := ctx.Invoke("azure-native:authorization:getClientConfig", nil, &caller, utilities.PkgInvokeDefaultOpts([]pulumi.InvokeOption{pulumi.Provider(provider)})...)
	if status.Code(err) == codes.Canceled {
		// The provider refused its configuration, and has said why itself.
		return fmt.Errorf("the Azure provider did not start; the %s allows %s: %s, or correct cloud.tenant and cloud.account", file, allowed, credentials)
	}
	switch {
	case err != nil:
		return fmt.Errorf("find out the tenant of the Azure credentials (the %s allows %s): %w; %s", file, allowed, err, credentials)
	case !strings.EqualFold(caller.TenantID, cloud.Tenant):
		return fmt.Errorf("the Azure credentials are of tenant %s, but the %s allows %s only; %s, or correct cloud.tenant", caller.TenantID, file, cloud.Tenant, credentials)
	case !strings.EqualFold(caller.SubscriptionID, cloud.Account):
		return fmt.Errorf("the Azure credentials are of subscription %s, but the %s allows %s only; use credentials of %s or correct cloud.account",
			caller.SubscriptionID, file, cloud.Account, cloud.Account)
	}
	return nil
}

// owned are the tags with those of the owner. The provider puts no tags on by itself.
func owned(c *config.Cluster, own owner.Owner) map[string]string {
	all := c.AllTags()
	maps.Copy(all, own.Tags())
	return all
}

// makeGroup makes the resource group, unless nothing goes into it.
func (p *program) makeGroup() error {
	if !p.makesGroup() {
		return nil
	}
	group, err := azuregroup.NewGroup(p.ctx, p.c.Name, &azuregroup.GroupArgs{
		Name: p.c.Cloud.ResourceGroup, Location: p.c.Cloud.Region, Tags: p.tags, Protect: p.c.Protect,
	}, p.provider)
	if err == nil {
		p.group = group.Name
	}
	return err
}

// makesGroup says that core makes something: for an existing cluster, identities of services
// and addons alone.
func (p *program) makesGroup() bool {
	return !p.c.IsExisting() || hasIdentities(p.c)
}

// networkAndCluster makes both, or reads those of the existing cluster that the file names.
func (p *program) networkAndCluster() (err error) {
	if p.c.IsExisting() {
		return p.adopt()
	}
	if p.network, err = p.newNetwork(); err != nil {
		return err
	}
	args, err := clusterArgs(p.c, p.network)
	if err != nil {
		return err
	}
	args.ResourceGroup, args.Tags = p.group, p.tags
	if err := p.keepLive(args); err != nil {
		return err
	}
	if err := p.tellGrants(); err != nil {
		return err
	}
	p.cluster, err = aks.NewCluster(p.ctx, p.c.Name, args, p.provider)
	return err
}

// newNetwork makes the network of the cluster file, or looks up the subnet that it names.
func (p *program) newNetwork() (*azurenetwork.Network, error) {
	if existing := p.c.Network.Existing; existing != nil {
		return p.lookUpSubnet(existing.NodeSubnet, azurenetwork.Outbound(p.c.Network.Outbound))
	}
	args, err := vnetArgs(p.c)
	if err != nil {
		return nil, err
	}
	args.ResourceGroup, args.Tags = p.group, p.tags
	return azurenetwork.NewVNet(p.ctx, p.c.Name, args, p.provider)
}

// lookUpSubnet reads a subnet of others, in another subscription by a provider of its own.
func (p *program) lookUpSubnet(id string, outbound azurenetwork.Outbound) (*azurenetwork.Network, error) {
	provider, err := p.providerOf(id, "azure-network")
	if err != nil {
		return nil, err
	}
	return azurenetwork.NewExisting(p.ctx, p.c.Name, &azurenetwork.ExistingArgs{SubnetID: id, Outbound: outbound}, provider)
}

// tellGrants warns before the first up of what the owner of the network has to give: the
// identity that it is given to is made by the up, and AKS refuses the cluster without it.
func (p *program) tellGrants() error {
	existing := p.c.Network.Existing
	if _, lives := p.had.First(clusterToken); lives || existing == nil || existing.GrantAccess {
		return nil
	}
	identity := armid.Resource(p.c.Cloud.Account, p.c.Cloud.ResourceGroup, armid.Identities, p.c.Name+"-control-plane")
	scopes := []string{"the subnet"}
	if p.network.RouteTableID != "" {
		scopes = append(scopes, "its route table "+p.network.RouteTableID)
	}
	if zone := p.c.Kubernetes.Endpoint.PrivateDNSZone; strings.HasPrefix(zone, "/") {
		scopes = append(scopes, "the whole network, with which it links the zone "+zone)
	}
	return p.ctx.Log.Warn(fmt.Sprintf("AKS makes the cluster only when its identity %s has the role Network Contributor on %s: have the network's owner give it as soon as the up has made the identity, "+
		"and run up again; or set network.existing.grantAccess, and core gives it", identity, strings.Join(scopes, " and on ")), nil)
}

// handOff is what bootstrap gets, but for what the identities of workloads are.
func (p *program) handOff() handoff.Handoff {
	known := func(text string) pulumi.StringOutput { return pulumi.String(text).ToStringOutput() }
	cloud, net, cluster := p.c.Cloud, p.network, p.cluster
	return handoff.Handoff{
		Cloud:           string(config.Azure),
		ClusterName:     cluster.Name,
		ClusterID:       cluster.ID,
		ClusterVersion:  cluster.Version,
		ClusterEndpoint: cluster.Endpoint,
		ClusterCA:       cluster.CA,
		Region:          known(cloud.Region),
		OIDCIssuer:      cluster.OIDCIssuer,
		Azure: handoff.Azure{
			SubscriptionID:    known(cloud.Account),
			TenantID:          known(cloud.Tenant),
			ResourceGroup:     known(cloud.ResourceGroup),
			NodeResourceGroup: cluster.NodeResourceGroup,
			VNetID:            net.VNetID,
			VNetCIDR:          known(net.CIDR()),
			NodeSubnetID:      net.SubnetID,
			KubeletClientID:   cluster.KubeletClientID,
		},
	}
}
