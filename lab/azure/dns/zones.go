// Package dns is Azure's public and private DNS zones in the stand-in. Of their records it has
// none: controllers make them, and none of those in the lab does.
package dns

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	dns "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20180501"
	privatedns "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20240601"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/network"
	"tombolo/lab/standin"
)

// The types of zones.
const (
	ZoneType        = "azure-native:network/v20180501:Zone"
	PrivateZoneType = "azure-native:network/v20240601:PrivateZone"
)

const (
	namespace = "Microsoft.Network"
	inGroup   = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.Network/"
)

// zoneName is by https://learn.microsoft.com/en-us/azure/dns/dns-zones-records
var zoneName = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)+[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$`)

const zoneRule = "The name must have 2 to 34 labels of letters, digits, hyphens and underscores, separated by dots, and at most 253 characters."

// zones are worldwide: their location is global. Azure answers with dnszones in lower case.
var (
	zones = arm.Kind{
		Token: ZoneType, ARM: namespace + "/dnsZones", Provider: namespace, Name: zoneName, NameRule: zoneRule, Worldwide: true,
		Path: inGroup + "dnsZones/{zoneName}", Answered: inGroup + "dnszones/{zoneName}",
	}
	privateZones = arm.Kind{
		Token: PrivateZoneType, ARM: namespace + "/privateDnsZones", Provider: namespace, Name: zoneName, NameRule: zoneRule, Worldwide: true,
		Path: inGroup + "privateDnsZones/{privateZoneName}",
	}
)

// Types are zones. No program makes any, and so nothing here is about their tags.
func Types() map[string]*standin.Type {
	takes := standin.Timing{Create: 5 * time.Second, Update: 3 * time.Second, Remove: 5 * time.Second}
	return map[string]*standin.Type{
		ZoneType: zones.Type(standin.Type{
			Constructor: dns.NewZone,
			Create: func(c *standin.Call) (string, error) {
				describe(c.Out())
				return "", nil
			},
			Takes: takes,
		}),
		PrivateZoneType: privateZones.Type(standin.Type{
			Constructor: privatedns.NewPrivateZone,
			Takes:       takes,
		}),
	}
}

// MostTags of a private zone, and what is said of more. Source:
// https://github.com/Azure/azure-rest-api-specs/issues/13600
const (
	MostTags    = 15
	TooManyTags = "The resource tags are invalid. A maximum of 15 tags are allowed with keys no longer than 512 and values no longer than 256 characters."
)

// Functions look zones up.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"azure-native:network/v20180501:getZone":        {SDK: dns.LookupZone, Run: arm.Lookup(zones, nil)},
		"azure-native:network/v20240601:getPrivateZone": {SDK: privatedns.LookupPrivateZone, Run: arm.Lookup(privateZones, nil)},
	}
}

// describe fills in what a public zone has. Source:
// https://learn.microsoft.com/en-us/rest/api/dns/zones/get
func describe(out standin.Props) {
	out["zoneType"], out["etag"] = "Public", arm.UUID()
	out["maxNumberOfRecordSets"], out["numberOfRecordSets"] = 10000.0, 2.0
	servers := []any{}
	for i, domain := range []string{"com", "net", "org", "info"} {
		servers = append(servers, fmt.Sprintf("ns%d-01.azure-dns.%s.", i+1, domain))
	}
	out["nameServers"] = servers
}

// TeamZoneName is the network team's public zone.
const TeamZoneName = "aks.lab.test"

// TeamZoneID is its id, as Azure answers it.
const TeamZoneID = "/subscriptions/" + arm.NetworkSubscription + "/resourceGroups/" + network.TeamGroup + "/providers/Microsoft.Network/dnszones/" + TeamZoneName

// OwnZone makes the network team's zone where it does not exist yet. What the lab's credentials
// may do in the team's group, they may do on it.
func OwnZone(c *standin.Cloud) error {
	defer c.Lock()()
	if arm.ByID(c, ZoneType, TeamZoneID) != nil {
		return nil
	}
	in := standin.Props{"resourceGroupName": network.TeamGroup, "zoneName": TeamZoneName, "location": "global"}
	out := standin.Props{"name": TeamZoneName, "type": strings.ToLower(zones.ARM), "location": "global"}
	describe(out)
	if err := c.Put(&standin.Record{
		Type: ZoneType, ID: TeamZoneID, Region: standin.Global, Implied: true, Created: c.Now().Add(-24 * time.Hour), Inputs: in, Outputs: out,
	}); err != nil {
		return fmt.Errorf("make the network team's zone: %w", err)
	}
	return nil
}
