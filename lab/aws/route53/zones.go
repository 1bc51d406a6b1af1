// Package route53 is Route 53 in the stand-in.
package route53

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/route53"

	"tombolo/lab/aws/account"
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

// Types are the records of zones. Zones are made by nobody. changed is told of every
// record that is made or changed.
func Types(changed func(c *standin.Cloud, r *standin.Record) error) map[string]*standin.Type {
	return map[string]*standin.Type{
		RecordType: {
			Constructor: route53.NewRecord,
			Noun:        "Route53 Record",
			Global:      true,
			API:         standin.API{Service: "Route 53", Create: "ChangeResourceRecordSets", Update: "ChangeResourceRecordSets", Remove: "ChangeResourceRecordSets"},
			// internal/service/route53/record.go
			ForceNew:   []string{"name", "zoneId"},
			References: []standin.Reference{{Path: []string{"zoneId"}, To: ZoneType, Missing: missingZone(), Weak: true}},
			Unplayed:   routingPolicies,
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

func describeZone(out standin.Props, c *standin.Cloud, id, name string) {
	servers := make([]string, 4)
	for i, suffix := range []string{"com", "net", "org", "co.uk"} {
		n := account.Hashed(id, suffix)
		servers[i] = fmt.Sprintf("ns-%d.awsdns-%02d.%s", n%2048, n%64, suffix)
	}
	out["name"], out["zoneId"] = name, id
	out["arn"] = fmt.Sprintf("arn:%s:route53:::hostedzone/%s", account.Partition(c.Region), id)
	out["nameServers"], out["primaryNameServer"] = standin.Values(servers...), servers[0]
	out["vpcs"] = []any{}
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

// getZone finds a zone by its id, as the programs do.
func getZone(q *standin.Query) (standin.Props, error) {
	if !q.Args.Has("zoneId") {
		return nil, errors.New("the AWS stand-in is asked for a hosted zone by its id")
	}
	zone := q.Find(ZoneType, q.Args.Str("zoneId"))
	if zone == nil {
		return nil, errors.New("no matching Route 53 Hosted Zone found")
	}
	count := 0
	for record := range q.Cloud.Each(RecordType, standin.Global) {
		if record.Inputs.Str("zoneId") == zone.ID {
			count++
		}
	}
	return standin.Merged(standin.WithID(zone), standin.Props{
		"callerReference": zone.ID, "linkedServiceDescription": "", "linkedServicePrincipal": "",
		"privateZone": false, "vpcId": "", "resourceRecordSetCount": count,
	}), nil
}

// The types of Route 53.
const (
	ZoneType   = "aws:route53/zone:Zone"
	RecordType = "aws:route53/record:Record"
)

// Domain is a name as Route 53 compares it.
func Domain(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
