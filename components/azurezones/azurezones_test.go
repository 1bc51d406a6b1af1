package azurezones

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

const group = "/subscriptions/s/resourceGroups/dns/providers/Microsoft.Network/"

// zones answer for the public zone example.com and the private zone corp.example.
func zones() *recorder.Recorder {
	has := func(key resource.PropertyKey, name string) func(resource.PropertyMap) (resource.PropertyMap, error) {
		return func(args resource.PropertyMap) (resource.PropertyMap, error) {
			if args["resourceGroupName"].StringValue() != "dns" || args[key].StringValue() != name {
				return nil, errors.New("ResourceNotFound")
			}
			return resource.PropertyMap{"name": resource.NewProperty(name)}, nil
		}
	}
	return &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"azure-native:network/v20180501:getZone":        has("zoneName", "example.com"),
		"azure-native:network/v20240601:getPrivateZone": has("privateZoneName", "corp.example"),
	}}
}

func check(ids ...string) error {
	return zones().Run("demo-core", func(ctx *pulumi.Context) error { return Check(ctx, ids, pulumi.Parent(nil)) })
}

func TestCheck(t *testing.T) {
	assert.NilError(t, check(group+"dnsZones/example.com", group+"privatednszones/corp.example"))
	err := check(group+"dnsZones/corp.example", group+"privateDnsZones/example.com")
	assert.Check(t, is.ErrorContains(err, "look up DNS zone "+group+"dnsZones/corp.example: "))
	assert.Check(t, is.ErrorContains(err, "ResourceNotFound; correct the id, and allow Microsoft.Network/dnsZones/read on it to the credentials"))
	assert.Check(t, is.ErrorContains(err, "allow Microsoft.Network/privateDnsZones/read"))
}
