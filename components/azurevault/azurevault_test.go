package azurevault

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

func args() *VaultArgs {
	return &VaultArgs{
		Name: "kv-demo", Subscription: "s", Tenant: "t", Location: "germanywestcentral", GroupName: "demo", ResourceGroup: pulumi.String("demo"),
		SubnetID: pulumi.String("/subscriptions/s/subnet"), AllowedCIDRs: []string{"203.0.113.0/24"}, Recover: true,
		Tags: map[string]string{"tombolo:cluster": "demo"}, Protect: true,
	}
}

func TestVault(t *testing.T) {
	r := &recorder.Recorder{Unborn: true}
	r.Sound(t, r.Run("demo-core", recorder.Probing("demo-secrets", NewVault, args(), func(v *Vault) pulumi.Map {
		return pulumi.Map{"id": v.Ready, "url": v.URL}
	}), recorder.Preview))
	r.GoldenRegistrations(t, "azure-native:", "vault.json")
	r.Probed().Expect(t, map[string]string{
		"id": "/subscriptions/s/resourceGroups/demo/providers/Microsoft.KeyVault/vaults/kv-demo", "url": "https://kv-demo.vault.azure.net/",
	})
	r.Probed().ExpectAfter(t, "url", "demo-secrets-vault")
}

func TestVaultRefuses(t *testing.T) {
	a := args()
	a.Tenant = ""
	_, err := recorder.Make("demo-core", "demo", NewVault, a)
	assert.Check(t, is.ErrorContains(err, "vault demo: name, subscription, tenant, location and resource group are required"))
}

func TestLookUp(t *testing.T) {
	const id = "/subscriptions/s/resourceGroups/secrets/providers/Microsoft.KeyVault/vaults/"
	r := &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"azure-native:keyvault/v20230701:getVault": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			name := args["vaultName"].StringValue()
			if args["resourceGroupName"].StringValue() != "secrets" || name == "gone" {
				return nil, errors.New("ResourceNotFound")
			}
			return resource.NewPropertyMapFromMap(map[string]any{"properties": map[string]any{
				"vaultUri": "https://" + name + ".vault.azure.net/", "enableRbacAuthorization": name == "shop",
			}}), nil
		},
	}}
	err := r.Run("demo-core", func(ctx *pulumi.Context) error {
		url, err := LookUp(ctx, id+"shop", pulumi.Parent(nil))
		assert.Check(t, is.Equal(url, "https://shop.vault.azure.net/"))
		assert.NilError(t, err)
		_, err = LookUp(ctx, id+"old", pulumi.Parent(nil))
		assert.Check(t, is.ErrorContains(err, "key vault "+id+"old is opened by its access policies, and a role opens nothing"))
		_, err = LookUp(ctx, id+"gone", pulumi.Parent(nil))
		assert.Check(t, is.ErrorContains(err, "allow Microsoft.KeyVault/vaults/read on it to the credentials"))
		return nil
	})
	assert.NilError(t, err)
}
