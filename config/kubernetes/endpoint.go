package kubernetes

import (
	"net/netip"
	"regexp"

	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// Endpoint says who can reach the Kubernetes API.
type Endpoint struct {
	// Private gives the API an address inside the network. On AWS the nodes reach it, and
	// who PrivateCIDRs and SecurityGroups let in; nobody else does, not even in the VPC. On
	// Azure everything does that reaches the network, and Public does not go with it.
	// Default true; on Azure the opposite of public.
	Private *bool `yaml:"private,omitempty"`
	// PrivateDNSZone has the name of the private API: system, a zone that AKS makes; none,
	// a public name of the private address; or a zone that others own, by its id, in which
	// core lets the identity of the control plane write. Default: system with a private endpoint.
	PrivateDNSZone string `yaml:"privateDnsZone,omitempty" cloud:"azure"`
	// PrivateCIDRs may reach the private endpoint: IPv4 blocks of the VPC, of networks
	// that are peered or connected to it, or of a VPN; at most 40. Core lets them in at
	// port 443 of the security group that EKS makes for the control plane, which the
	// nodes have too. Default: none.
	PrivateCIDRs []string `yaml:"privateCidrs,omitempty" cloud:"aws"`
	// PublicAddressesInside confirms blocks in PrivateCIDRs that are not private, for
	// networks that have public addresses inside. Default false.
	PublicAddressesInside bool `yaml:"publicAddressesInside,omitempty" cloud:"aws"`
	// SecurityGroups whose members may reach the private endpoint, sg-…, at most 5, of
	// the cluster's account: of its VPC, or of one that is peered with it in the same
	// region. Core lets them in as it does PrivateCIDRs. Default: none.
	SecurityGroups []string `yaml:"securityGroups,omitempty" cloud:"aws"`
	// Public makes the API reachable from the internet, for AllowedCIDRs.
	// Default false.
	Public bool `yaml:"public,omitempty"`
	// AllowedCIDRs may reach the public endpoint; required when Public is set. At most 40; on
	// Azure 200, of which one is the cluster's own with network.outbound: nat-gateway.
	AllowedCIDRs []string `yaml:"allowedCidrs,omitempty"`
	// OpenToTheWorld confirms 0.0.0.0/0 in AllowedCIDRs; without it such a
	// block is refused.
	OpenToTheWorld bool `yaml:"openToTheWorld,omitempty"`
}

var endpointFields = field.Of[Endpoint](map[string]field.Descriptor{
	"Private": {
		Rule: strict.Rule{Default: true}, AzureRule: &strict.Rule{},
		Change: []field.Case{
			{When: "with a proxy", Effect: field.RollsNodes, Applies: field.Change.GoesByProxy, Words: "EKS changes the endpoint within minutes, and nodes reach it by the proxy or without it: " + field.RollsAll},
			{Effect: field.InPlace, Words: "EKS changes the endpoint within minutes; the API stays reachable by the other one"},
		},
		AzureChange: field.Keeps("AKS keeps the kind of endpoint of the cluster's creation"),
	},
	"PrivateDNSZone": {
		Rule: strict.Rule{
			What: "system, none or the id of a private DNS zone", Pattern: form.DNSZone, Advice: form.IDAdvice(form.DNSZone),
			Example: form.ExampleGroup + "/providers/Microsoft.Network/privateDnsZones/privatelink.germanywestcentral.azmk8s.io",
		},
		Change: field.Keeps("AKS keeps the zone of the cluster's creation, or gives it up for a public name and then makes every node anew"),
		Remedy: "remove it: AWS's own names lead to the private endpoint",
	},
	"PrivateCIDRs": {
		Rule: form.IPv4Block("10.8.0.0/16"), Change: field.Changes("a rule is made for each new block; those of blocks that are gone are deleted"),
		Remedy: "remove it: every network that is connected reaches the private endpoint; its network security groups say who not", Unordered: true,
	},
	"PublicAddressesInside": {
		Rule: strict.Rule{Default: false}, Change: field.Changes("it confirms blocks of privateCidrs; nothing in the cluster changes"),
		Remedy: "remove it: it confirms privateCidrs, which is for AWS",
	},
	"SecurityGroups": {
		Rule: form.SecurityGroups(""), Change: field.Changes("a rule is made for each new group; those of groups that are gone are deleted"),
		Remedy: "remove it: every network that is connected reaches the private endpoint; its network security groups say who not", Unordered: true,
	},
	"Public": {
		Rule: strict.Rule{Default: false}, Change: field.Changes("EKS changes the endpoint within minutes; the API stays reachable by the other one"),
		AzureChange: field.Keeps("AKS keeps the kind of endpoint of the cluster's creation"),
	},
	"AllowedCIDRs": {
		Rule:   strict.Rule{What: "an IP block", Example: "203.0.113.0/24", Pattern: regexp.MustCompile(`^[0-9a-fA-F.:]+/[0-9]+$`), Advice: form.BlockAdvice},
		Change: field.Changes("EKS changes who reaches the public endpoint"), AzureChange: field.Changes("AKS changes who reaches the public endpoint, within minutes"), Unordered: true,
	},
	"OpenToTheWorld": {Rule: strict.Rule{Default: false}, Change: field.Changes("it confirms a block of allowedCidrs; nothing in the cluster changes")},
})

// maxAllowedCIDRs is the quota of EKS for the blocks of a public endpoint.
const maxAllowedCIDRs = 40

func checkEndpointAccess(v *check.File, e Endpoint) {
	checkPublicEndpoint(v, e, maxAllowedCIDRs)
	checkPrivateAccess(v, e)
}

// checkPublicEndpoint checks who reaches the endpoint from the internet: at most that many blocks.
func checkPublicEndpoint(v *check.File, e Endpoint, most int) {
	at := strict.Path("kubernetes.endpoint")
	blocks := at.Field("allowedCidrs")
	switch {
	case !e.Public && !*e.Private && v.Doc.Sound(at.Field("private"), at.Field("public")):
		v.Problem(at, "set private or public to true", "makes the Kubernetes API unreachable: private and public are both false")
	case !e.Public && v.Doc.Has(blocks) && v.Doc.Sound(at.Field("public")):
		v.Problem(blocks, "set public: true, or remove it", "has no effect: the endpoint is not public")
	case e.Public && len(e.AllowedCIDRs) == 0 && v.Doc.Sound(blocks):
		v.Problem(blocks, "add allowedCidrs with the blocks that may reach the API, such as your office's",
			"is required when public is true")
	}
	if n := len(e.AllowedCIDRs); n > most {
		v.Problem(blocks, "join neighbouring blocks", "has %d blocks; %s allows %d", n, v.Service(), most)
	}
	check.Unique(v, blocks, "", e.AllowedCIDRs, check.Itself, "give each block once")
	open := false
	for i, cidr := range e.AllowedCIDRs {
		open = checkAllowedBlock(v, blocks.Index(i), cidr, e.OpenToTheWorld) || open
	}
	if e.OpenToTheWorld && !open && v.Doc.Sound(blocks) {
		v.Problem(at.Field("openToTheWorld"), "remove it", "confirms 0.0.0.0/0, which is not in allowedCidrs")
	}
}

// checkAllowedBlock checks one block, and says whether it is the whole internet.
func checkAllowedBlock(v *check.File, at strict.Path, cidr string, confirmed bool) bool {
	block, err := netip.ParsePrefix(cidr)
	if !v.Doc.Sound(at) {
		return false
	}
	open := err == nil && block.Bits() == 0
	switch {
	case err != nil:
		v.Problem(at, "write it like 203.0.113.0/24", "%s is not an IP block", wording.Quote(cidr))
	case open && !confirmed:
		v.Problem(at, "list the blocks that need access, or confirm with openToTheWorld: true",
			"%s opens the Kubernetes API to the whole internet", wording.Quote(cidr))
	case block != block.Masked():
		v.Problem(at, "use "+block.Masked().String(), "%s has bits set outside of its prefix", wording.Quote(cidr))
	case block.Addr().Is6():
		v.Problem(at, "use IPv4 blocks", "%s is IPv6, and the endpoint of an IPv4 cluster has none", wording.Quote(cidr))
	case form.Private(block):
		v.Problem(at, "use the public address of the network; "+v.Inside()+", use the private endpoint",
			"%s is private, and %s refuses private blocks here", wording.Quote(cidr), v.Service())
	}
	return open
}

// A security group has 60 rules for what comes in, by AWS's quota
// (https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html). That of the
// control plane has one of EKS's, and one for each load balancer: these leave room.
const (
	maxPrivateCIDRs   = 40
	maxSecurityGroups = 5
)

// checkPrivateAccess checks who is let in to the private endpoint.
func checkPrivateAccess(v *check.File, e Endpoint) {
	at := strict.Path("kubernetes.endpoint")
	blocks, groups := at.Field("privateCidrs"), at.Field("securityGroups")
	for _, p := range []strict.Path{blocks, groups} {
		if !*e.Private && v.Doc.Has(p) && v.Doc.Sound(at.Field("private")) {
			v.Problem(p, "set private: true, or remove it", "has no effect: the endpoint is not private")
		}
	}
	if n := len(e.PrivateCIDRs); n > maxPrivateCIDRs {
		v.Problem(blocks, "join neighbouring blocks", "has %d blocks; the rules of a security group leave room for %d", n, maxPrivateCIDRs)
	}
	if n := len(e.SecurityGroups); n > maxSecurityGroups {
		v.Problem(groups, "give the machines one group in common, or name their blocks in privateCidrs",
			"has %d groups; at most %d are allowed", n, maxSecurityGroups)
	}
	check.Unique(v, blocks, "", e.PrivateCIDRs, check.Itself, "give each block once")
	check.Unique(v, groups, "", e.SecurityGroups, check.Itself, "give each group once")
	confirmed := false
	for i, cidr := range e.PrivateCIDRs {
		confirmed = checkPrivateBlock(v, blocks.Index(i), cidr, e.PublicAddressesInside) || confirmed
	}
	if e.PublicAddressesInside && !confirmed && v.Doc.Sound(blocks) {
		v.Problem(at.Field("publicAddressesInside"), "remove it", "confirms blocks that are not private, of which privateCidrs has none")
	}
}

// checkPrivateBlock checks one block, and says whether it is one that has to be confirmed.
func checkPrivateBlock(v *check.File, at strict.Path, cidr string, confirmed bool) bool {
	block, err := netip.ParsePrefix(cidr)
	if !v.Doc.Sound(at) {
		return false
	}
	switch {
	case err != nil:
		v.Problem(at, "write four numbers up to 255 and a prefix length, such as 10.8.0.0/16", "%s is not an IPv4 block", wording.Quote(cidr))
	case block.Bits() == 0:
		v.Problem(at, "list the networks that need access", "%s lets in every network that has a way to the VPC", wording.Quote(cidr))
	case block != block.Masked():
		v.Problem(at, "use "+block.Masked().String(), "%s has bits set outside of its prefix", wording.Quote(cidr))
	case form.Private(block):
	case !confirmed:
		v.Problem(at, "use a block inside "+wording.Or(form.PrivateBlocks)+"; a public address goes into allowedCidrs, with public: true; "+
			"confirm networks that have public addresses inside with publicAddressesInside: true",
			"%s is not a private block, and the private endpoint is reached from private networks", wording.Quote(cidr))
	default:
		return true
	}
	return false
}

// checkAzureEndpoint checks who reaches the Kubernetes API: AKS has one endpoint, a private or a
// public one. With ownAddress core lets the cluster's own address in, too.
func checkAzureEndpoint(v *check.File, e Endpoint, ownAddress bool) {
	const at = strict.Path("kubernetes.endpoint")
	if e.Public && *e.Private && v.Doc.Sound(at.Field("private"), at.Field("public")) {
		v.Problem(at.Field("public"), "keep one of the two: AKS has a private endpoint or a public one", "does not go with private: true")
	}
	most := azurefacts.MaxAuthorizedBlocks
	if ownAddress {
		most--
	}
	checkPublicEndpoint(v, e, most)
	checkPrivateZone(v, at.Field("privateDnsZone"), e)
}

// zoneName is the name of a zone for private endpoints of AKS. Source:
// https://learn.microsoft.com/azure/aks/private-clusters
var zoneName = regexp.MustCompile(`^([a-zA-Z0-9-]{1,32}\.)?privatelink\.([a-z0-9]+)\.azmk8s\.io$`)

func checkPrivateZone(v *check.File, at strict.Path, e Endpoint) {
	if !v.Doc.Has(at) || !v.Doc.Sound(at) {
		return
	}
	if !*e.Private {
		v.Problem(at, "remove it, or set private: true", "has no effect: the endpoint is not private")
		return
	}
	m := form.DNSZone.FindStringSubmatch(e.PrivateDNSZone)
	if m == nil || m[1] == SystemZone || m[1] == noZone || !v.Doc.Sound("cloud.region") {
		return
	}
	zone := m[len(m)-1]
	if form := zoneName.FindStringSubmatch(zone); form == nil || form[2] != v.Region {
		v.Problem(at, "use the zone privatelink."+v.Region+".azmk8s.io, or one below it",
			"%s is no zone that AKS takes in the region %s", zone, v.Region)
	}
}

const (
	// SystemZone has AKS make the zone of the private API's name.
	SystemZone = "system"
	// noZone gives the private API a public name.
	noZone = "none"
)
