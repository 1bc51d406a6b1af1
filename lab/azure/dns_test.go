package azure

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/dns"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin/standintest"
)

func TestZones(t *testing.T) {
	w := newNetwork(t)
	zone := w.Add(dns.ZoneType, "zone", props{"resourceGroupName": demo, "zoneName": "example.com", "location": "Global"})
	assert.Check(t, is.Equal(zone.ID, "/subscriptions/"+arm.Subscription+"/resourceGroups/demo/providers/Microsoft.Network/dnszones/example.com"))
	private := w.Add(dns.PrivateZoneType, "private", props{"resourceGroupName": demo, "privateZoneName": "corp.example", "location": "global"})
	assert.Check(t, is.Equal(armid.NameOf(private.ID), "corp.example"))
	w.denied(dns.ZoneType, props{"resourceGroupName": demo, "zoneName": "example.org", "location": arm.Location}, `Code="LocationNotAvailableForResourceType"`)
	w.denied(dns.ZoneType, props{"resourceGroupName": demo, "zoneName": "com", "location": "global"}, "Resource name com is invalid.")

	found, err := w.Invoke("azure-native:network/v20180501:getZone", props{"resourceGroupName": demo, "zoneName": "EXAMPLE.com"})
	assert.NilError(t, err)
	assert.Check(t, is.Len(found.List("nameServers"), 4))
	_, err = w.Invoke("azure-native:network/v20240601:getPrivateZone", props{"resourceGroupName": demo, "privateZoneName": "example.com"})
	standintest.Refuses(t, err, `Code="ResourceNotFound"`)
}

// TestTeamZone: a role on the network team's zone may be given, and the zone not be changed.
func TestTeamZone(t *testing.T) {
	w := newNetwork(t)
	identity := w.identity("demo-external-dns")
	const contributor = "befefa01-2a29-4197-83a8-272ff33ce314"
	w.assign("records", identity, contributor, dns.TeamZoneID)
	w.assign("group", identity, rbac.Reader, armid.GroupOf(dns.TeamZoneID))
	w.denied(rbac.AssignmentType, w.assignment(identity.Out.Str("principalId"), contributor, dns.TeamZoneID+"x", nil), `Code="ResourceNotFound"`)
	w.configure(props{"subscriptionId": arm.NetworkSubscription})
	found, err := w.Invoke("azure-native:network/v20180501:getZone", props{"resourceGroupName": network.TeamGroup, "zoneName": dns.TeamZoneName})
	assert.NilError(t, err)
	assert.Check(t, is.Equal(found.Str("zoneType"), "Public"))
	w.denied(dns.ZoneType, props{"resourceGroupName": network.TeamGroup, "zoneName": "other.test", "location": "global"}, `Code="AuthorizationFailed"`)
}
