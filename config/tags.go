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
	"tombolo/config/kubernetes"
	"tombolo/config/strict"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// AllTags are those of every resource of the cluster: the file's, and those that Tombolo
// sets itself, without the owner's.
func (c *Cluster) AllTags() map[string]string {
	all := map[string]string{}
	maps.Copy(all, c.Tags)
	all[names.ClusterTag], all[names.EnvironmentTag] = c.Name, c.Environment
	return all
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
	checkZoneTags(v, c)
	seen := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(c.Tags)) {
		at, lower := strict.Path("tags").Key(key), strings.ToLower(key)
		if other, ok := seen[lower]; ok {
			v.KeyProblem(at, "keep one of the two", "is the key %s, at %s, to Azure, which does not tell cases apart",
				wording.Quote(other), v.Line(strict.Path("tags").Key(other)))
		}
		seen[lower] = key
		checkAzureTag(v, c, at, key, c.Tags[key])
	}
}

// checkZoneTags warns of tags that the private DNS zone that AKS makes does not keep. Nothing of
// Tombolo's looks for the tags there that it sets itself, which have colons.
func checkZoneTags(v *check.File, c *Cluster) {
	if c.Kubernetes.Endpoint.PrivateDNSZone != kubernetes.SystemZone {
		return
	}
	dropped := slices.DeleteFunc(slices.Sorted(maps.Keys(c.Tags)), azurefacts.ZoneKeepsTag)
	if len(dropped) > 0 {
		v.Warn("tags", "use letters, digits and _ . - in keys, and begin with no digit, where the zone has to have them",
			"the private DNS zone that AKS makes drops %s: its keys have no other characters than letters, digits and _ . -, and begin with no digit", wording.And(quoted(dropped)))
	}
}

func quoted(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = wording.Quote(text)
	}
	return out
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

// aksTagWords say what a change of tags does on Azure.
const aksTagWords = "every resource gets the tags in place; AKS hands them on to what it makes, of which a private DNS zone drops keys with colons, spaces or a digit in front"
