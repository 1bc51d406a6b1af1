package aws

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/route53"
)

const (
	hostedZoneType = "aws:route53/zone:Zone"
	dnsRecordType  = "aws:route53/record:Record"
)

// The hosted zone that the account has from its start, as an account has zones
// that no cluster makes: clusters name it, and put records into it.
const (
	// LabZoneID is the id of the account's own public hosted zone.
	LabZoneID = "Z01234567LABTEST00000"
	// LabZoneName is its domain; .test is reserved for tests (RFC 6761).
	LabZoneName = "lab.test"
)

// tagsHome is the region whose tagging API knows Route 53's resources.
const tagsHome = "us-east-1"

func missingZone() refusal {
	return refusal{code: "NoSuchHostedZone", message: "No hosted zone found with ID: %s", status: 404}
}

func dnsTypes() map[string]*resourceType {
	return map[string]*resourceType{
		hostedZoneType: {
			constructor: route53.NewZone,
			noun:        "Route53 Hosted Zone",
			global:      true,
			tagsHome:    tagsHome,
			api:         api{service: "Route 53", create: "CreateHostedZone", update: "UpdateHostedZoneComment", remove: "DeleteHostedZone"},
			// internal/service/route53/zone.go
			forceNew: []string{"delegationSetId", "name"},
			autoname: autoname{property: "name", max: 255},
			defaults: props{"comment": "Managed by Pulumi", "forceDestroy": false},
			references: []reference{{path: []string{"vpcs", "vpcId"}, to: vpcType, weak: true, missing: refusal{
				code: "InvalidVPCId", message: "The VPC: %s you have provided is not authorized to make the association.",
			}}},
			validate: validateZone,
			create:   createZone,
			update:   checkZoneNetworks,
			remove:   removeZone,
			takes:    timing{create: 35 * time.Second, update: time.Second, remove: time.Second},
		},
		dnsRecordType: {
			constructor: route53.NewRecord,
			noun:        "Route53 Record",
			global:      true,
			api:         api{service: "Route 53", create: "ChangeResourceRecordSets", update: "ChangeResourceRecordSets", remove: "ChangeResourceRecordSets"},
			// internal/service/route53/record.go
			forceNew:   []string{"name", "zoneId"},
			references: []reference{{path: []string{"zoneId"}, to: hostedZoneType, missing: missingZone(), weak: true}},
			validate:   validateRecord,
			create:     createRecord,
			update:     updateRecord,
			identifies: identifiesRecord,
			// Users of the provider report 30 to 60 seconds until a change is
			// on all of Route 53's servers.
			takes: timing{create: 35 * time.Second, update: 35 * time.Second, remove: 35 * time.Second},
		},
	}
}

var domainName = regexp.MustCompile(`^([*a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_*]([a-z0-9_-]{0,61}[a-z0-9_])?$`)

// domain is a name as Route 53 compares it.
func domain(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

func validateZone(in props) []problem {
	if name := in.str("name"); len(name) > 1024 {
		return []problem{{"name", "expected length of name to be in the range (1 - 1024)"}}
	}
	return nil
}

func createZone(c *call) (string, error) {
	name := domain(c.in().str("name"))
	if !domainName.MatchString(name) {
		return "", c.refusef("InvalidDomainName", "%s is not a valid domain name", c.in().str("name"))
	}
	if err := checkZoneNetworks(c); err != nil {
		return "", err
	}
	id := "Z0" + strings.ToUpper(randomHex(19))
	describeZone(c.out(), c.cloud, id, name)
	return id, implyZoneRecords(c.cloud, id, name, c.out().list("nameServers"))
}

func describeZone(out props, c *Cloud, id, name string) {
	servers := make([]string, 4)
	for i, suffix := range []string{"com", "net", "org", "co.uk"} {
		n := hashed(id, suffix)
		servers[i] = fmt.Sprintf("ns-%d.awsdns-%02d.%s", n%2048, n%64, suffix)
	}
	out["name"], out["zoneId"] = name, id
	out["arn"] = fmt.Sprintf("arn:%s:route53:::hostedzone/%s", partition(c.options.Region), id)
	out["nameServers"], out["primaryNameServer"] = anys(servers...), servers[0]
	out.setDefault("vpcs", []any{})
}

// implyZoneRecords makes the two records that every zone begins with.
func implyZoneRecords(c *Cloud, zone, name string, servers []string) error {
	soa := servers[0] + ". awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400"
	for kind, values := range map[string][]any{"NS": anys(servers...), "SOA": {soa}} {
		in := props{"zoneId": zone, "name": name, "type": kind, "ttl": 900.0, "records": values}
		out := in.clone()
		out["fqdn"], out["allowOverwrite"] = name, false
		err := c.store.put(&record{
			Type: dnsRecordType, ID: strings.Join([]string{zone, name, kind}, "_"), Region: global,
			Created: c.now(), Implied: true, Inputs: in, Outputs: out,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkZoneNetworks refuses a second private zone of a name in a VPC.
func checkZoneNetworks(c *call) error {
	for r := range c.others() {
		if r.Outputs.str("name") != domain(c.in().str("name")) {
			continue
		}
		for _, vpc := range c.in().at("vpcs", "vpcId") {
			if slices.Contains(r.Inputs.at("vpcs", "vpcId"), vpc) {
				return c.refusef("ConflictingDomainExists", "The VPC %s in region %s has already been associated with the hosted zone %s with the same domain name.", vpc, c.region, r.ID)
			}
		}
	}
	c.out()["name"] = domain(c.in().str("name"))
	return nil
}

// removeZone refuses while records are left that the zone did not begin with;
// forceDestroy deletes them first.
func removeZone(c *call) error {
	for r := range c.cloud.each(dnsRecordType, global) {
		if r.Implied || r.Inputs.str("zoneId") != c.r.ID {
			continue
		}
		if !c.r.Inputs.boolean("forceDestroy") {
			return c.refusef("HostedZoneNotEmpty", "The specified hosted zone contains non-required resource record sets and so cannot be deleted.")
		}
		if err := c.cloud.store.remove(r); err != nil {
			return err
		}
	}
	return nil
}

// ownZone makes the account's own hosted zone where it is missing. It counts
// as made by AWS: no stack owns it.
func (c *Cloud) ownZone() error {
	if c.store.get(hostedZoneType, global, LabZoneID) != nil {
		return nil
	}
	in := props{"name": LabZoneName, "comment": "The lab's own zone", "forceDestroy": false}
	out := in.clone()
	describeZone(out, c, LabZoneID, LabZoneName)
	out["tags"], out["tagsAll"] = map[string]any{}, map[string]any{}
	servers := out.list("nameServers")
	if err := implyZoneRecords(c, LabZoneID, LabZoneName, servers); err != nil {
		return err
	}
	return c.store.put(&record{
		Type: hostedZoneType, ID: LabZoneID, Region: global, Created: c.now(), Implied: true, Inputs: in, Outputs: out,
	})
}

func dnsFunctions() map[string]*function {
	return map[string]*function{
		"aws:route53/getZone:getZone": {sdk: route53.LookupZone, run: getZone},
	}
}

// getZone finds a zone by its id, or by its name among the public zones, or the
// private ones where asked for.
func getZone(q *query) (props, error) {
	id, name := q.args.str("zoneId"), q.args.str("name")
	if id == "" && name == "" && !q.args.has("tags") {
		return nil, errors.New("one of `name,tags,zone_id` must be specified")
	}
	private := q.args.boolean("privateZone") || q.args.has("vpcId")
	var found []*record
	for r := range q.cloud.each(hostedZoneType, global) {
		vpcs := r.Inputs.at("vpcs", "vpcId")
		switch {
		case id != "" && r.ID != id,
			name != "" && r.Outputs.str("name") != domain(name),
			id == "" && private != (len(vpcs) > 0),
			q.args.has("vpcId") && !slices.Contains(vpcs, q.args.str("vpcId")),
			!hasTags(r, q.args.strs("tags")):
			continue
		}
		found = append(found, r)
	}
	if len(found) == 0 {
		return nil, errors.New("no matching Route 53 Hosted Zone found")
	}
	if len(found) > 1 {
		return nil, errors.New("multiple Route 53 Hosted Zones matched; use additional constraints to reduce matches to a single Route 53 Hosted Zone")
	}
	return describeFoundZone(q, found[0]), nil
}

func describeFoundZone(q *query, r *record) props {
	count := 0
	for record := range q.cloud.each(dnsRecordType, global) {
		if record.Inputs.str("zoneId") == r.ID {
			count++
		}
	}
	vpc := ""
	if vpcs := r.Inputs.at("vpcs", "vpcId"); len(vpcs) > 0 {
		vpc = vpcs[0]
	}
	return merged(withID(r), props{
		"callerReference": r.ID, "linkedServiceDescription": "", "linkedServicePrincipal": "",
		"privateZone": vpc != "", "vpcId": vpc, "resourceRecordSetCount": count,
	})
}

func hasTags(r *record, tags map[string]string) bool {
	for k, v := range tags {
		if r.Outputs.strs("tags")[k] != v {
			return false
		}
	}
	return true
}
