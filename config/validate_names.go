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

// growth is a name in the cloud that is made from one in the file.
type growth struct {
	what  string
	name  string
	limit int
}

// names checks the names made from the cluster's name.
func (v *validator) names() {
	name := v.c.Name
	v.fits("name", growth{"the control plane's IAM role", name + "-cluster", maxRoleName})
	// By GroupName of CreateSecurityGroup in the EC2 API.
	if strings.HasPrefix(name, "sg-") {
		v.problem("name", "begin it otherwise", "%s begins the names of security groups, and EC2 allows none that begins with sg-", wording.Quote(name))
	}
}

// fits reports a name that becomes too long.
func (v *validator) fits(p strict.Path, g growth) {
	over := len(g.name) - g.limit
	if over <= 0 {
		return
	}
	remedy := fmt.Sprintf("shorten it by %d", over)
	if p != "name" && strings.HasPrefix(g.name, v.c.Name) {
		remedy += ", or the cluster's name"
	}
	v.problem(p, remedy, "makes the name of %s %s, which has %d characters; at most %d are allowed",
		g.what, wording.Quote(g.name), len(g.name), g.limit)
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

func (v *validator) tags() {
	if n := len(v.c.Tags); n > maxTags-ownTags {
		v.problem("tags", fmt.Sprintf("remove %d", n-(maxTags-ownTags)),
			"has %d tags; AWS allows %d on a resource, and Tombolo sets %d of them", n, maxTags, ownTags)
	}
	for _, key := range slices.Sorted(maps.Keys(v.c.Tags)) {
		at := strict.Path("tags").Key(key)
		v.tagKey(at, key)
		v.tagValue(at, v.c.Tags[key])
	}
}

func (v *validator) tagKey(at strict.Path, key string) {
	lower := strings.ToLower(key)
	switch n := utf8.RuneCountInString(key); {
	case key == "":
		v.keyProblem(at, "give it a key", "the key is empty")
	case n > maxTagKey:
		v.keyProblem(at, fmt.Sprintf("shorten it by %d", n-maxTagKey),
			"the key has %d characters; AWS allows %d", n, maxTagKey)
	case strings.HasPrefix(lower, "aws:"):
		v.keyProblem(at, "use another prefix", "the prefix aws: is reserved by AWS")
	case strings.HasPrefix(lower, "tombolo:"):
		v.keyProblem(at, "use another prefix", "the prefix tombolo: is reserved; Tombolo sets these tags itself")
	case strings.HasPrefix(key, "kubernetes.io/"):
		v.keyProblem(at, "use another prefix", "the prefix kubernetes.io/ is reserved; controllers find their subnets by it")
	case key == "Name":
		v.keyProblem(at, "use another key", "is set by Tombolo, to another value on each resource")
	case !tagText.MatchString(key):
		v.keyProblem(at, "use letters, digits, spaces and _ . : / = + - @", "the key has characters that AWS does not allow")
	}
}

func (v *validator) tagValue(at strict.Path, value string) {
	switch n := utf8.RuneCountInString(value); {
	case n > maxTagValue:
		v.problem(at, fmt.Sprintf("shorten it by %d", n-maxTagValue),
			"the value has %d characters; AWS allows %d", n, maxTagValue)
	case !tagText.MatchString(value):
		v.problem(at, "use letters, digits, spaces and _ . : / = + - @",
			"%s has characters that AWS does not allow in a tag", wording.Quote(value))
	}
}
