package route53

import (
	"fmt"
	"net/netip"
	"strings"

	"tombolo/lab/standin"
)

// routingPolicies are what lets several records have one name and type.
var routingPolicies = []string{
	"cidrRoutingPolicy", "failoverRoutingPolicies", "geolocationRoutingPolicies", "geoproximityRoutingPolicy",
	"latencyRoutingPolicies", "multivalueAnswerRoutingPolicy", "setIdentifier", "weightedRoutingPolicies",
}

func validateRecord(in standin.Props) []standin.Problem {
	problems := standin.ExactlyOne(in, "aliases", "records")
	if in.Has("records") != in.Has("ttl") {
		problems = append(problems, standin.Problem{Path: "ttl", Reason: "all of `records,ttl` must be specified"})
	}
	return problems
}

// createRecord adds a record set, or with allowOverwrite takes one over.
func createRecord(c *standin.Call) (string, error) {
	in := c.In()
	if other := sameRecord(c); other != nil {
		if !in.Boolean("allowOverwrite") {
			return "", badChange(c, "Tried to create resource record set [name='%s.', type='%s'] but it already exists", c.Out().Str("fqdn"), in.Str("type"))
		}
		// Its id is another one where its name is written differently.
		if err := c.Cloud.Forget(other); err != nil {
			return "", err
		}
	}
	return strings.Join([]string{in.Str("zoneId"), Domain(in.Str("name")), in.Str("type")}, "_"), nil
}

// placeRecord says where a record is, and refuses what Route 53 refuses.
func placeRecord(c *standin.Call) error {
	zone := c.Find(ZoneType, c.In().Str("zoneId")).Outputs.Str("name")
	out := c.Out()
	out["name"], out["fqdn"] = Domain(c.In().Str("name")), recordName(c.In().Str("name"), zone)
	out.SetDefault("allowOverwrite", false)
	if err := checkRecordName(c, zone); err != nil {
		return err
	}
	for _, value := range c.In().List("records") {
		if reason := badRecord(c.In().Str("type"), value); reason != "" {
			return badChange(c, "Invalid Resource Record: 'FATAL problem: %s encountered with '%s''", reason, value)
		}
	}
	return nil
}

// recordName is a record's full name: the provider adds the zone's to names
// that do not end with it.
func recordName(name, zone string) string {
	name = Domain(name)
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
func badChange(c *standin.Call, format string, args ...any) error {
	return c.Refusef("InvalidChangeBatch", "[%s]", fmt.Sprintf(format, args...))
}

// sameRecord is another record set with the name and type of the call's.
func sameRecord(c *standin.Call) *standin.Record {
	for r := range c.Others() {
		if r.Inputs.Str("zoneId") == c.In().Str("zoneId") && r.Outputs.Str("fqdn") == c.Out().Str("fqdn") && r.Inputs.Str("type") == c.In().Str("type") {
			return r
		}
	}
	return nil
}

func checkRecordName(c *standin.Call, zone string) error {
	name, kind := c.Out().Str("fqdn"), c.In().Str("type")
	switch {
	case name != zone && !strings.HasSuffix(name, "."+zone):
		return badChange(c, "RRSet with DNS name %s. is not permitted in zone %s.", name, zone)
	case !domainName.MatchString(name):
		return badChange(c, "FATAL problem: DomainLabelInvalid encountered with '%s'", name)
	case kind == "CNAME" && name == zone:
		return badChange(c, "RRSet of type CNAME with DNS name %s. is not permitted at apex in zone %s.", name, zone)
	case kind == "CNAME" && len(c.In().List("records")) > 1:
		// The wording of AWS's message is not documented.
		return badChange(c, "RRSet of type CNAME with DNS name %s. has more than one value", name)
	}
	for r := range c.Others() {
		if r.Inputs.Str("zoneId") != c.In().Str("zoneId") || r.Outputs.Str("fqdn") != name {
			continue
		}
		if other := r.Inputs.Str("type"); other != kind && (other == "CNAME" || kind == "CNAME") {
			return badChange(c, "RRSet of type %s with DNS name %s. is not permitted as it conflicts with other records with the same DNS name in zone %s.", kind, name, zone)
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
		if !domainName.MatchString(Domain(value)) {
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
func identifiesRecord(r *standin.Record, id string) bool {
	return strings.HasPrefix(id, r.Inputs.Str("zoneId")+"_") && strings.EqualFold(strings.ReplaceAll(id, "._", "_"), r.ID)
}
