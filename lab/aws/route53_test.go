package aws

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
		{"zone name", route53.ZoneType, props{"name": "a..b"}, "InvalidDomainName: a..b is not a valid domain name"},
		{"private zone nowhere", route53.ZoneType, props{"name": "a.test", "vpcs": []any{map[string]any{"vpcId": "vpc-1"}}}, "InvalidVPCId: The VPC: vpc-1"},
		{"private zone twice", route53.ZoneType, func(w *world) props {
			in := props{"name": "a.test", "vpcs": []any{map[string]any{"vpcId": w.vpc.ID}}}
			w.Make(route53.ZoneType, "first", in)
			return in
		}, "ConflictingDomainExists: The VPC vpc-0"},
		{"no zone", route53.RecordType, recordIn(props{"zoneId": "Z0NONE"}), "StatusCode: 404"},
		{"no zone code", route53.RecordType, recordIn(props{"zoneId": "Z0NONE"}), "NoSuchHostedZone: No hosted zone found with ID: Z0NONE"},
		{"record and alias", route53.RecordType, both, "Invalid combination of arguments. one of [aliases records] must be specified"},
		{"no TTL", route53.RecordType, noTTL, "ttl: all of `records,ttl` must be specified"},
		{"TTL", route53.RecordType, recordIn(props{"ttl": -1}), "expected ttl to be in the range (0 - 2147483647), got -1"},
		{"type", route53.RecordType, recordIn(props{"type": "ALIAS"}), `expected type to be one of ["SOA" "A"`},
		{
			"policy without identifier", route53.RecordType, recordIn(props{"weightedRoutingPolicies": []any{map[string]any{"weight": 1}}}),
			"all of `weightedRoutingPolicies,setIdentifier` must be specified",
		},
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

func TestZone(t *testing.T) {
	w := emptyWorld(t)
	zone := w.Add(route53.ZoneType, "zone", props{"name": "Example.com.", "tags": map[string]any{"tombolo:cluster": "demo"}})
	servers := zone.Out.List("nameServers")
	assert.Check(t, len(servers) == 4 && zone.Out.Str("name") == "example.com" && zone.Out.Str("zoneId") == zone.ID, "zone is %s, %v", zone.ID, zone.Out)
	www := w.Add(route53.RecordType, "www", recordIn(props{"zoneId": zone.ID, "name": "WWW."}))
	assert.Check(t, www.ID == zone.ID+"_www_A" && www.Out.Str("fqdn") == "www.example.com", "record is %s, %v", www.ID, www.Out)
	in, _ := w.read(&thing{Token: route53.RecordType, ID: zone.ID + "_WWW._A"})
	assert.Check(t, in.Str("zoneId") == zone.ID, "the import form finds %v", in)
	refuses(t, w.Delete(zone), "HostedZoneNotEmpty: The specified hosted zone contains non-required resource record sets and so cannot be deleted.")
	err := w.Update(www, props{"ttl": 300.0})
	assert.Check(t, err == nil && www.Out.Integer("ttl") == 300 && www.Out.Str("fqdn") == "www.example.com", "update gives %v, %v", err, www.Out)
	w.TakeDown()
}

// TestTagsOfZones: Route 53 is in every region, its tags are in one.
func TestTagsOfZones(t *testing.T) {
	a := newAccount(t)
	zone := a.Make(route53.ZoneType, "zone", props{"name": "example.com", "tags": map[string]any{"a": "b"}})
	for region, want := range map[string][]string{"eu-central-1": nil, "us-east-1": {zone.Out.Str("arn")}} {
		a.Configure(props{"region": region})
		found, err := a.Invoke("aws:resourcegroupstaggingapi/getResources:getResources", props{})
		assert.NilError(t, err)
		assert.Check(t, is.Equal(cmp.Diff(want, found.At("resourceTagMappingLists", "resourceArn")), ""), "%v", region)
	}
}

func TestForcedZone(t *testing.T) {
	a := newAccount(t)
	zone := a.Make(route53.ZoneType, "zone", props{"name": "example.com", "forceDestroy": true})
	a.Make(route53.RecordType, "www", recordIn(props{"zoneId": zone.ID}))
	if err := a.Delete(zone); err != nil || len(a.Cloud.Inventory()) != 0 {
		t.Errorf("left over after %v: %v", err, a.Cloud.Inventory())
	}
}

func TestOverwrittenRecord(t *testing.T) {
	a := newAccount(t)
	a.Make(route53.RecordType, "first", recordIn(nil))
	second := a.Make(route53.RecordType, "second", recordIn(props{"name": "www.lab.test", "records": []any{"192.0.2.2"}, "allowOverwrite": true}))
	items := a.Cloud.Inventory()
	assert.Check(t, len(items) == 1 && items[0].ID == second.ID, "the account has %v", items)
}

func TestWeightedRecords(t *testing.T) {
	a := newAccount(t)
	for _, set := range []string{"blue", "green"} {
		in := recordIn(props{"setIdentifier": set, "weightedRoutingPolicies": []any{map[string]any{"weight": 1}}})
		made := a.Make(route53.RecordType, set, in)
		assert.Check(t, made.ID == route53.LabZoneID+"_www_A_"+set, "record is %s", made.ID)
	}
}

// TestOwnZone: the account's zone is there from the start, is no stack's, and is
// the same after a restart.
func TestOwnZone(t *testing.T) {
	a := newAccount(t)
	items := a.Cloud.Inventory()
	assert.Check(t, len(items) == 0, "a new account has %v", items)
	found, err := a.Invoke("aws:route53/getZone:getZone", props{"name": route53.LabZoneName})
	assert.NilError(t, err)
	assert.Check(t, found.Str("zoneId") == route53.LabZoneID && found.Integer("resourceRecordSetCount") == 2 && !found.Boolean("privateZone"), "found %v", found)
	a.Make(route53.RecordType, "www", recordIn(nil))
	a.Reopen(standin.Options{})
	a.Configure(props{"region": "us-east-1"})
	again, err := a.Invoke("aws:route53/getZone:getZone", props{"zoneId": route53.LabZoneID})
	assert.NilError(t, err)
	assert.Check(t, slices.Equal(found.List("nameServers"), again.List("nameServers")) && again.Integer("resourceRecordSetCount") == 3, "was %v, is %v", found, again)
}

func TestGetZone(t *testing.T) {
	w := newNetwork(t)
	public := w.Make(route53.ZoneType, "public", props{"name": "example.com", "tags": map[string]any{"side": "out"}})
	private := w.Make(route53.ZoneType, "private", props{"name": "example.com", "vpcs": []any{map[string]any{"vpcId": w.vpc.ID}}})
	for _, tc := range []struct {
		args props
		want string
	}{
		{props{"name": "example.com."}, public.ID},
		{props{"name": "example.com", "privateZone": true}, private.ID},
		{props{"vpcId": w.vpc.ID, "name": "example.com"}, private.ID},
		{props{"zoneId": private.ID}, private.ID},
		{props{"tags": map[string]any{"side": "out"}}, public.ID},
	} {
		got, err := w.Invoke("aws:route53/getZone:getZone", tc.args)
		assert.Check(t, err == nil && got.Str("id") == tc.want, "%v finds %v, %v", tc.args, got, err)
	}
	w.Make(route53.ZoneType, "second", props{"name": "example.com"})
	for want, args := range map[string]props{
		"no matching Route 53 Hosted Zone found":         {"name": "none.test"},
		"multiple Route 53 Hosted Zones matched":         {"name": "example.com"},
		"one of `name,tags,zone_id` must be specified":   {},
		`Invalid or unknown key; did you mean "zoneId"?`: {"zoneID": route53.LabZoneID},
	} {
		w.unanswered("aws:route53/getZone:getZone", args, want)
	}
}
