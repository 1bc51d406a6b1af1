package azure

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/aks"
	"tombolo/components/azureidentity"
	"tombolo/components/azurenetwork"
	"tombolo/config"
	"tombolo/config/azurefacts"
	"tombolo/internal/armid"
	"tombolo/internal/kubeversion"
	"tombolo/stacks/core/live"
)

// This file translates the cluster file into the components' arguments.

func vnetArgs(c *config.Cluster) (*azurenetwork.VNetArgs, error) {
	nodes, err := config.NodeSubnetCIDR(c.Network.CIDR)
	if err != nil {
		return nil, err
	}
	return &azurenetwork.VNetArgs{
		Name: c.Name, Subscription: c.Cloud.Account, Location: c.Cloud.Region, GroupName: c.Cloud.ResourceGroup,
		ServiceEndpoints: serviceEndpoints(c),
		CIDR:             c.Network.CIDR, NodeCIDR: nodes, NATGateway: c.Network.Outbound == config.OutboundNATGateway,
		Protect: c.Protect,
	}, nil
}

// serviceEndpoints are those of the services that let the nodes' subnet in.
func serviceEndpoints(c *config.Cluster) []string {
	var out []string
	for _, needs := range c.AddonNeeds() {
		if needs.Vault.IsMade() {
			out = append(out, "Microsoft.KeyVault")
		}
		if needs.Container.IsMade() {
			out = append(out, "Microsoft.Storage")
		}
	}
	return out
}

// tiers, channels and ways out as AKS spells them.
var (
	tiers    = map[config.Tier]aks.Tier{config.FreeTier: aks.Free, config.StandardTier: aks.Standard, config.PremiumTier: aks.Premium}
	channels = map[config.UpgradeChannel]aks.UpgradeChannel{
		config.NoUpgrades: aks.UpgradeNone, config.PatchUpgrades: aks.UpgradePatch,
		config.StableUpgrades: aks.UpgradeStable, config.RapidUpgrades: aks.UpgradeRapid,
	}
	images = map[config.ImageChannel]aks.NodeImageChannel{
		config.NoImages: aks.ImagesNone, config.UnmanagedImages: aks.ImagesUnmanaged,
		config.SecurityPatches: aks.ImagesSecurity, config.NodeImageChannel: aks.ImagesNodeImage,
	}
	outbounds = map[config.Outbound]aks.Outbound{
		config.OutboundLoadBalancer: aks.OutboundLoadBalancer, config.OutboundNATGateway: aks.OutboundNATGateway, config.OutboundRoutes: aks.OutboundRoutes,
	}
	systems = map[config.OS]string{config.AzureLinux: "AzureLinux", config.Ubuntu: "Ubuntu"}
)

func clusterArgs(c *config.Cluster, net *azurenetwork.Network) (*aks.ClusterArgs, error) {
	k := c.Kubernetes
	services, err := serviceCIDR(c, net)
	if err != nil {
		return nil, err
	}
	args := &aks.ClusterArgs{
		Name: c.Name, Subscription: c.Cloud.Account, Tenant: c.Cloud.Tenant, Location: c.Cloud.Region,
		GroupName: c.Cloud.ResourceGroup, NodeResourceGroup: k.NodeResourceGroup,
		Version: k.Version, NodeVersion: k.NodeVersion,
		Tier: tiers[k.Tier], LongTermSupport: k.Support == config.ExtendedSupport,
		UpgradeChannel: channels[k.Upgrades.Kubernetes], NodeImageChannel: images[k.Upgrades.NodeImages],
		API: api(k.Endpoint, net), Outbound: outbounds[c.Network.Outbound], Proxy: proxy(c),
		PodCIDR: k.PodCIDR, ServiceCIDR: services.String(), DNSServiceIP: dnsAddress(services),
		GrantSubnet: true, Protect: c.Protect,
	}
	if s := k.SecretsEncryption; s.KeyID != "" {
		args.SecretsKey = &aks.SecretsKey{ID: s.KeyID, VaultID: s.Vault, Off: !*s.Enabled}
	}
	args.SubnetReady = net.SubnetID
	if e := c.Network.Existing; e != nil {
		args.SubnetID, args.GrantSubnet, args.RouteTableID = e.NodeSubnet, e.GrantAccess, net.RouteTableID
		if subnet, err := armid.ParseSubnet(e.NodeSubnet); err == nil && e.GrantAccess {
			args.VNetID = subnet.NetworkID()
		}
	} else {
		args.VNetID = armid.Resource(c.Cloud.Account, c.Cloud.ResourceGroup, armid.VirtualNetworks, c.Name)
		args.SubnetID = armid.Subnet(c.Cloud.Account, c.Cloud.ResourceGroup, c.Name, azurenetwork.SubnetName(c.Name))
	}
	for _, admin := range k.Admins {
		args.AdminGroups = append(args.AdminGroups, admin.Group)
	}
	for _, g := range k.NodeGroups {
		args.Pools = append(args.Pools, nodePool(g))
	}
	return args, nil
}

// api is who reaches the Kubernetes API. AKS takes no block for the whole world: without any,
// it is open.
func api(e config.Endpoint, net *azurenetwork.Network) aks.API {
	if e.Private == nil || *e.Private {
		return aks.API{Private: true, PrivateDNSZone: e.PrivateDNSZone}
	}
	out := aks.API{}
	if !slices.Contains(e.AllowedCIDRs, everywhere) {
		out.AuthorizedRanges = e.AllowedCIDRs
	}
	if net.OutboundIP.OutputState != nil {
		out.OutboundIP = net.OutboundIP
	}
	return out
}

const everywhere = "0.0.0.0/0"

// proxy of the nodes; nil without one. AKS refuses names with a dot at the end, which Flux's
// controllers alone ask for: they have the list of the file from bootstrap, and AKS leaves the
// variables of a pod as they are. Sources: https://github.com/fluxcd/kustomize-controller/issues/1623
// and https://github.com/Azure/AKS/issues/2887
func proxy(c *config.Cluster) *aks.Proxy {
	e := c.NodeEgress()
	if e.Proxy == "" {
		return nil
	}
	direct := slices.DeleteFunc(e.NoProxy, func(s string) bool { return strings.HasSuffix(s, ".") })
	return &aks.Proxy{URL: e.Proxy, NoProxy: direct, CertificateAuthority: e.CertificateAuthority}
}

// serviceCIDR is the block of the Services: that of the file, which in a network of others is
// held against blocks that only Azure knows.
func serviceCIDR(c *config.Cluster, net *azurenetwork.Network) (netip.Prefix, error) {
	services, err := netip.ParsePrefix(c.Kubernetes.ServiceCIDR)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("kubernetes.serviceCidr: %q is not an IPv4 block", c.Kubernetes.ServiceCIDR)
	}
	pods, err := netip.ParsePrefix(c.Kubernetes.PodCIDR)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("kubernetes.podCidr: %q is not an IPv4 block", c.Kubernetes.PodCIDR)
	}
	for _, block := range net.Blocks {
		of, err := netip.ParsePrefix(block)
		if err != nil {
			continue // of IPv6, or nothing that a cluster could overlap
		}
		for key, own := range map[string]netip.Prefix{"serviceCidr": services, "podCidr": pods} {
			if of.Overlaps(own) {
				return netip.Prefix{}, fmt.Errorf("the network's block %s overlaps %s of kubernetes.%s: set %s in the cluster file to a block outside of %s",
					block, own, key, key, net.CIDR())
			}
		}
	}
	return services, nil
}

// dnsAddress is the tenth address of the Services' block, as AKS takes it by itself.
func dnsAddress(services netip.Prefix) string {
	address := services.Masked().Addr()
	for range 10 {
		address = address.Next()
	}
	return address.String()
}

func nodePool(g config.NodeGroup) aks.NodePool {
	out := aks.NodePool{
		Name: g.Name, System: g.Mode == config.SystemPool, VMSize: g.VMSize, OS: systems[g.OS],
		Min: *g.Size.Min, Max: *g.Size.Max, Desired: *g.Size.Desired,
		Spot: g.Capacity == config.Spot, MaxPods: g.MaxPods, DiskGiB: g.DiskGiB, Zones: g.Zones,
		MaxSurge: g.Update.MaxSurge, Labels: g.Labels,
	}
	for _, t := range g.Taints {
		out.Taints = append(out.Taints, aks.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
	}
	return out
}

// hasIdentities says that a service, an addon or the engine gets an identity.
func hasIdentities(c *config.Cluster) bool {
	return slices.ContainsFunc(c.Services, func(s config.Service) bool { return s.Identity != nil }) || len(c.AddonRoles()) > 0 || c.GitOps.ByIdentity()
}

// roleOf is the UUID of a role by its name, or the id of a definition as it is.
func roleOf(nameOrID string) string {
	if id, known := azurefacts.RoleID(nameOrID); known {
		return id
	}
	return nameOrID
}

// makeIdentities makes an identity for each service that asks for one, and returns their
// client ids by service.
func (p *program) makeIdentities() (pulumi.StringMap, error) {
	clients := pulumi.StringMap{}
	for _, s := range p.c.Services {
		if s.Identity == nil {
			continue
		}
		args := p.identityArgs(p.c.Name+"-"+s.Name, s.Namespace, s.Identity.ServiceAccount)
		for _, g := range s.Identity.Roles {
			args.Grants = append(args.Grants, azureidentity.Grant{Role: roleOf(g.Role), Scope: g.Scope})
		}
		made, err := azureidentity.NewIdentity(p.ctx, p.c.Name+"-service-"+s.Name, args, p.provider)
		if err != nil {
			return nil, err
		}
		clients[s.Name] = made.ClientID
	}
	return clients, nil
}

// makeGitIdentity makes the identity by which the engine reads the repository, and returns its client
// id; "" without one. It has no role: Azure DevOps says what it may read.
func (p *program) makeGitIdentity() (pulumi.StringOutput, error) {
	if !p.c.GitOps.ByIdentity() {
		return pulumi.String("").ToStringOutput(), nil
	}
	name := config.GitIdentityName(p.c.Name)
	made, err := azureidentity.NewIdentity(p.ctx, name, p.identityArgs(name, p.c.EngineNamespace(), p.c.GitReader()), p.provider)
	if err != nil {
		return pulumi.StringOutput{}, err
	}
	return made.ClientID, nil
}

// What follows reads node pools from the resources of a live cluster.

// nodePools reads the pool that is a part of the cluster, and then the others.
func (r *reader) nodePools() {
	k := &r.out.Cluster.Kubernetes
	pools := r.pools()
	for _, p := range pools {
		k.NodeGroups = append(k.NodeGroups, r.nodePool(p.name, p.has))
	}
	r.nodeVersion(pools)
	r.knows("Kubernetes.NodeGroups", "NodeGroup.Mode", "NodeGroup.VMSize", "NodeGroup.OS", "NodeGroup.Capacity", "NodeGroup.MaxPods", "NodeGroup.DiskGiB",
		"NodeGroup.Zones", "NodeGroup.Labels", "NodeGroup.Taints", "Size.Min", "Size.Max", "NodeUpdate.MaxSurge")
}

// pool is what the state has of a node pool.
type pool struct {
	name string
	has  live.Props
}

// pools are those within the cluster, and then those with a resource of their own. The cluster
// lists the latter, too, as they were when it was read: before an update of theirs.
func (r *reader) pools() []pool {
	var within, apart []pool
	has := map[string]bool{}
	for _, p := range r.had.OfType(poolToken) {
		name := strings.TrimPrefix(p.Name, r.out.Cluster.Name+"-pool-")
		has[name] = true
		apart = append(apart, pool{name, p.Outputs})
	}
	for _, p := range r.cluster.Items("agentPoolProfiles") {
		if name := p.Text("name"); !has[name] {
			within = append(within, pool{name, p})
		}
	}
	return append(within, apart...)
}

// nodePool is a pool as its resource tells it, without what AKS puts on nodes of spot capacity.
func (r *reader) nodePool(name string, pool live.Props) config.NodeGroup {
	smallest, largest := pool.Number("minCount"), pool.Number("maxCount")
	out := config.NodeGroup{
		Name: name, Mode: config.UserPool, VMSize: pool.Text("vmSize"), OS: inverse(systems, pool.Text("osSKU")),
		Size: config.Size{Min: &smallest, Max: &largest}, Capacity: config.OnDemand,
		MaxPods: pool.Number("maxPods"), DiskGiB: pool.Number("osDiskSizeGB"), Zones: pool.Texts("availabilityZones"),
		Labels: pool.In("nodeLabels").Map(), Update: config.NodeUpdate{MaxSurge: pool.In("upgradeSettings").Text("maxSurge")},
	}
	if pool.Text("mode") == "System" {
		out.Mode = config.SystemPool
	}
	for _, text := range pool.Texts("nodeTaints") {
		out.Taints = append(out.Taints, taint(text))
	}
	if pool.Text("scaleSetPriority") != "Spot" {
		return out
	}
	out.Capacity = config.Spot
	delete(out.Labels, aks.SpotKey)
	for i, t := range out.Taints {
		if t.Key == aks.SpotKey {
			out.Taints = append(out.Taints[:i:i], out.Taints[i+1:]...)
			break
		}
	}
	if file := r.fileGroup(name); file.Update.MaxSurge == "" { // AKS may say what it does not use
		out.Update.MaxSurge = ""
	}
	return out
}

// fileGroup is the group of the file with that name; the zero NodeGroup when there is none.
func (r *reader) fileGroup(name string) config.NodeGroup {
	for _, g := range r.file.Kubernetes.NodeGroups {
		if g.Name == name {
			return g
		}
	}
	return config.NodeGroup{}
}

// taint of AKS's key=value:effect.
func taint(text string) config.Taint {
	pair, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(pair, "=")
	return config.Taint{Key: key, Value: value, Effect: config.TaintEffect(effect)}
}

// nodeVersion is the oldest of the pools'. It is left out, as in the file, when the pools have
// the control plane's version or the one that the file wants for them.
func (r *reader) nodeVersion(pools []pool) {
	k := &r.out.Cluster.Kubernetes
	var oldest string
	for _, p := range pools {
		version := kubeversion.Minor(p.has.Text("orchestratorVersion"))
		if version != "" && (oldest == "" || config.CompareMinors(version, oldest) < 0) {
			oldest = version
		}
	}
	r.out.NodeVersion = oldest
	if oldest == "" {
		return
	}
	oldest = r.followed(oldest, r.file.Kubernetes.Nodes())
	if r.file.Kubernetes.NodeVersion != "" || oldest != k.Version && oldest != r.file.Kubernetes.Version {
		k.NodeVersion = oldest
	}
	r.knows("Kubernetes.NodeVersion")
}
