package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"tombolo/config/azurefacts"
	"tombolo/config/form"
	"tombolo/config/releases"
	"tombolo/config/strict"
)

// CheckAzureKubernetes checks the control plane and the nodes of a cluster in Azure, in a network
// of a block.
func CheckAzureKubernetes(v *File, k Kubernetes, network string) {
	if k.Existing != nil {
		checkExistingCluster(v, k)
		return
	}
	checkPodsAndServices(v, k, network)
	v.Require("kubernetes", reflect.TypeFor[Kubernetes](), "version", "nodeGroups")
	checkAksVersion(v, k)
	checkNodeVersion(v, k)
	checkAzureEndpoint(v, k.Endpoint)
	checkTier(v, k)
	checkUpgrades(v, k)
	checkGroups(v, k, true)
	CheckNodePools(v, k.NodeGroups)
}

// checkAksVersion judges the version by the calendar of AKS.
func checkAksVersion(v *File, k Kubernetes) {
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
		v.Problem(at, successor(azurefacts.Calendar, r.Minor), "%s ended on AKS on %s: AKS makes no cluster of it", r.Minor, date(r.Ends))
	case !day.Before(ends):
		v.Warn(at, checkUpgrade(v, azurefacts.Calendar, r.Minor, day, end)+"; or set tier: premium and support: extended, which lasts until "+date(r.Ends),
			"%s is out of AKS's support since %s: AKS makes no cluster of it without support: extended, and gives a live one no fixes", r.Minor, date(ends))
	case !day.Before(ends.AddDate(0, 0, -noticeDays)):
		v.Warn(at, checkUpgrade(v, azurefacts.Calendar, r.Minor, day, end), "%s leaves %s on %s", r.Minor, kind, date(ends))
	}
}

// aksEnd is the first day without a kind of support.
func aksEnd(s Support) func(releases.Release) time.Time {
	if s == ExtendedSupport {
		return func(r releases.Release) time.Time { return r.Ends }
	}
	return standardEnd
}

// checkAzureEndpoint checks who reaches the Kubernetes API: AKS has one endpoint, a private or a
// public one.
func checkAzureEndpoint(v *File, e Endpoint) {
	const at = strict.Path("kubernetes.endpoint")
	if e.Public && *e.Private && v.Doc.Sound(at.Field("private"), at.Field("public")) {
		v.Problem(at.Field("public"), "keep one of the two: AKS has a private endpoint or a public one", "does not go with private: true")
	}
	checkPublicEndpoint(v, e, azurefacts.MaxAuthorizedBlocks)
	checkPrivateZone(v, at.Field("privateDnsZone"), e)
}

// zoneName is the name of a zone for private endpoints of AKS. Source:
// https://learn.microsoft.com/azure/aks/private-clusters
var zoneName = regexp.MustCompile(`^([a-zA-Z0-9-]{1,32}\.)?privatelink\.([a-z0-9]+)\.azmk8s\.io$`)

func checkPrivateZone(v *File, at strict.Path, e Endpoint) {
	if !v.Doc.Has(at) || !v.Doc.Sound(at) {
		return
	}
	if !*e.Private {
		v.Problem(at, "remove it, or set private: true", "has no effect: the endpoint is not private")
		return
	}
	m := form.DNSZone.FindStringSubmatch(e.PrivateDNSZone)
	if m == nil || m[1] == systemZone || m[1] == noZone || !v.Doc.Sound("cloud.region") {
		return
	}
	zone := m[len(m)-1]
	if form := zoneName.FindStringSubmatch(zone); form == nil || form[2] != v.Region {
		v.Problem(at, "use the zone privatelink."+v.Region+".azmk8s.io, or one below it",
			"%s is no zone that AKS takes in the region %s", zone, v.Region)
	}
}

// checkTier checks what long-term support needs. Source:
// https://learn.microsoft.com/azure/aks/long-term-support
func checkTier(v *File, k Kubernetes) {
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

// checkUpgrades warns of channels by which the file no longer says what runs.
func checkUpgrades(v *File, k Kubernetes) {
	const at = strict.Path("kubernetes.upgrades.kubernetes")
	if slices.Contains([]UpgradeChannel{StableUpgrades, RapidUpgrades}, k.Upgrades.Kubernetes) {
		v.Warn(at, "use patch, and raise kubernetes.version yourself",
			"has AKS change the minor version by itself: an up is refused until kubernetes.version is raised to what runs")
	}
}

// checkGroups checks the groups of Entra that have rights on the cluster.
func checkGroups(v *File, k Kubernetes, needed bool) {
	const admins, previewers = strict.Path("kubernetes.admins"), strict.Path("kubernetes.previewers")
	if needed && len(k.Admins) == 0 && v.Doc.Sound(admins) {
		v.Problem(admins, "add admins: [{name: platform, group: <object id>}], a group that those who run tombolo are in",
			"is required on Azure: local accounts are off, and nobody else has rights on a new cluster")
	}
	for _, list := range []struct {
		at     strict.Path
		what   string
		groups []Principal
	}{{admins, "admin", k.Admins}, {previewers, "previewer", k.Previewers}} {
		Unique(v, list.at, "name", list.groups, func(p Principal) string { return p.Name }, "give each "+list.what+" a name of its own")
		Unique(v, list.at, "group", list.groups, func(p Principal) string { return p.Group }, "give each group once")
	}
	for i, p := range k.Previewers {
		if slices.ContainsFunc(k.Admins, func(a Principal) bool { return a.Group != "" && a.Group == p.Group }) {
			v.Problem(previewers.Index(i).Field("group"), "take it out of one of the two", "is among kubernetes.admins too")
		}
	}
}

// isReservedPrefix says that AKS keeps the prefix of a node's label or taint. Source:
// https://learn.microsoft.com/azure/aks/use-labels
func isReservedPrefix(prefix string) bool {
	return prefix == "kubernetes.azure.com" || strings.HasSuffix(prefix, ".kubernetes.azure.com")
}
