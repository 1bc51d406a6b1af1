package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"tombolo/config/azurefacts"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// azureNames checks the names made from the cluster's name, and the resource groups.
func (v *validator) azureNames() {
	name := v.c.Name
	if !v.c.IsExisting() {
		v.fits("name", growth{"the Kubernetes API's host", name, azurefacts.MaxDNSPrefix})
	}
	if v.c.OwnsNetwork() && len(name) < azurefacts.MinNetworkName && v.doc.Has("name") {
		v.problem("name", "use a longer name", "%s is too short for the name of a network, which has at least %d characters",
			wording.Quote(name), azurefacts.MinNetworkName)
	}
	v.resourceGroups()
}

// resourceGroups refuses a group for two: Azure takes one that exists for one that is made,
// and a destruction deletes it with what others have in it.
func (v *validator) resourceGroups() {
	const at = strict.Path("cloud.resourceGroup")
	own := v.c.Cloud.ResourceGroup
	where := at
	if !v.doc.Has(at) {
		where = "name"
	}
	report := func(format string, args ...any) {
		v.problem(where, "name another one in cloud.resourceGroup, which core makes", format, args...)
	}
	if e := v.c.Kubernetes.Existing; e != nil && strings.EqualFold(e.ResourceGroup, own) {
		report("makes the resource group %s core's, which is that of the existing cluster", wording.Quote(own))
	}
	if subscription, group := v.c.networkGroup(); subscription == v.c.Cloud.Account && strings.EqualFold(group, own) {
		report("makes the resource group %s core's, which is that of the existing network", wording.Quote(own))
	}
	if nodes := v.c.Kubernetes.NodeResourceGroup; nodes != "" && strings.EqualFold(nodes, own) {
		v.problem("kubernetes.nodeResourceGroup", "name another one: AKS makes it itself, and deletes it with the cluster",
			"%s is the resource group that core makes", wording.Quote(nodes))
	}
}

// networkGroup is the subscription and the resource group of an existing network in Azure.
func (c *Cluster) networkGroup() (subscription, group string) {
	if c.Network.Existing == nil {
		return "", ""
	}
	m := form.NodeSubnet.FindStringSubmatch(c.Network.Existing.NodeSubnet)
	if m == nil {
		return "", ""
	}
	return m[1], m[2]
}

// azureTags checks the tags by Azure's rules.
func (v *validator) azureTags() {
	most, of := azurefacts.MaxTags, "Azure allows %d on a resource"
	if e := v.c.Kubernetes.Endpoint; e.PrivateDNSZone == systemZone {
		// https://learn.microsoft.com/azure/aks/use-tags
		most, of = azurefacts.MaxZoneTags, "the private DNS zone that AKS makes takes %d"
	}
	if n := len(v.c.Tags); n > most-ownTags {
		v.problem("tags", fmt.Sprintf("remove %d", n-(most-ownTags)),
			"has %d tags; "+of+", and Tombolo sets %d of them", n, most, ownTags)
	}
	seen := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(v.c.Tags)) {
		at, lower := strict.Path("tags").Key(key), strings.ToLower(key)
		if other, ok := seen[lower]; ok {
			v.keyProblem(at, "keep one of the two", "is the key %s, at line %d, to Azure, which does not tell cases apart",
				wording.Quote(other), v.line(strict.Path("tags").Key(other)))
		}
		seen[lower] = key
		v.azureTag(at, key, v.c.Tags[key])
	}
}

// maxTagKey is how long the key of a tag is at most, of all that core makes.
func (v *validator) maxTagKey() int {
	for _, a := range v.c.Addons.Enabled() {
		if v.doc.Sound(strict.Path("addons").Field(a.Name)) {
			if a.Needs(v.c.AddonFacts(), a.Options).Container.IsMade() {
				return azurefacts.MaxStorageTagKey
			}
		}
	}
	return azurefacts.MaxTagKey
}

func (v *validator) azureTag(at strict.Path, key, value string) {
	lower := strings.ToLower(key)
	reserved := slices.IndexFunc(azurefacts.ReservedTagPrefixes(), func(prefix string) bool { return strings.HasPrefix(lower, prefix) })
	switch n, most := utf8.RuneCountInString(key), v.maxTagKey(); {
	case key == "":
		v.keyProblem(at, "give it a key", "the key is empty")
	case n > most:
		v.keyProblem(at, fmt.Sprintf("shorten it by %d", n-most), "the key has %d characters; Azure allows %d", n, most)
	case reserved >= 0:
		v.keyProblem(at, "use another prefix", "the prefix %s is reserved by Azure", azurefacts.ReservedTagPrefixes()[reserved])
	case strings.HasPrefix(lower, "tombolo:"):
		v.keyProblem(at, "use another prefix", "the prefix tombolo: is reserved; Tombolo sets these tags itself")
	case strings.ContainsAny(key, azurefacts.NotInTagKey):
		v.keyProblem(at, "use none of "+strings.Join(strings.Split(azurefacts.NotInTagKey, ""), " "), "the key has characters that Azure does not allow")
	}
	if n := utf8.RuneCountInString(value); n > azurefacts.MaxTagValue {
		v.problem(at, fmt.Sprintf("shorten it by %d", n-azurefacts.MaxTagValue), "the value has %d characters; Azure allows %d", n, azurefacts.MaxTagValue)
	}
}
