// Package azure is the lab's stand-in for Azure: the resource providers that the engine of
// lab/standin has, a package each, and one tenant with two subscriptions of them.
package azure

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/authorization"
	"tombolo/lab/azure/compute"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/dns"
	"tombolo/lab/azure/keyvault"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/postgresql"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/azure/resourcemanager"
	"tombolo/lab/azure/resources"
	"tombolo/lab/azure/storage"
	"tombolo/lab/standin"
)

// version of azure-native that is simulated: the one of the Go SDK in go.mod.
const version = "2.90.0"

// Open loads the tenant that is kept in dir, or makes an empty one there. It has the network
// team's network, zone and key, which no stack makes. Without Options.Account the credentials' subscription
// is arm.Subscription, without Options.Region the network is in arm.Location.
func Open(dir string, o standin.Options) (*standin.Cloud, error) {
	o.Account = cmp.Or(o.Account, arm.Subscription)
	o.Region = cmp.Or(o.Region, arm.Location)
	if _, known := arm.Locations[o.Region]; !known {
		return nil, fmt.Errorf("open the Azure stand-in: there is no location %s", o.Region)
	}
	c, err := standin.Open(dir, catalogue(), o)
	if err == nil {
		err = errors.Join(network.OwnNetwork(c, o.Region), dns.OwnZone(c), keyvault.OwnKey(c, o.Region))
	}
	if err != nil {
		return nil, fmt.Errorf("open the Azure stand-in: %w", err)
	}
	return c, nil
}

// Stored lists what a Cloud has left in dir and would find there again, in the order of
// Inventory. It changes nothing; a directory that does not exist holds nothing.
func Stored(dir string) ([]standin.Item, error) {
	found, err := standin.Stored(dir, names())
	if err != nil {
		return nil, fmt.Errorf("read the state of the Azure stand-in: %w", err)
	}
	return found, nil
}

// names are the outputs that can be a resource's own name.
func names() []string { return []string{"name"} }

// catalogue is what the stand-in knows of Azure. A resource provider is added by its types
// and functions.
func catalogue() *standin.Catalogue {
	return &standin.Catalogue{
		Cloud: "Azure", Version: version,
		Types: allTypes(), Functions: allFunctions(), Questions: resourcemanager.Questions(),
		Configuration: arm.Configuration(),
		Answers:       arm.Answers{},
		LimitExceeded: standin.Refusal{Code: "QuotaExceeded", Status: 409, Message: "The quota of the subscription has been reached."},
		Names:         names(),
		CheckTags:     func(standin.Props) []standin.Problem { return nil }, // Azure does, not its provider
		Resumed:       append(containerservice.Resumed(), standin.Resumption{Type: managedidentity.CredentialType}, standin.Resumption{Type: arm.GroupType}),
		Native: standin.Native{
			SameID: arm.Same, Alike: alike, DeletesFirst: true, PlainErrors: true, ImportsOutputs: true,
			PreviewsInputs: true, Stable: []string{"name", "location"},
			Plain: func(token string) string { return apiVersion.ReplaceAllString(token, ":") },
		},
	}
}

// apiVersion is the version of an API in a token.
var apiVersion = regexp.MustCompile(`/v\d{8}(preview)?:`)

// alike compares inputs as azure-native does: the order of lists means something, and
// the spelling of a location does not. Source:
// https://github.com/pulumi/pulumi-azure-native/blob/03707ff7fc10b70f7dd23ec847a3ce1e9264c124/provider/pkg/provider/diff.go
func alike(pattern string, a, b any) bool {
	textA, isA := a.(string)
	textB, isB := b.(string)
	if pattern == "location" && isA && isB {
		return arm.Normal(textA) == arm.Normal(textB)
	}
	return standin.Equal(a, b)
}

func allTypes() map[string]*standin.Type {
	types := map[string]*standin.Type{}
	for _, provider := range []map[string]*standin.Type{
		resources.Types(subnetUsed), network.Types(containerservice.Interface), managedidentity.Types(), authorization.Types(), containerservice.Types(), compute.Types(),
		dns.Types(), keyvault.Types(), postgresql.Types(), storage.Types(),
	} {
		maps.Copy(types, provider)
	}
	return types
}

// subnetUsed is a cluster outside of a group whose nodes are in a subnet of it.
func subnetUsed(c *standin.Cloud, used *standin.Record, group string) string {
	if used.Type != network.SubnetType {
		return ""
	}
	outside := func(r *standin.Record) bool {
		return arm.Same(r.Outputs.Str("vnetSubnetID"), used.ID) && !rbac.Covers(group, r.ID)
	}
	pools := slices.Collect(c.Each(containerservice.PoolType, standin.Global))
	if i := slices.IndexFunc(pools, outside); i >= 0 {
		return pools[i].ID
	}
	return ""
}

func allFunctions() map[string]*standin.Function {
	functions := map[string]*standin.Function{}
	for _, provider := range []map[string]*standin.Function{
		resources.Functions(), network.Functions(), authorization.Functions(), containerservice.Functions(), dns.Functions(), keyvault.Functions(),
		storage.Functions(),
	} {
		maps.Copy(functions, provider)
	}
	return functions
}
