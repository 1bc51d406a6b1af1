package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// A name in the cluster file begins longer names in the cloud, which have their own
// limits.
const (
	// maxRoleName is the limit of an IAM role's name (IAM quotas).
	maxRoleName = 64
	// maxNodeGroupName is the limit of a node group's name (EKS CreateNodegroup).
	maxNodeGroupName = 63
	// nodeGroupEnd has the form of the end of a node group's name in the cloud,
	// which changes when the group is replaced.
	nodeGroupEnd = "-01234567"
)

// ServiceRoleName is the name of the IAM role of a service with an identity.
func ServiceRoleName(cluster, service string) string { return cluster + "-service-" + service }

// checkNames checks the names made from the cluster's name.
func checkNames(v *File) {
	name := v.Name
	v.Fits("name", "the control plane's IAM role", name+"-cluster", maxRoleName)
	// By GroupName of CreateSecurityGroup in the EC2 API.
	if strings.HasPrefix(name, "sg-") {
		v.Problem("name", "begin it otherwise", "%s begins the names of security groups, and EC2 allows none that begins with sg-", wording.Quote(name))
	}
}

// Fits reports a value at p by which the name of something in the cloud becomes longer than its
// limit.
func (v *File) Fits(p strict.Path, what, name string, limit int) {
	over := len(name) - limit
	if over <= 0 {
		return
	}
	remedy := fmt.Sprintf("shorten it by %d", over)
	if p != "name" && strings.HasPrefix(name, v.Name) {
		remedy += ", or the cluster's name"
	}
	v.Problem(p, remedy, "makes the name of %s %s, which has %d characters; at most %d are allowed",
		what, wording.Quote(name), len(name), limit)
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

func checkTags(v *File, tags map[string]string) {
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

func checkTagKey(v *File, at strict.Path, key string) {
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

func checkTagValue(v *File, at strict.Path, value string) {
	switch n := utf8.RuneCountInString(value); {
	case n > maxTagValue:
		v.Problem(at, fmt.Sprintf("shorten it by %d", n-maxTagValue),
			"the value has %d characters; AWS allows %d", n, maxTagValue)
	case !tagText.MatchString(value):
		v.Problem(at, "use letters, digits, spaces and _ . : / = + - @",
			"%s has characters that AWS does not allow in a tag", wording.Quote(value))
	}
}
