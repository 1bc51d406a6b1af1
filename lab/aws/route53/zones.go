// Package route53 is Route 53 in the stand-in.
package route53

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/route53"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/standin"
)

// The hosted zone that the account has from its start, as an account has zones
// that no cluster makes: clusters name it, and put records into it.
const (
	// LabZoneID is the id of the account's own public hosted zone.
	LabZoneID = "Z01234567LABTEST00000"
	// LabZoneName is its domain; .test is reserved for tests (RFC 6761).
	LabZoneName = "lab.test"
)

func missingZone() standin.Refusal {
	return standin.Refusal{Code: "NoSuchHostedZone", Message: "No hosted zone found with ID: %s", Status: 404}
}

// Types are zones and their records. changed is told of every record that is
// made or changed.
func Types(changed func(c *standin.Cloud, r *standin.Record) error) map[string]*standin.Type {
	return map[string]*standin.Type{
		ZoneType: {
			Constructor: route53.NewZone,
			Noun:        "Route53 Hosted Zone",
			Global:      true,
			API:         standin.API{Service: "Route 53", Create: "CreateHostedZone", Update: "UpdateHostedZoneComment", Remove: "DeleteHostedZone"},
			// internal/service/route53/zone.go
			ForceNew: []string{"delegationSetId", "name"},
			Autoname: standin.Autoname{Property: "name", Max: 255},
			Defaults: standin.Props{"comment": "Managed by Pulumi", "forceDestroy": false},
			References: []standin.Reference{{Path: []string{"vpcs", "vpcId"}, To: ec2.VPCType, Weak: true, Missing: standin.Refusal{
				Code: "InvalidVPCId", Message: "The VPC: %s you have provided is not authorized to make the association.",
			}}},
			Put:    checkZoneNetworks,
			Create: createZone,
			Remove: removeZone,
			Takes:  standin.Timing{Create: 35 * time.Second, Update: time.Second, Remove: time.Second},
		},
		RecordType: {
			Constructor: route53.NewRecord,
			Noun:        "Route53 Record",
			Global:      true,
			API:         standin.API{Service: "Route 53", Create: "ChangeResourceRecordSets", Update: "ChangeResourceRecordSets", Remove: "ChangeResourceRecordSets"},
			// internal/service/route53/record.go
			ForceNew:   []string{"name", "zoneId"},
			References: []standin.Reference{{Path: []string{"zoneId"}, To: ZoneType, Missing: missingZone(), Weak: true}},
			Validate:   validateRecord,
			Put:        placeRecord,
			Create: func(c *standin.Call) (string, error) {
				id, err := createRecord(c)
				if err != nil {
					return "", err
				}
				return id, changed(c.Cloud, c.Record)
			},
			Update:     func(c *standin.Call) error { return changed(c.Cloud, c.Record) },
			Identifies: identifiesRecord,
			// Users of the provider report 30 to 60 seconds until a change is
			// on all of Route 53's servers.
			Takes: standin.Timing{Create: 35 * time.Second, Update: 35 * time.Second, Remove: 35 * time.Second},
		},
	}
}

var domainName = regexp.MustCompile(`^([*a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_*]([a-z0-9_-]{0,61}[a-z0-9_])?$`)

func createZone(c *standin.Call) (string, error) {
	name := Domain(c.In().Str("name"))
	if !domainName.MatchString(name) {
		return "", c.Refusef("InvalidDomainName", "%s is not a valid domain name", c.In().Str("name"))
	}
	id := "Z0" + strings.ToUpper(account.RandomHex(19))
	describeZone(c.Out(), c.Cloud, id, name)
	return id, implyZoneRecords(c.Cloud, id, name, c.Out().List("nameServers"))
}

func describeZone(out standin.Props, c *standin.Cloud, id, name string) {
	servers := make([]string, 4)
	for i, suffix := range []string{"com", "net", "org", "co.uk"} {
		n := account.Hashed(id, suffix)
		servers[i] = fmt.Sprintf("ns-%d.awsdns-%02d.%s", n%2048, n%64, suffix)
	}
	out["name"], out["zoneId"] = name, id
	out["arn"] = fmt.Sprintf("arn:%s:route53:::hostedzone/%s", account.Partition(c.Region), id)
	out["nameServers"], out["primaryNameServer"] = standin.Values(servers...), servers[0]
	out.SetDefault("vpcs", []any{})
}

// implyZoneRecords makes the two records that every zone begins with.
func implyZoneRecords(c *standin.Cloud, zone, name string, servers []string) error {
	soa := servers[0] + ". awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400"
	for kind, values := range map[string][]any{"NS": standin.Values(servers...), "SOA": {soa}} {
		in := standin.Props{"zoneId": zone, "name": name, "type": kind, "ttl": 900.0, "records": values}
		out := in.Clone()
		out["fqdn"], out["allowOverwrite"] = name, false
		err := c.Put(&standin.Record{
			Type: RecordType, ID: strings.Join([]string{zone, name, kind}, "_"), Region: standin.Global,
			Created: c.Now(), Implied: true, Inputs: in, Outputs: out,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkZoneNetworks refuses a second private zone of a name in a VPC.
func checkZoneNetworks(c *standin.Call) error {
	for r := range c.Others() {
		if r.Outputs.Str("name") != Domain(c.In().Str("name")) {
			continue
		}
		for _, vpc := range c.In().At("vpcs", "vpcId") {
			if slices.Contains(r.Inputs.At("vpcs", "vpcId"), vpc) {
				return c.Refusef("ConflictingDomainExists", "The VPC %s in region %s has already been associated with the hosted zone %s with the same domain name.", vpc, c.Region, r.ID)
			}
		}
	}
	c.Out()["name"] = Domain(c.In().Str("name"))
	return nil
}

// removeZone refuses while records are left that the zone did not begin with;
// forceDestroy deletes them first.
func removeZone(c *standin.Call) error {
	for r := range c.Cloud.Each(RecordType, standin.Global) {
		if r.Implied || r.Inputs.Str("zoneId") != c.Record.ID {
			continue
		}
		if !c.Record.Inputs.Boolean("forceDestroy") {
			return c.Refusef("HostedZoneNotEmpty", "The specified hosted zone contains non-required resource record sets and so cannot be deleted.")
		}
		if err := c.Cloud.Forget(r); err != nil {
			return err
		}
	}
	return nil
}

// OwnZone makes the account's own hosted zone where it is missing. It counts
// as made by AWS: no stack owns it.
func OwnZone(c *standin.Cloud) error {
	if c.Get(ZoneType, standin.Global, LabZoneID) != nil {
		return nil
	}
	in := standin.Props{"name": LabZoneName, "comment": "The lab's own zone", "forceDestroy": false}
	out := in.Clone()
	describeZone(out, c, LabZoneID, LabZoneName)
	out["tags"], out["tagsAll"] = map[string]any{}, map[string]any{}
	servers := out.List("nameServers")
	if err := implyZoneRecords(c, LabZoneID, LabZoneName, servers); err != nil {
		return err
	}
	return c.Put(&standin.Record{
		Type: ZoneType, ID: LabZoneID, Region: standin.Global, Created: c.Now(), Implied: true, Inputs: in, Outputs: out,
	})
}

// Functions look up hosted zones.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:route53/getZone:getZone": {SDK: route53.LookupZone, Run: getZone},
	}
}

// getZone finds a zone by its id, or by its name among the public zones, or the
// private ones where asked for.
func getZone(q *standin.Query) (standin.Props, error) {
	id, name := q.Args.Str("zoneId"), q.Args.Str("name")
	if id == "" && name == "" && !q.Args.Has("tags") {
		return nil, errors.New("one of `name,tags,zone_id` must be specified")
	}
	private := q.Args.Boolean("privateZone") || q.Args.Has("vpcId")
	var found []*standin.Record
	for r := range q.Cloud.Each(ZoneType, standin.Global) {
		vpcs := r.Inputs.At("vpcs", "vpcId")
		switch {
		case id != "" && r.ID != id,
			name != "" && r.Outputs.Str("name") != Domain(name),
			id == "" && private != (len(vpcs) > 0),
			q.Args.Has("vpcId") && !slices.Contains(vpcs, q.Args.Str("vpcId")),
			!r.HasTags(q.Args.Strs("tags")):
			continue
		}
		found = append(found, r)
	}
	zone, err := ec2.Only(found, "Route 53 Hosted Zone")
	if err != nil {
		return nil, err
	}
	return describeFoundZone(q, zone), nil
}

func describeFoundZone(q *standin.Query, r *standin.Record) standin.Props {
	count := 0
	for record := range q.Cloud.Each(RecordType, standin.Global) {
		if record.Inputs.Str("zoneId") == r.ID {
			count++
		}
	}
	vpc := ""
	if vpcs := r.Inputs.At("vpcs", "vpcId"); len(vpcs) > 0 {
		vpc = vpcs[0]
	}
	return standin.Merged(standin.WithID(r), standin.Props{
		"callerReference": r.ID, "linkedServiceDescription": "", "linkedServicePrincipal": "",
		"privateZone": vpc != "", "vpcId": vpc, "resourceRecordSetCount": count,
	})
}

// The types of Route 53.
const (
	ZoneType   = "aws:route53/zone:Zone"
	RecordType = "aws:route53/record:Record"
)

// Domain is a name as Route 53 compares it.
func Domain(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
