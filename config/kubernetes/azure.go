package kubernetes

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"tombolo/config/access"
	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/form"
	"tombolo/config/network"
	"tombolo/config/nodes"
	"tombolo/config/releases"
	"tombolo/config/strict"
	"tombolo/internal/armid"
	"tombolo/internal/wording"
)

// CheckOnAzure checks the control plane and the nodes of a cluster in Azure, in a network.
func CheckOnAzure(v *check.File, k Kubernetes, net network.Network) {
	if k.Existing != nil {
		checkExistingCluster(v, k)
		return
	}
	checkPodsAndServices(v, k, net.CIDR)
	v.Require("kubernetes", reflect.TypeFor[Kubernetes](), "version", "nodeGroups")
	checkAksVersion(v, k)
	checkNodeVersion(v, k)
	checkHeldNodes(v, k)
	checkAzureEndpoint(v, k.Endpoint, net.Existing == nil && net.Outbound == network.OutboundNATGateway)
	checkTier(v, k)
	checkUpgrades(v, k)
	checkVaultKey(v, k.SecretsEncryption)
	access.CheckGroups(v, k.rights(), true)
	nodes.CheckOnAzure(v, k.NodeGroups)
	checkMostNodes(v, k)
}

// checkAksVersion judges the version by the calendar of AKS.
func checkAksVersion(v *check.File, k Kubernetes) {
	const at = strict.Path("kubernetes.version")
	r, ok := azurefacts.Calendar.Of(k.Version)
	if !ok || !v.Doc.Sound(at, "kubernetes.support") {
		return
	}
	end, kind := aksEnd(k.Support), "AKS's support"
	if k.Support == ExtendedSupport {
		kind = "AKS's long-term support"
	}
	day, ends := v.Day, end(r)
	switch {
	case !day.Before(r.Ends):
		v.Problem(at, successor(azurefacts.Calendar, r.Minor), "%s ended on AKS on %s: AKS makes no cluster of it", r.Minor, Date(r.Ends))
	case !day.Before(ends):
		v.Warn(at, checkUpgrade(v, azurefacts.Calendar, r.Minor, day, end)+"; or set tier: premium and support: extended, which lasts until "+Date(r.Ends),
			"%s is out of AKS's support since %s: AKS makes no cluster of it without support: extended, and gives a live one no fixes", r.Minor, Date(ends))
	case !day.Before(ends.AddDate(0, 0, -noticeDays)):
		v.Warn(at, checkUpgrade(v, azurefacts.Calendar, r.Minor, day, end), "%s leaves %s on %s", r.Minor, kind, Date(ends))
	}
}

// aksEnd is the first day without a kind of support.
func aksEnd(s Support) func(releases.Release) time.Time {
	if s == ExtendedSupport {
		return func(r releases.Release) time.Time { return r.Ends }
	}
	return standardEnd
}

// checkTier checks what long-term support needs. Source:
// https://learn.microsoft.com/azure/aks/long-term-support
func checkTier(v *check.File, k Kubernetes) {
	const tier, support = strict.Path("kubernetes.tier"), strict.Path("kubernetes.support")
	if !v.Doc.Sound(tier, support) {
		return
	}
	switch {
	case k.Support == ExtendedSupport && k.Tier != PremiumTier:
		v.Problem(support, "add tier: premium, or use support: standard", "extended needs tier: premium, and it is %s", k.Tier)
	case k.Tier == PremiumTier && k.Support != ExtendedSupport:
		v.Problem(tier, "add support: extended, or use tier: standard", "premium is paid for long-term support, and support is %s", k.Support)
	}
}

// checkVaultKey checks the key that AKS encrypts Secrets by, which is in the vault that the file names.
func checkVaultKey(v *check.File, s SecretsEncryption) {
	const at = strict.Path("kubernetes.secretsEncryption")
	key, vault := at.Field("keyId"), at.Field("vault")
	if !v.Doc.Has(at) || !v.Doc.Sound(at, key, vault) {
		return
	}
	switch {
	case s.KeyID == "" && s.Vault == "":
		v.Problem(at, "add keyId and vault, or remove it", "names no key, and AKS encrypts by keys of Microsoft's without one")
	case s.KeyID == "":
		v.Problem(vault, "add keyId, or remove it", "has no effect without keyId")
	case s.Vault == "":
		v.Problem(key, "add vault, the id of the key's vault", "needs vault, in which core gives the control plane its role")
	default:
		of, name := form.VaultKey.FindStringSubmatch(s.KeyID)[1], armid.NameOf(s.Vault)
		if !strings.EqualFold(of, name) {
			v.Problem(key, "use a key of that vault, or correct vault", "is in the vault %s, and vault is %s", of, name)
		}
	}
}

// checkHeldNodes refuses nodes behind their control plane while AKS upgrades by itself: it takes both
// together then. Source: "Control plane upgrade constraints" in
// https://learn.microsoft.com/azure/aks/auto-upgrade-cluster
func checkHeldNodes(v *check.File, k Kubernetes) {
	const at, channel = strict.Path("kubernetes.nodeVersion"), strict.Path("kubernetes.upgrades.kubernetes")
	if k.NodeVersion == "" || Minor(k.NodeVersion) >= Minor(k.Version) || k.Upgrades.Kubernetes == NoUpgrades || !v.Doc.Sound(at, channel, "kubernetes.version") {
		return
	}
	v.Problem(at, "remove it, or set upgrades.kubernetes: none",
		"is behind the control plane's %s, and AKS takes control plane and nodes on together with upgrades.kubernetes: %s", k.Version, k.Upgrades.Kubernetes)
}

// checkMostNodes holds the nodes of all pools to what AKS has for a cluster. Pools that could only
// grow beyond it are made, and stop to grow.
func checkMostNodes(v *check.File, k Kubernetes) {
	const at = strict.Path("kubernetes.nodeGroups")
	if !v.Doc.Sound(at, "kubernetes.tier") || !nodes.SoundSizes(v, k.NodeGroups) {
		return
	}
	limit, remedy := azurefacts.MaxNodes, "use smaller sizes, or a second cluster"
	if k.Tier == FreeTier {
		limit, remedy = azurefacts.MaxFreeNodes, "use smaller sizes, or tier: standard"
	}
	begin, most := 0, 0
	for _, g := range k.NodeGroups {
		begin, most = begin+*g.Size.Desired, most+*g.Size.Max
	}
	switch {
	case begin > limit:
		v.Problem(at, remedy, "have %d nodes together at the start, and a cluster of AKS has %d at most with tier: %s", begin, limit, k.Tier)
	case most > limit:
		v.Warn(at, remedy, "can grow to %d nodes together, and a cluster of AKS has %d at most with tier: %s", most, limit, k.Tier)
	}
}

// checkUpgrades warns of channels by which the file no longer says what runs.
func checkUpgrades(v *check.File, k Kubernetes) {
	const at = strict.Path("kubernetes.upgrades.kubernetes")
	if slices.Contains([]UpgradeChannel{StableUpgrades, RapidUpgrades}, k.Upgrades.Kubernetes) {
		v.Warn(at, "use patch, and raise kubernetes.version yourself",
			"has AKS change the minor version by itself: an up is refused until kubernetes.version is raised to what runs")
	}
}

// checkPodsAndServices checks the blocks that only the cluster knows: they overlap neither each
// other nor the network.
func checkPodsAndServices(v *check.File, k Kubernetes, netBlock string) {
	const pods, services = strict.Path("kubernetes.podCidr"), strict.Path("kubernetes.serviceCidr")
	block, _ := netip.ParsePrefix(netBlock)
	podBlock, podsOK := network.Block(v, pods, k.PodCIDR, network.LargestNetwork, azurefacts.NodeBlock)
	serviceBlock, servicesOK := network.Block(v, services, k.ServiceCIDR, largestServices, smallestServices)
	if podsOK && block.IsValid() && podBlock.Overlaps(block) && v.Doc.Sound("network.cidr") {
		v.Problem(pods, "set podCidr to a block outside of it, such as 192.168.0.0/16", "%s overlaps the network's %s", k.PodCIDR, block)
	}
	if servicesOK && block.IsValid() && serviceBlock.Overlaps(block) && v.Doc.Sound("network.cidr") {
		v.Problem(services, "set serviceCidr to a block outside of it, such as "+network.ServiceCIDR(netBlock), "%s overlaps the network's %s", k.ServiceCIDR, block)
	}
	if podsOK && servicesOK && podBlock.Overlaps(serviceBlock) {
		v.Problem(services, "set serviceCidr to another block", "%s overlaps the pods' %s", k.ServiceCIDR, k.PodCIDR)
	}
	if !podsOK || !nodes.SoundSizes(v, k.NodeGroups) {
		return
	}
	if room, most := 1<<(azurefacts.NodeBlock-podBlock.Bits()), nodes.MostNodes(k.NodeGroups); most > room {
		v.Problem(pods, "use a larger block, or smaller sizes of node groups",
			"%s has room for %s, a /%d each, and the node groups have up to %d while AKS rolls them",
			k.PodCIDR, wording.Count(room, "node"), azurefacts.NodeBlock, most)
	}
}
