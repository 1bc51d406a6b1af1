package azure

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/storage"
	"tombolo/lab/standin"
)

func (w *world) account(name string, change props) props {
	return w.inGroup(standin.Merged(props{
		"accountName": name, "kind": "StorageV2", "sku": map[string]any{"name": "Standard_LRS"}, "allowBlobPublicAccess": false,
	}, change))
}

func inAccount(account string, change props) props {
	return standin.Merged(props{"resourceGroupName": demo, "accountName": account}, change)
}

// lifecycle is a policy with rules, and rule one that deletes, with what it has instead.
func lifecycle(rules ...any) props {
	return props{"managementPolicyName": "default", "policy": map[string]any{"rules": rules}}
}

func rule(change props) any {
	return map[string]any(standin.Merged(props{
		"name": "expire", "type": "Lifecycle",
		"definition": map[string]any{"filters": map[string]any{"blobTypes": list("blockBlob")}, "actions": deleteAfter(30)},
	}, change))
}

func deleteAfter(days float64) map[string]any {
	return map[string]any{"baseBlob": map[string]any{"delete": map[string]any{"daysAfterModificationGreaterThan": days}}}
}

func rules(subnet string) props {
	return props{"networkRuleSet": map[string]any{"defaultAction": "Deny", "virtualNetworkRules": list(map[string]any{"virtualNetworkResourceId": subnet})}}
}

func TestStorageAccountsAreRefused(t *testing.T) {
	w := newNetwork(t)
	for _, test := range []struct {
		name   string
		change props
		want   string
	}{
		{"demo-logs", nil, "'accountName' does not match expression"},
		{"Demologs", nil, "does not match expression"},
		{strings.Repeat("a", 25), nil, "'accountName' is too long (25): at most 24 characters allowed"},
		{"demologs", rules(w.subnet.ID), `Code="NetworkAclsValidationFailure" Message="Validation of network acls failure: SubnetsHaveNoServiceEndpointsConfigured:Subnets demo-nodes of virtual network ` + w.vnet.ID},
		{"demologs", rules(network.TeamSubnetID), `Code="LinkedAuthorizationFailed"`},
		{"demologs", props{"tags": map[string]any{strings.Repeat("k", 129): "x"}}, `Code="InvalidTagName"`},
	} {
		w.denied(storage.AccountType, w.account(test.name, test.change), test.want)
	}
	w.Add(network.SubnetType, "other", props{
		"resourceGroupName": demo, "virtualNetworkName": demo, "subnetName": "storage", "addressPrefix": "10.1.32.0/24",
		"serviceEndpoints": list(map[string]any{"service": "Microsoft.Storage"}),
	})
	account := w.Add(storage.AccountType, "account", w.account("demologs", rules(w.vnet.ID+"/subnets/storage")))
	assert.Check(t, is.Equal(account.Out.Sub("primaryEndpoints").Str("blob"), "https://demologs.blob.core.windows.net/"))

	w.Add(arm.GroupType, "others", props{"resourceGroupName": "others", "location": arm.Location})
	taken := w.account("demologs", nil)
	taken["resourceGroupName"] = "others"
	w.denied(storage.AccountType, taken, `Status=409 Code="StorageAccountInAnotherResourceGroup"`)
}

// TestStorageAccountOfOthersKeepsItsName: names are one space for all of Azure.
func TestStorageAccountOfOthersKeepsItsName(t *testing.T) {
	w := newNetwork(t)
	id := "/subscriptions/" + arm.NetworkSubscription + "/resourceGroups/logs/providers/Microsoft.Storage/storageAccounts/demologs"
	unlock := w.Cloud.Lock()
	err := w.Cloud.Put(&standin.Record{Type: storage.AccountType, ID: id, Region: standin.Global, Implied: true, Created: w.Cloud.Now(), Inputs: props{}, Outputs: props{}})
	unlock()
	assert.NilError(t, err)
	w.denied(storage.AccountType, w.account("demologs", nil), `Status=409 Code="StorageAccountAlreadyTaken" Message="The storage account named demologs is already taken."`)
}

func TestContainersAreRefused(t *testing.T) {
	w := newNetwork(t)
	w.denied(storage.ContainerType, inAccount("demologs", props{"containerName": "chunks"}), `Status=404 Code="ParentResourceNotFound"`)
	w.Add(storage.AccountType, "account", w.account("demologs", nil))
	for _, test := range []refusal{
		{props{"containerName": "a--b"}, `Code="InvalidResourceName" Message="Resource name a--b is invalid.`},
		{props{"containerName": "Chunks"}, `Code="InvalidResourceName"`},
		{props{"containerName": "chunks", "publicAccess": "Blob"}, `Status=409 Code="PublicAccessNotPermitted"`},
	} {
		w.denied(storage.ContainerType, inAccount("demologs", test.change), test.want)
	}
	w.Add(storage.ContainerType, "container", inAccount("demologs", props{"containerName": "chunks", "publicAccess": "None"}))
	_, err := w.Invoke("azure-native:storage/v20230501:getBlobContainer", inAccount("demologs", props{"containerName": "gone"}))
	assert.Check(t, is.ErrorContains(err, `Code="ResourceNotFound"`))
}

func TestPoliciesAreRefused(t *testing.T) {
	w := newNetwork(t)
	w.denied(storage.PolicyType, inAccount("demologs", lifecycle(rule(nil))), `Status=404 Code="ParentResourceNotFound"`)
	w.Add(storage.AccountType, "account", w.account("demologs", nil))
	definition := func(actions map[string]any, blobs ...any) props {
		return props{"definition": map[string]any{"filters": map[string]any{"blobTypes": blobs}, "actions": actions}}
	}
	named := lifecycle(rule(nil))
	named["managementPolicyName"] = "expire"
	for _, test := range []refusal{
		{named, `Status=404 Code="HttpResourceNotFound"`},
		{lifecycle(), `'policy.rules'`},
		{lifecycle(rule(nil), rule(nil)), `'policy.rules.name'`},
		{lifecycle(rule(definition(deleteAfter(30)))), `'policy.rules.definition.filters.blobTypes'`},
		{lifecycle(rule(definition(map[string]any{}, "blockBlob"))), `'policy.rules.definition.actions'`},
		{lifecycle(rule(definition(deleteAfter(100000), "blockBlob"))), "daysAfterModificationGreaterThan"},
	} {
		w.denied(storage.PolicyType, inAccount("demologs", test.change), test.want)
	}
}

// TestStorageAccountGoesWithWhatIsInIt: Azure asks nobody.
func TestStorageAccountGoesWithWhatIsInIt(t *testing.T) {
	w := newNetwork(t)
	account := w.Add(storage.AccountType, "account", w.account("demologs", nil))
	container := w.Add(storage.ContainerType, "container", inAccount("demologs", props{"containerName": "chunks"}))
	policy := w.Add(storage.PolicyType, "policy", inAccount("demologs", lifecycle(rule(nil))))
	assert.NilError(t, w.Delete(account))
	assert.Check(t, is.Equal(w.read(storage.ContainerType, container.ID, nil).GetId(), ""))
	assert.Check(t, is.Equal(w.read(storage.PolicyType, policy.ID, nil).GetId(), ""))
	w.Add(storage.AccountType, "account", w.account("demologs", nil))
}
