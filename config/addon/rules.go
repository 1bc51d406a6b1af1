package addon

import (
	"regexp"
	"strings"

	"tombolo/config/field"
	"tombolo/config/strict"
)

// Fields are the descriptors of all options, and of the types that they share. Options change roles,
// what the addon has in the cloud, and published values: nearly all in place, for what cannot be
// changed there is made anew beside the old one.
func Fields() field.Set {
	sets := []field.Set{zoneFields}
	for _, a := range catalogue {
		sets = append(sets, a.fields)
	}
	return field.Join(sets...)
}

var domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$`)

// kmsKeys is the rule of KMS keys that options name.
var kmsKeys = strict.Rule{
	What: "the ARN of a KMS key", Noun: "key",
	Example: "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
	Pattern: regexp.MustCompile(`^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`),
}

// inZone says whether a name is the zone's or below it.
func inZone(name, zone string) bool {
	name = strings.TrimPrefix(name, "*.")
	return name == zone || strings.HasSuffix(name, "."+zone)
}

// ownKey is what to do about a KMS key of another region.
const ownKey = "use a key of the cluster's region, or leave it out for AWS's own"
