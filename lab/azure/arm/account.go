package arm

import (
	"cmp"
	"strings"

	azurenative "github.com/pulumi/pulumi-azure-native-sdk/v2"

	"tombolo/lab/standin"
)

// The lab's tenant and subscriptions, and who is in them.
const (
	// Subscription is the one of the credentials, without another in Options.Account.
	Subscription = "00000000-0000-4000-8000-000000000001"
	// NetworkSubscription is the network team's.
	NetworkSubscription = "00000000-0000-4000-8000-000000000002"
	// Tenant has both.
	Tenant = "00000000-0000-4000-8000-00000000000a"
	// AdminGroup is the Entra group of the lab's admins.
	AdminGroup = "00000000-0000-4000-8000-0000000000a1"
	// ClientID and ClientObject are the application of the credentials and its service
	// principal.
	ClientID     = "00000000-0000-4000-8000-0000000000c1"
	ClientObject = "00000000-0000-4000-8000-0000000000c2"
	// Location is used where nothing else is given.
	Location = "germanywestcentral"
)

// SubscriptionFor is the subscription that a call works in.
func SubscriptionFor(c *standin.Call) string {
	return cmp.Or(c.Settings.Str("subscriptionId"), c.Cloud.Account)
}

// CallerFor is the object id of who makes a call.
func CallerFor(c *standin.Call) string { return cmp.Or(c.Caller, c.Cloud.Caller, ClientObject) }

// ClientFor is the id of the application that makes a call.
func ClientFor(c *standin.Call) string { return cmp.Or(c.Settings.Str("clientId"), ClientID) }

// KnownSubscription says that the lab has a subscription.
func KnownSubscription(c *standin.Cloud, id string) bool {
	return Same(id, c.Account) || Same(id, NetworkSubscription)
}

// Configuration of azure-native. A change of it replaces nothing:
// https://github.com/pulumi/pulumi-azure-native/blob/006a62afe453b416e5d5c98d2d91c4c7281f52f9/provider/pkg/provider/provider.go
func Configuration() standin.Configuration {
	return standin.Configuration{
		Settings: azurenative.ProviderArgs{}.ElementType(),
		Check:    checkSettings,
		Session: func(standin.Props) (region string, tags map[string]string) {
			return "", nil // a location is an input's default here, and parts no records
		},
		Account: func(config standin.Props) string { return config.Str("subscriptionId") },
	}
}

// checkSettings refuses a tenant that does not exist, in the words of Entra:
// https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes
func checkSettings(_ *standin.Cloud, config standin.Props) []standin.Problem {
	if tenant := config.Str("tenantId"); tenant != "" && !Same(tenant, Tenant) {
		return []standin.Problem{{Path: "tenantId", Reason: "AADSTS90002: Tenant '" + tenant + "' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud."}}
	}
	return nil
}

// Locations that resources can be in, and how many availability zones each has. Source:
// https://learn.microsoft.com/en-us/azure/reliability/regions-list
var Locations = map[string]int{
	"australiacentral": 0, "australiaeast": 3, "australiasoutheast": 0, "austriaeast": 3, "belgiumcentral": 3, "brazilsouth": 3,
	"canadacentral": 3, "canadaeast": 0, "centralindia": 3, "centralus": 3, "chilecentral": 3, "eastasia": 3,
	"eastus": 3, "eastus2": 3, "francecentral": 3, "germanywestcentral": 3, "indonesiacentral": 3, "israelcentral": 3,
	"italynorth": 3, "japaneast": 3, "japanwest": 3, "koreacentral": 3, "koreasouth": 0, "malaysiawest": 3, "mexicocentral": 3,
	"newzealandnorth": 3, "northcentralus": 0, "northeurope": 3, "norwayeast": 3, "polandcentral": 3, "qatarcentral": 3,
	"southafricanorth": 3, "southcentralus": 3, "southeastasia": 3, "southindia": 0, "spaincentral": 3, "swedencentral": 3,
	"switzerlandnorth": 3, "uaenorth": 3, "uksouth": 3, "ukwest": 0, "westcentralus": 0, "westeurope": 3, "westindia": 0,
	"westus": 0, "westus2": 3, "westus3": 3,
}

// Normal is a location as Azure returns it: West Europe is westeurope.
func Normal(location string) string {
	return strings.ToLower(strings.ReplaceAll(location, " ", ""))
}

func knownLocation(location string) bool {
	_, known := Locations[Normal(location)]
	return known
}

// offered lists the locations, as refusals do.
func offered() string {
	return strings.Join(standin.SortedKeys(Locations), ",")
}
