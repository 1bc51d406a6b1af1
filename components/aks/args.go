package aks

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// ClusterArgs are the arguments of a Cluster.
type ClusterArgs struct {
	// Name of the cluster in AKS, at most 54 characters: it starts the name of the API. The
	// identities are <Name>-control-plane and <Name>-kubelet.
	Name string
	// Subscription, Tenant and Location of the cluster.
	Subscription, Tenant, Location string
	// GroupName is the name of the resource group, and ResourceGroup the same once it is
	// there.
	GroupName     string
	ResourceGroup pulumi.StringInput
	// NodeResourceGroup that AKS makes for nodes, disks and load balancers. It goes with the
	// cluster.
	NodeResourceGroup string
	// Version of Kubernetes, major.minor.
	Version string
	// NodeVersion is the version of the node pools, not newer than Version. "" is Version.
	NodeVersion string
	// Tier of the control plane. LongTermSupport needs Premium.
	Tier            Tier
	LongTermSupport bool
	// UpgradeChannel and NodeImageChannel are what AKS upgrades by itself.
	UpgradeChannel   UpgradeChannel
	NodeImageChannel NodeImageChannel
	// API is who reaches the Kubernetes API.
	API API
	// AdminGroups have the rights of cluster-admin: groups of Entra, by their object ids;
	// at least one.
	AdminGroups []string
	// Pools of nodes, at least one for the system.
	Pools []NodePool
	// MovesNodes says that the version of nodes changes, which AKS takes of all pools that live
	// or of none. Leaving are those pools that live and are no longer given.
	MovesNodes bool
	Leaving    []NodePool
	// Outbound is the nodes' way out.
	Outbound Outbound
	// Proxy of the nodes; nil for none.
	Proxy *Proxy
	// SecretsKey encrypts Secrets in etcd; nil for keys of Microsoft's. HadSecretsKey says that the
	// live cluster was told of one before.
	SecretsKey    *SecretsKey
	HadSecretsKey bool
	// PodCIDR and ServiceCIDR are the blocks of pods and Services; DNSServiceIP is an
	// address of ServiceCIDR.
	PodCIDR, ServiceCIDR, DNSServiceIP string
	// SubnetID of the nodes, and SubnetReady the same once it can be used.
	SubnetID    string
	SubnetReady pulumi.StringInput
	// GrantSubnet gives the control plane's identity the right to join the subnet, and
	// RouteTableID, when it is not "", that to write routes there.
	GrantSubnet  bool
	RouteTableID string
	// VNetID of the network, for the right to link a DNS zone of others with it; "" where its
	// owner gives that right.
	VNetID string
	Tags   map[string]string
	// Protect has Pulumi refuse to delete the cluster.
	Protect bool
}

// Tier of a control plane, as AKS spells it.
type Tier string

// The tiers. Source: https://learn.microsoft.com/azure/aks/free-standard-pricing-tiers
const (
	Free     Tier = "Free"
	Standard Tier = "Standard"
	Premium  Tier = "Premium"
)

// LongTermSupportPlan is AKS's name of the plan by which it supports a version for two years.
// Source: https://learn.microsoft.com/azure/aks/long-term-support
const LongTermSupportPlan = "AKSLongTermSupport"

// UpgradeChannel is which versions of Kubernetes AKS upgrades to by itself, as it spells it.
type UpgradeChannel string

// The channels. Source: https://learn.microsoft.com/azure/aks/auto-upgrade-cluster
const (
	UpgradeNone   UpgradeChannel = "none"
	UpgradePatch  UpgradeChannel = "patch"
	UpgradeStable UpgradeChannel = "stable"
	UpgradeRapid  UpgradeChannel = "rapid"
)

// NodeImageChannel is which images AKS gives to nodes by itself, as it spells it.
type NodeImageChannel string

// The channels. Source: https://learn.microsoft.com/azure/aks/auto-upgrade-node-os-image
const (
	ImagesNone      NodeImageChannel = "None"
	ImagesUnmanaged NodeImageChannel = "Unmanaged"
	ImagesSecurity  NodeImageChannel = "SecurityPatch"
	ImagesNodeImage NodeImageChannel = "NodeImage"
)

// Outbound is a way out, as AKS spells it.
type Outbound string

// The ways out. Source: https://learn.microsoft.com/azure/aks/egress-outboundtype
const (
	OutboundLoadBalancer Outbound = "loadBalancer"
	OutboundNATGateway   Outbound = "userAssignedNATGateway"
	OutboundRoutes       Outbound = "userDefinedRouting"
)

// The private DNS zones that are none of one's own.
const (
	SystemZone = "system"
	NoZone     = "none"
)

// API is who reaches the Kubernetes API.
type API struct {
	// Private gives it an address in the network only.
	Private bool
	// PrivateDNSZone of a private API: SystemZone, which AKS makes; NoZone, for a public
	// name of the private address; or the id of a zone that others own.
	PrivateDNSZone string
	// AuthorizedRanges are the IPv4 blocks that reach a public API; none opens it to the
	// world.
	AuthorizedRanges []string
	// OutboundIP is the address of the cluster's own nodes there, which is let in beside
	// them; nil where AKS or others see to that.
	OutboundIP pulumi.StringInput
}

// zone is the id of a zone that others own, "" for the others.
func (a API) zone() string {
	if !a.Private || a.PrivateDNSZone == SystemZone || a.PrivateDNSZone == NoZone {
		return ""
	}
	return a.PrivateDNSZone
}

// Proxy is an HTTP proxy by which nodes reach what is outside.
type Proxy struct {
	// URL of the proxy, http://, for HTTP and HTTPS.
	URL string
	// NoProxy is what is reached directly.
	NoProxy []string
	// CertificateAuthority is what nodes trust beside the public authorities, in PEM; "" for
	// nothing.
	CertificateAuthority string
}

// SecretsKey is a key of a key vault that is open to all networks: by this version of AKS's API the
// control plane reaches no other.
type SecretsKey struct {
	// ID of the key, with its version, and VaultID that of its vault in Azure's Resource Manager.
	ID, VaultID string
	// Off leaves the control plane its role on the vault, for Secrets that were encrypted before.
	Off bool
}

// NodePool is a pool of nodes.
type NodePool struct {
	// Name, unique among the pools, at most 12 small letters and digits.
	Name string
	// System says that the pool is for pods of the system.
	System bool
	VMSize string
	// OS is AzureLinux or Ubuntu, as AKS spells them.
	OS string
	// Min, Max and Desired numbers of nodes. Desired only counts when the pool is made:
	// after that the cluster's autoscaler decides.
	Min, Max, Desired int
	// Live is the number of nodes of a pool that an up changes; nil leaves the number as
	// the state has it. AKS takes the number of each update for the one to have.
	Live *int
	// Spot instead of regular capacity.
	Spot bool
	// MaxPods is the largest number of pods on a node, DiskGiB the size of its disk, in GiB.
	MaxPods, DiskGiB int
	// Zones of the nodes, such as "1"; none leaves it to Azure.
	Zones []string
	// MaxSurge is how many nodes are added while the pool is rolled: a number, or a part
	// such as 10%. "" leaves it to AKS, which adds none to a pool of spot capacity.
	MaxSurge string
	Labels   map[string]string
	Taints   []Taint
}

// Taint of a pool's nodes. Effect is spelled as Kubernetes does.
type Taint struct {
	Key, Value, Effect string
}

func (a *ClusterArgs) validate() error {
	var problems []error
	add := func(format string, v ...any) { problems = append(problems, fmt.Errorf(format, v...)) }
	if a.Name == "" || a.Version == "" || a.Subscription == "" || a.Tenant == "" || a.Location == "" {
		add("name, version, subscription, tenant and location are required")
	}
	if a.GroupName == "" || a.ResourceGroup == nil || a.NodeResourceGroup == "" {
		add("the resource groups of the cluster and of its nodes are required")
	}
	if a.SubnetID == "" || a.SubnetReady == nil {
		add("the subnet of the nodes is required")
	}
	if a.PodCIDR == "" || a.ServiceCIDR == "" || a.DNSServiceIP == "" {
		add("the blocks of pods and Services, and the address of their DNS are required")
	}
	if len(a.AdminGroups) == 0 {
		add("at least one group of admins is required: the cluster has no other account")
	}
	if a.LongTermSupport && a.Tier != Premium {
		add("long-term support needs the tier %s", Premium)
	}
	if k := a.SecretsKey; k != nil && (k.ID == "" || k.VaultID == "") {
		add("a key for Secrets needs its id and its vault's")
	}
	if a.API.Private && a.API.PrivateDNSZone == "" {
		add("a private API needs a DNS zone: %s, %s, or the id of one", SystemZone, NoZone)
	}
	if a.API.Private && len(a.API.AuthorizedRanges) > 0 {
		add("a private API has no ranges that reach it; AKS refuses them")
	}
	return errors.Join(append(problems, a.validatePools()...)...)
}

func (a *ClusterArgs) validatePools() []error {
	var problems []error
	if !slices.ContainsFunc(a.Pools, func(p NodePool) bool { return p.System }) {
		problems = append(problems, errors.New("at least one pool for the system is required"))
	}
	given := map[string]bool{}
	for _, p := range a.Pools {
		if given[p.Name] {
			problems = append(problems, fmt.Errorf("node pool %q is given twice", p.Name))
		}
		given[p.Name] = true
		problems = append(problems, p.validate())
	}
	return problems
}

func (p NodePool) validate() error {
	smallest := 0
	if p.System { // of AKS: https://learn.microsoft.com/azure/aks/use-system-pools
		smallest = 1
	}
	switch {
	case p.Name == "" || p.VMSize == "" || p.OS == "" || p.DiskGiB <= 0 || p.MaxPods <= 0:
		return fmt.Errorf("node pool %q needs a name, a VM size, an OS, a disk size and a number of pods", p.Name)
	case p.System && p.Spot:
		return fmt.Errorf("node pool %q is for the system, and AKS makes no such pool of spot capacity", p.Name)
	case p.Min < smallest || p.Max < 1 || p.Desired < p.Min || p.Desired > p.Max:
		return fmt.Errorf("node pool %q: %d <= min <= desired <= max and max >= 1 do not hold for %d, %d, %d", p.Name, smallest, p.Min, p.Desired, p.Max)
	}
	return nil
}
