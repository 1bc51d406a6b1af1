package azurestorage

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

func args() *ContainerArgs {
	return &ContainerArgs{
		Account: "lokidemo", Name: "chunks", Subscription: "s", Location: "germanywestcentral", GroupName: "demo", ResourceGroup: pulumi.String("demo"),
		SubnetID: pulumi.String("/subscriptions/s/subnet"), ExpireDays: 21, Tags: map[string]string{"tombolo:cluster": "demo"}, Protect: true,
	}
}

func TestContainer(t *testing.T) {
	r := &recorder.Recorder{Unborn: true}
	r.Sound(t, r.Run("demo-core", recorder.Probing("demo-logs", NewContainer, args(), func(c *Container) pulumi.Map {
		return pulumi.Map{"id": c.Ready, "account": c.Account, "name": c.Name}
	}), recorder.Preview))
	r.GoldenRegistrations(t, "azure-native:", "container.json")
	r.Probed().Expect(t, map[string]string{
		"id":      "/subscriptions/s/resourceGroups/demo/providers/Microsoft.Storage/storageAccounts/lokidemo/blobServices/default/containers/chunks",
		"account": "lokidemo", "name": "chunks",
	})
	for _, output := range []string{"id", "account", "name"} {
		r.Probed().ExpectAfter(t, output, "demo-logs-container")
	}
}

// TestContainerWithoutAge: nothing deletes what is in it, and nothing reaches it.
func TestContainerWithoutAge(t *testing.T) {
	a := args()
	a.ExpireDays, a.SubnetID = 0, nil
	r, err := recorder.Make("demo-core", "demo", NewContainer, a)
	r.Sound(t, err)
	assert.Check(t, is.Len(r.OfType("azure-native:storage/v20230501:ManagementPolicy"), 0))
	account := r.OfType("azure-native:storage/v20230501:StorageAccount")[0]
	account.Expect(t, map[string]string{"networkRuleSet.defaultAction": "Deny"})
	_, reached := account.Value("networkRuleSet.virtualNetworkRules")
	assert.Check(t, !reached)
}

func TestContainerRefuses(t *testing.T) {
	recorder.Refuses(t, "demo", NewContainer, "container demo: ", args, map[string]func(*ContainerArgs){
		"container demo: account, name, subscription, location and resource group are required": func(a *ContainerArgs) { a.Account = "" },
		"container demo: blobs cannot expire after -1 days; 0 keeps them":                       func(a *ContainerArgs) { a.ExpireDays = -1 },
	})
}

func TestCheck(t *testing.T) {
	const id = "/subscriptions/s/resourceGroups/logs/providers/Microsoft.Storage/storageAccounts/platformlogs/blobServices/default/containers/"
	r := &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"azure-native:storage/v20230501:getBlobContainer": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			if args["resourceGroupName"].StringValue() != "logs" || args["accountName"].StringValue() != "platformlogs" || args["containerName"].StringValue() != "loki" {
				return nil, errors.New("ContainerNotFound")
			}
			return resource.NewPropertyMapFromMap(map[string]any{"name": "loki"}), nil
		},
	}}
	assert.NilError(t, r.Run("demo-core", func(ctx *pulumi.Context) error {
		assert.Check(t, Check(ctx, id+"loki", pulumi.Parent(nil)))
		err := Check(ctx, id+"gone", pulumi.Parent(nil))
		assert.Check(t, is.ErrorContains(err, "look up blob container "+id+"gone"))
		assert.Check(t, is.ErrorContains(err, "allow Microsoft.Storage/storageAccounts/blobServices/containers/read on it to the credentials"))
		return nil
	}))
}
