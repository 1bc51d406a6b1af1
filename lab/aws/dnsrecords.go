package aws

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// dnsRecordTypes that Route 53 offers. Source:
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/ResourceRecordTypes.html
var dnsRecordTypes = []string{
	"A", "AAAA", "CAA", "CNAME", "DS", "HTTPS", "MX", "NAPTR", "NS", "PTR", "SOA", "SPF", "SRV", "SSHFP", "SVCB", "TLSA", "TXT",
}

// routingPolicies need a set identifier: they are what lets several records
// have one name and type.
var routingPolicies = []string{
	"cidrRoutingPolicy", "failoverRoutingPolicies", "geolocationRoutingPolicies", "geoproximityRoutingPolicy",
	"latencyRoutingPolicies", "multivalueAnswerRoutingPolicy", "weightedRoutingPolicies",
}

func validateRecord(in props) []problem {
	problems := exactlyOne(in, "aliases", "records")
	if in.has("records") != in.has("ttl") {
		problems = append(problems, problem{"ttl", "all of `records,ttl` must be specified"})
	}
	problems = append(problems, inRange(in, "ttl", 0, 1<<31-1)...)
	if kind := in.str("type"); kind != "" && !slices.Contains(dnsRecordTypes, kind) {
		problems = append(problems, problem{"type", fmt.Sprintf("expected type to be one of %q, got %s", dnsRecordTypes, kind)})
	}
	for _, policy := range routingPolicies {
		if in.has(policy) && !in.has("setIdentifier") {
			problems = append(problems, problem{policy, fmt.Sprintf("%q: all of `%s,setIdentifier` must be specified", policy, policy)})
		}
	}
	return problems
}

// createRecord adds a record set, or with allowOverwrite takes one over.
func createRecord(c *call) (string, error) {
	if err := placeRecord(c); err != nil {
		return "", err
	}
	in := c.in()
	if other := c.sameRecord(); other != nil {
		if !in.boolean("allowOverwrite") {
			return "", c.badChange("Tried to create resource record set [name='%s.', type='%s'] but it already exists", c.out().str("fqdn"), in.str("type"))
		}
		// Its id is another one where its name is written differently.
		if err := c.cloud.store.remove(other); err != nil {
			return "", err
		}
	}
	parts := []string{in.str("zoneId"), domain(in.str("name")), in.str("type")}
	if set := in.str("setIdentifier"); set != "" {
		parts = append(parts, set)
	}
	return strings.Join(parts, "_"), c.cloud.validateCertificates(c.r)
}

func updateRecord(c *call) error {
	if err := placeRecord(c); err != nil {
		return err
	}
	return c.cloud.validateCertificates(c.r)
}

// placeRecord says where a record is, and refuses what Route 53 refuses.
func placeRecord(c *call) error {
	zone := c.find(hostedZoneType, c.in().str("zoneId")).Outputs.str("name")
	out := c.out()
	out["name"], out["fqdn"] = domain(c.in().str("name")), recordName(c.in().str("name"), zone)
	out.setDefault("allowOverwrite", false)
	if err := c.checkRecordName(zone); err != nil {
		return err
	}
	for _, value := range c.in().list("records") {
		if reason := badRecord(c.in().str("type"), value); reason != "" {
			return c.badChange("Invalid Resource Record: 'FATAL problem: %s encountered with '%s''", reason, value)
		}
	}
	return nil
}

// recordName is a record's full name: the provider adds the zone's to names
// that do not end with it.
func recordName(name, zone string) string {
	name = domain(name)
	switch {
	case strings.HasSuffix(name, zone):
		return name
	case name == "":
		return zone
	default:
		return name + "." + zone
	}
}

// badChange is the refusal of a change, with Route 53's list of reasons.
func (c *call) badChange(format string, args ...any) error {
	return c.refusef("InvalidChangeBatch", "[%s]", fmt.Sprintf(format, args...))
}

// sameRecord is another record set with the name, type and set identifier of
// the call's.
func (c *call) sameRecord() *record {
	for r := range c.others() {
		if r.Inputs.str("zoneId") == c.in().str("zoneId") && r.Outputs.str("fqdn") == c.out().str("fqdn") &&
			r.Inputs.str("type") == c.in().str("type") && r.Inputs.str("setIdentifier") == c.in().str("setIdentifier") {
			return r
		}
	}
	return nil
}

func (c *call) checkRecordName(zone string) error {
	name, kind := c.out().str("fqdn"), c.in().str("type")
	switch {
	case name != zone && !strings.HasSuffix(name, "."+zone):
		return c.badChange("RRSet with DNS name %s. is not permitted in zone %s.", name, zone)
	case !domainName.MatchString(name):
		return c.badChange("FATAL problem: DomainLabelInvalid encountered with '%s'", name)
	case kind == "CNAME" && name == zone:
		return c.badChange("RRSet of type CNAME with DNS name %s. is not permitted at apex in zone %s.", name, zone)
	case kind == "CNAME" && len(c.in().list("records")) > 1:
		// The wording of AWS's message is not documented.
		return c.badChange("RRSet of type CNAME with DNS name %s. has more than one value", name)
	}
	for r := range c.others() {
		if r.Inputs.str("zoneId") != c.in().str("zoneId") || r.Outputs.str("fqdn") != name {
			continue
		}
		if other := r.Inputs.str("type"); other != kind && (other == "CNAME" || kind == "CNAME") {
			return c.badChange("RRSet of type %s with DNS name %s. is not permitted as it conflicts with other records with the same DNS name in zone %s.", kind, name, zone)
		}
	}
	return nil
}

// badRecord says what is wrong with a value. The provider quotes text records.
func badRecord(kind, value string) string {
	switch kind {
	case "A":
		if ip, err := netip.ParseAddr(value); err != nil || !ip.Is4() {
			return "ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address)"
		}
	case "AAAA":
		if ip, err := netip.ParseAddr(value); err != nil || !ip.Is6() {
			return "AAAARRDATAIllegalIPv6Address (Value is not a valid IPv6 address)"
		}
	case "CNAME":
		if !domainName.MatchString(domain(value)) {
			return "DomainLabelInvalid (Value is not a valid domain name)"
		}
	case "TXT", "SPF":
		for part := range strings.SplitSeq(value, `""`) {
			if len(strings.Trim(part, `"`)) > 255 {
				return "CharacterStringTooLong (Value is too long)"
			}
		}
	}
	return ""
}

// identifiesRecord knows a record by the provider's import form, in which the
// name is written as in the program.
func identifiesRecord(r *record, id string) bool {
	return strings.HasPrefix(id, r.Inputs.str("zoneId")+"_") && strings.EqualFold(strings.ReplaceAll(id, "._", "_"), r.ID)
}
