package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/form"
	"tombolo/config/kubernetes"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// checkNames checks the names made from the cluster's name.
func checkNames(v *check.File) {
	name := v.Name
	v.Fits("name", "the control plane's IAM role", name+"-cluster", form.MaxRoleName)
	// By GroupName of CreateSecurityGroup in the EC2 API.
	if strings.HasPrefix(name, "sg-") {
		v.Problem("name", "begin it otherwise", "%s begins the names of security groups, and EC2 allows none that begins with sg-", wording.Quote(name))
	}
}

// The limits of tags, by "Tag naming limits and requirements" in the AWS guide
// to tagging. Tombolo puts at most five tags of its own on a resource.
const (
	maxTags     = 50
	ownTags     = 5
	maxTagKey   = 128
	maxTagValue = 256
)

var tagText = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

func checkTags(v *check.File, tags map[string]string) {
	if n := len(tags); n > maxTags-ownTags {
		v.Problem("tags", fmt.Sprintf("remove %d", n-(maxTags-ownTags)),
			"has %d tags; AWS allows %d on a resource, and Tombolo sets %d of them", n, maxTags, ownTags)
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		at := strict.Path("tags").Key(key)
		checkTagKey(v, at, key)
		checkTagValue(v, at, tags[key])
	}
}

func checkTagKey(v *check.File, at strict.Path, key string) {
	lower := strings.ToLower(key)
	switch n := utf8.RuneCountInString(key); {
	case key == "":
		v.KeyProblem(at, "give it a key", "the key is empty")
	case n > maxTagKey:
		v.KeyProblem(at, fmt.Sprintf("shorten it by %d", n-maxTagKey),
			"the key has %d characters; AWS allows %d", n, maxTagKey)
	case strings.HasPrefix(lower, "aws:"):
		v.KeyProblem(at, "use another prefix", "the prefix aws: is reserved by AWS")
	case strings.HasPrefix(lower, "tombolo:"):
		v.KeyProblem(at, "use another prefix", "the prefix tombolo: is reserved; Tombolo sets these tags itself")
	case strings.HasPrefix(key, "kubernetes.io/"):
		v.KeyProblem(at, "use another prefix", "the prefix kubernetes.io/ is reserved; controllers find their subnets by it")
	case key == "Name":
		v.KeyProblem(at, "use another key", "is set by Tombolo, to another value on each resource")
	case !tagText.MatchString(key):
		v.KeyProblem(at, "use letters, digits, spaces and _ . : / = + - @", "the key has characters that AWS does not allow")
	}
}

func checkTagValue(v *check.File, at strict.Path, value string) {
	switch n := utf8.RuneCountInString(value); {
	case n > maxTagValue:
		v.Problem(at, fmt.Sprintf("shorten it by %d", n-maxTagValue),
			"the value has %d characters; AWS allows %d", n, maxTagValue)
	case !tagText.MatchString(value):
		v.Problem(at, "use letters, digits, spaces and _ . : / = + - @",
			"%s has characters that AWS does not allow in a tag", wording.Quote(value))
	}
}

// checkAzureNames checks the names made from the cluster's name, and the resource groups.
func checkAzureNames(v *check.File, c *Cluster) {
	name := v.Name
	if !c.IsExisting() {
		v.Fits("name", "the Kubernetes API's host", name, azurefacts.MaxDNSPrefix)
	}
	if c.OwnsNetwork() && len(name) < azurefacts.MinNetworkName && v.Doc.Has("name") {
		v.Problem("name", "use a longer name", "%s is too short for the name of a network, which has at least %d characters",
			wording.Quote(name), azurefacts.MinNetworkName)
	}
	checkResourceGroups(v, c)
}

// checkResourceGroups refuses a group for two: Azure takes one that exists for one that is made,
// and a destruction deletes it with what others have in it.
func checkResourceGroups(v *check.File, c *Cluster) {
	const at = strict.Path("cloud.resourceGroup")
	own := c.Cloud.ResourceGroup
	where := at
	if !v.Doc.Has(at) {
		where = "name"
	}
	report := func(format string, args ...any) {
		v.Problem(where, "name another one in cloud.resourceGroup, which core makes", format, args...)
	}
	if e := c.Kubernetes.Existing; e != nil && strings.EqualFold(e.ResourceGroup, own) {
		report("makes the resource group %s core's, which is that of the existing cluster", wording.Quote(own))
	}
	if subscription, group := c.Network.Group(); subscription == v.Account && strings.EqualFold(group, own) {
		report("makes the resource group %s core's, which is that of the existing network", wording.Quote(own))
	}
	if nodes := c.Kubernetes.NodeResourceGroup; nodes != "" && strings.EqualFold(nodes, own) {
		v.Problem("kubernetes.nodeResourceGroup", "name another one: AKS makes it itself, and deletes it with the cluster",
			"%s is the resource group that core makes", wording.Quote(nodes))
	}
}

// checkAzureTags checks the tags by Azure's rules.
func checkAzureTags(v *check.File, c *Cluster) {
	most, of := azurefacts.MaxTags, "Azure allows %d on a resource"
	if e := c.Kubernetes.Endpoint; e.PrivateDNSZone == kubernetes.SystemZone {
		// https://learn.microsoft.com/azure/aks/use-tags
		most, of = azurefacts.MaxZoneTags, "the private DNS zone that AKS makes takes %d"
	}
	if n := len(c.Tags); n > most-ownTags {
		v.Problem("tags", fmt.Sprintf("remove %d", n-(most-ownTags)),
			"has %d tags; "+of+", and Tombolo sets %d of them", n, most, ownTags)
	}
	seen := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(c.Tags)) {
		at, lower := strict.Path("tags").Key(key), strings.ToLower(key)
		if other, ok := seen[lower]; ok {
			v.KeyProblem(at, "keep one of the two", "is the key %s, at line %d, to Azure, which does not tell cases apart",
				wording.Quote(other), v.Line(strict.Path("tags").Key(other)))
		}
		seen[lower] = key
		checkAzureTag(v, c, at, key, c.Tags[key])
	}
}

// checkMaxTagKey is how long the key of a tag is at most, of all that core makes.
func checkMaxTagKey(v *check.File, c *Cluster) int {
	for _, a := range c.Addons.Enabled() {
		if v.Doc.Sound(strict.Path("addons").Field(a.Name)) {
			if a.Needs(c.AddonFacts(), a.Options).Container.IsMade() {
				return azurefacts.MaxStorageTagKey
			}
		}
	}
	return azurefacts.MaxTagKey
}

func checkAzureTag(v *check.File, c *Cluster, at strict.Path, key, value string) {
	lower := strings.ToLower(key)
	reserved := slices.IndexFunc(azurefacts.ReservedTagPrefixes(), func(prefix string) bool { return strings.HasPrefix(lower, prefix) })
	switch n, most := utf8.RuneCountInString(key), checkMaxTagKey(v, c); {
	case key == "":
		v.KeyProblem(at, "give it a key", "the key is empty")
	case n > most:
		v.KeyProblem(at, fmt.Sprintf("shorten it by %d", n-most), "the key has %d characters; Azure allows %d", n, most)
	case reserved >= 0:
		v.KeyProblem(at, "use another prefix", "the prefix %s is reserved by Azure", azurefacts.ReservedTagPrefixes()[reserved])
	case strings.HasPrefix(lower, "tombolo:"):
		v.KeyProblem(at, "use another prefix", "the prefix tombolo: is reserved; Tombolo sets these tags itself")
	case strings.ContainsAny(key, azurefacts.NotInTagKey):
		v.KeyProblem(at, "use none of "+strings.Join(strings.Split(azurefacts.NotInTagKey, ""), " "), "the key has characters that Azure does not allow")
	}
	if n := utf8.RuneCountInString(value); n > azurefacts.MaxTagValue {
		v.Problem(at, fmt.Sprintf("shorten it by %d", n-azurefacts.MaxTagValue), "the value has %d characters; Azure allows %d", n, azurefacts.MaxTagValue)
	}
}

// What a change does that several keys share.
const (
	aksTagWords = "every resource gets the tags in place; AKS hands them on to what it makes"
)
