package addon

import (
	"regexp"
	"strings"

	"tombolo/config/strict"
)

// RuleOf is the rule of an options' field, "DNSOptions.Zones", if it has one.
func RuleOf(field string) (strict.Rule, bool) {
	if r, ok := sharedRules[field]; ok {
		return r, true
	}
	for _, a := range catalogue {
		if r, ok := a.rules[field]; ok {
			return r, true
		}
	}
	return strict.Rule{}, false
}

var domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$`)

// sharedRules are the rules of types that several addons' options use.
var sharedRules = map[string]strict.Rule{
	"Zone.ID": {
		What: "the id of a Route 53 hosted zone", Example: "Z0123456789ABCDEFGHIJ",
		Pattern: regexp.MustCompile(`^Z[A-Z0-9]{5,31}$`),
	},
	"Zone.Name": {What: "a domain name", Example: "example.com", Pattern: domainName, MaxLength: 253},
}

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
