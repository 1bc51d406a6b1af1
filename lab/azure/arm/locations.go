package arm

import (
	"slices"
	"strings"
)

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
	names := make([]string, 0, len(Locations))
	for name := range Locations {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}
