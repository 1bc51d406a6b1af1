package aws

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab/aws/route53"
	"tombolo/lab/standin"
)

// recordIn is a record of an address in the account's own zone, changed.
func recordIn(change props) props {
	return standin.Merged(props{"zoneId": route53.LabZoneID, "name": "www", "type": "A", "ttl": 60, "records": []any{"192.0.2.1"}}, change)
}

func TestDNSRefusals(t *testing.T) {
	alias := []any{map[string]any{"name": "x.example.com", "zoneId": route53.LabZoneID, "evaluateTargetHealth": false}}
	both := recordIn(props{"aliases": alias})
	noTTL := recordIn(nil)
	delete(noTTL, "ttl")
	refused(t, newNetwork, []attempt{
		{"no zone", route53.RecordType, recordIn(props{"zoneId": "Z0NONE"}), "StatusCode: 404"},
		{"no zone code", route53.RecordType, recordIn(props{"zoneId": "Z0NONE"}), "NoSuchHostedZone: No hosted zone found with ID: Z0NONE"},
		{"record and alias", route53.RecordType, both, "Invalid combination of arguments. one of [aliases records] must be specified"},
		{"no TTL", route53.RecordType, noTTL, "ttl: all of `records,ttl` must be specified"},
		{"TTL", route53.RecordType, recordIn(props{"ttl": -1}), "expected ttl to be in the range (0 - 2147483647), got -1"},
		{"type", route53.RecordType, recordIn(props{"type": "ALIAS"}), `expected type to be one of ["SOA" "A"`},
		{"set of records", route53.RecordType, recordIn(props{"setIdentifier": "blue"}), "the stand-in does not play setIdentifier of aws:route53/record:Record"},
		{
			"address", route53.RecordType, recordIn(props{"records": []any{"192.0.2.256"}}),
			"InvalidChangeBatch: [Invalid Resource Record: 'FATAL problem: ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address) encountered with '192.0.2.256'']",
		},
		{"address of the other kind", route53.RecordType, recordIn(props{"type": "AAAA"}), "AAAARRDATAIllegalIPv6Address (Value is not a valid IPv6 address) encountered with '192.0.2.1'"},
		{"text too long", route53.RecordType, recordIn(props{"type": "TXT", "records": []any{strings.Repeat("x", 256)}}), "CharacterStringTooLong (Value is too long)"},
		{"name outside of the zone", route53.RecordType, recordIn(props{"name": "mylab.test"}), "InvalidChangeBatch: [RRSet with DNS name mylab.test. is not permitted in zone lab.test.]"},
		{
			"alias name at the apex", route53.RecordType, recordIn(props{"name": "lab.test", "type": "CNAME", "records": []any{"a.test"}}),
			"[RRSet of type CNAME with DNS name lab.test. is not permitted at apex in zone lab.test.]",
		},
		{"two canonical names", route53.RecordType, recordIn(props{"type": "CNAME", "records": []any{"a.test", "b.test"}}), "[RRSet of type CNAME with DNS name www.lab.test. has more than one value]"},
		{"canonical name beside an address", route53.RecordType, func(w *world) props {
			w.Make(route53.RecordType, "first", recordIn(nil))
			return recordIn(props{"name": "www.lab.test.", "type": "CNAME", "records": []any{"a.test"}})
		}, "[RRSet of type CNAME with DNS name www.lab.test. is not permitted as it conflicts with other records with the same DNS name in zone lab.test.]"},
		{"record twice", route53.RecordType, func(w *world) props {
			w.Make(route53.RecordType, "first", recordIn(nil))
			return recordIn(props{"name": "WWW.lab.test", "records": []any{"192.0.2.2"}})
		}, "[Tried to create resource record set [name='www.lab.test.', type='A'] but it already exists]"},
		{
			"what a zone begins with", route53.RecordType, recordIn(props{"name": "", "type": "NS", "records": []any{"a.test"}}),
			"[Tried to create resource record set [name='lab.test.', type='NS'] but it already exists]",
		},
	})
}

func TestRecord(t *testing.T) {
	w := emptyWorld(t)
	www := w.Add(route53.RecordType, "www", recordIn(props{"name": "WWW."}))
	assert.Check(t, www.ID == route53.LabZoneID+"_www_A" && www.Out.Str("fqdn") == "www.lab.test", "record is %s, %v", www.ID, www.Out)
	in, _ := w.read(&thing{Token: route53.RecordType, ID: route53.LabZoneID + "_WWW._A"})
	assert.Check(t, in.Str("zoneId") == route53.LabZoneID, "the import form finds %v", in)
	err := w.Update(www, props{"ttl": 300.0})
	assert.Check(t, err == nil && www.Out.Integer("ttl") == 300 && www.Out.Str("fqdn") == "www.lab.test", "update gives %v, %v", err, www.Out)
	w.TakeDown()
}

func TestOverwrittenRecord(t *testing.T) {
	a := newAccount(t)
	a.Make(route53.RecordType, "first", recordIn(nil))
	second := a.Make(route53.RecordType, "second", recordIn(props{"name": "www.lab.test", "records": []any{"192.0.2.2"}, "allowOverwrite": true}))
	items := a.Cloud.Inventory()
	assert.Check(t, len(items) == 1 && items[0].ID == second.ID, "the account has %v", items)
}

// TestOwnZone: the account's zone is there from the start, is no stack's, and is
// the same after a restart.
func TestOwnZone(t *testing.T) {
	a := newAccount(t)
	items := a.Cloud.Inventory()
	assert.Check(t, len(items) == 0, "a new account has %v", items)
	found, err := a.Invoke("aws:route53/getZone:getZone", props{"zoneId": route53.LabZoneID})
	assert.NilError(t, err)
	assert.Check(t, found.Str("name") == route53.LabZoneName && len(found.List("nameServers")) == 4 && found.Integer("resourceRecordSetCount") == 2 && !found.Boolean("privateZone"), "found %v", found)
	a.Make(route53.RecordType, "www", recordIn(nil))
	a.Reopen(standin.Options{})
	a.Configure(props{"region": "us-east-1"})
	again, err := a.Invoke("aws:route53/getZone:getZone", props{"zoneId": route53.LabZoneID})
	assert.NilError(t, err)
	assert.Check(t, slices.Equal(found.List("nameServers"), again.List("nameServers")) && again.Integer("resourceRecordSetCount") == 3, "was %v, is %v", found, again)
}

func TestUnknownZones(t *testing.T) {
	a := newAccount(t)
	for want, args := range map[string]props{
		"no matching Route 53 Hosted Zone found":         {"zoneId": "Z0NONE"},
		"asked for a hosted zone by its id":              {"name": route53.LabZoneName},
		`Invalid or unknown key; did you mean "zoneId"?`: {"zoneID": route53.LabZoneID},
	} {
		a.unanswered("aws:route53/getZone:getZone", args, want)
	}
}
