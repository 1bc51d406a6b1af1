// Package storage is Azure's storage accounts in the stand-in, with their blob containers and
// management policies. Of blobs it has none: what is in a container is not the Resource Manager's.
package storage

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	storage "github.com/pulumi/pulumi-azure-native-sdk/storage/v2/v20230501"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/network"
	"tombolo/lab/standin"
)

// The types of accounts and what is in them.
const (
	AccountType   = "azure-native:storage/v20230501:StorageAccount"
	ContainerType = "azure-native:storage/v20230501:BlobContainer"
	PolicyType    = "azure-native:storage/v20230501:ManagementPolicy"
)

// namespace of the resource provider, and the path of accounts.
const (
	namespace   = "Microsoft.Storage"
	accountPath = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.Storage/storageAccounts/{accountName}"
)

// The names of containers are by
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules#microsoftstorage.
// Those of accounts have refusals of their own, and a policy has one name.
var (
	accounts   = arm.Kind{Token: AccountType, ARM: namespace + "/storageAccounts", Provider: namespace, Path: accountPath}
	containers = arm.Kind{
		Token: ContainerType, ARM: namespace + "/storageAccounts/blobServices/containers", Provider: namespace,
		Path: accountPath + "/blobServices/default/containers/{containerName}", Parent: AccountType, ParentPath: accountPath,
		Name:     regexp.MustCompile(`^[a-z0-9](-?[a-z0-9]){2,62}$`),
		NameRule: "The name must be 3 to 63 lower-case letters, digits and hyphens, begin with a letter or digit, and have no two hyphens in a row.",
	}
	policies = arm.Kind{
		Token: PolicyType, ARM: namespace + "/storageAccounts/managementPolicies", Provider: namespace,
		Path: accountPath + "/managementPolicies/{managementPolicyName}", Parent: AccountType, ParentPath: accountPath,
	}
)

// Types are accounts, containers and policies.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		AccountType: accounts.Type(standin.Type{
			Constructor: storage.NewStorageAccount,
			// forceNewMap in provider/pkg/gen/replacement.go of azure-native
			ForceNew: []string{"isHnsEnabled", "location"},
			Put:      putAccount,
			// An account goes with all that is in it, without a question:
			// https://learn.microsoft.com/en-us/azure/storage/common/storage-account-create#delete-a-storage-account
			Takes: standin.Timing{Create: 25 * time.Second, Update: 3 * time.Second, Remove: 4 * time.Second},
		}),
		// forceNewMap there has nothing for a container
		ContainerType: containers.Type(standin.Type{
			Constructor: storage.NewBlobContainer,
			Put:         writeContainer,
			Takes:       standin.Timing{Create: time.Second, Update: time.Second, Remove: time.Second},
		}),
		PolicyType: policies.Type(standin.Type{
			Constructor: storage.NewManagementPolicy,
			Put:         writePolicy,
			Takes:       standin.Timing{Create: time.Second, Update: time.Second, Remove: time.Second},
		}),
	}
}

// Functions look accounts and containers up.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"azure-native:storage/v20230501:getBlobContainer": {SDK: storage.LookupBlobContainer, Run: arm.Lookup(containers, nil)},
	}
}

// checkAccountName refuses a name that another account has in the world. Source:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/error-storage-account-name
func checkAccountName(c *standin.Call) error {
	name := armid.NameOf(c.Record.ID)
	for r := range c.Others() {
		if r == c.Record || armid.NameOf(r.ID) != name {
			continue
		}
		if arm.Same(armid.SubscriptionOf(r.ID), armid.SubscriptionOf(c.Record.ID)) {
			return c.Refuse(standin.Refusal{Code: "StorageAccountInAnotherResourceGroup", Status: 409, Message: fmt.Sprintf(
				"The account %s is already in another resource group in this subscription.", name)})
		}
		return c.Refuse(standin.Refusal{Code: "StorageAccountAlreadyTaken", Status: 409, Message: fmt.Sprintf("The storage account named %s is already taken.", name)})
	}
	return nil
}

func putAccount(c *standin.Call) error {
	if err := c.Check(checkAccountName, checkAccount); err != nil {
		return err
	}
	describeAccount(c)
	return nil
}

// mostTagKey is the length of a tag's key on an account, where others have 512:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/tag-resources#limitations
const mostTagKey = 128

// checkAccount refuses what no account can have. A subnet in the network rules is one that its
// writer may use so, and that has the endpoint:
// https://learn.microsoft.com/en-us/azure/virtual-network/virtual-network-service-endpoints-overview#provisioning,
// https://github.com/hashicorp/terraform-provider-azurerm/issues/16547
func checkAccount(c *standin.Call) error {
	for key := range c.In().Strs("tags") {
		if len(key) > mostTagKey {
			return c.Refusef("InvalidTagName", "Tag name too large. Following tag name '%s...' exceeded the maximum length. Maximum allowed length for tag name - '%d' characters.", key[:40], mostTagKey)
		}
	}
	for _, rule := range c.In().Sub("networkRuleSet").Objects("virtualNetworkRules") {
		id := rule.Str("virtualNetworkResourceId")
		if err := arm.CheckLinked(c, "Microsoft.Network/virtualNetworks/subnets/joinViaServiceEndpoint/action", id); err != nil {
			return err
		}
		if refusal := network.WithoutEndpoint(c.Cloud, id, namespace); refusal != "" {
			return c.Refusef("NetworkAclsValidationFailure", "Validation of network acls failure: SubnetsHaveNoServiceEndpointsConfigured:%s", refusal)
		}
	}
	return nil
}

// describeAccount fills in what Azure answers. Source:
// https://learn.microsoft.com/en-us/rest/api/storagerp/storage-accounts/get-properties
func describeAccount(c *standin.Call) {
	out, name, made := c.Out(), armid.NameOf(c.Record.ID), c.Record.Created.UTC().Format(time.RFC3339)
	out["provisioningState"], out["statusOfPrimary"], out["primaryLocation"] = "Succeeded", "available", out.Str("location")
	out["creationTime"], out["keyCreationTime"] = made, map[string]any{"key1": made, "key2": made}
	out["privateEndpointConnections"] = []any{}
	endpoints := map[string]any{}
	for _, service := range []string{"blob", "dfs", "file", "queue", "table"} {
		endpoints[service] = "https://" + name + "." + service + ".core.windows.net/"
	}
	out["primaryEndpoints"] = endpoints
	out.SetDefaults(standin.Props{
		"accessTier": "Hot", "enableHttpsTrafficOnly": true, "minimumTlsVersion": "TLS1_0", "allowBlobPublicAccess": false,
		"encryption":     map[string]any{"keySource": "Microsoft.Storage"},
		"networkRuleSet": map[string]any{"bypass": "AzureServices", "defaultAction": "Allow"},
	})
	sku := out.Sub("sku").Clone()
	sku["tier"], _, _ = strings.Cut(sku.Str("name"), "_")
	out["sku"] = map[string]any(sku)
}

// writeContainer refuses a container for the public in an account that lets none be. Source:
// https://github.com/pivotal/paving/issues/89
func writeContainer(c *standin.Call) error {
	account := arm.ParentOf(c.Cloud, AccountType, c.Record.ID)
	if access := c.In().Str("publicAccess"); access != "" && access != "None" && account.Outputs["allowBlobPublicAccess"] != true {
		return c.Refuse(standin.Refusal{Code: "PublicAccessNotPermitted", Status: 409, Message: "Public access is not permitted on this storage account."})
	}
	out := c.Out()
	out["hasImmutabilityPolicy"], out["hasLegalHold"], out["deleted"], out["remainingRetentionDays"] = false, false, false, 0.0
	out["leaseState"], out["leaseStatus"], out["etag"] = "Available", "Unlocked", arm.Etag()
	out["lastModifiedTime"] = c.Cloud.Now().UTC().Format(time.RFC3339)
	out.SetDefaults(standin.Props{"publicAccess": "None", "denyEncryptionScopeOverride": false, "defaultEncryptionScope": "$account-encryption-key"})
	return nil
}

// mostRules of a policy, and mostDays of a rule. Sources:
// https://learn.microsoft.com/en-us/azure/storage/blobs/lifecycle-management-policy-structure and
// https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/storage_management_policy
const (
	mostRules = 100
	mostDays  = 99999
)

// writePolicy refuses a policy of another name than an account's only one has, and rules that no
// policy can have. Sources: https://github.com/pulumi/pulumi-azure-native/issues/2164 and
// https://learn.microsoft.com/en-us/azure/storage/blobs/lifecycle-management-policy-structure
func writePolicy(c *standin.Call) error {
	if name := armid.NameOf(c.Record.ID); name != "default" {
		return c.Refuse(standin.Refusal{Code: "HttpResourceNotFound", Status: 404, Message: "The request url " + c.Record.ID + " is not found."})
	}
	rules, names := c.In().Sub("policy").Objects("rules"), map[string]bool{}
	if len(rules) == 0 || len(rules) > mostRules {
		return refuseRule(c, "rules")
	}
	for _, rule := range rules {
		if names[rule.Str("name")] {
			return refuseRule(c, "rules.name")
		}
		names[rule.Str("name")] = true
		definition := rule.Sub("definition")
		if len(definition.Sub("filters").List("blobTypes")) == 0 {
			return refuseRule(c, "rules.definition.filters.blobTypes")
		}
		if len(definition.Sub("actions")) == 0 {
			return refuseRule(c, "rules.definition.actions")
		}
		days, given := definition.Sub("actions").Sub("baseBlob").Sub("delete")["daysAfterModificationGreaterThan"].(float64)
		if given && (days < 0 || days > mostDays) {
			return refuseRule(c, "rules.definition.actions.baseBlob.delete.daysAfterModificationGreaterThan")
		}
	}
	c.Out()["lastModifiedTime"] = c.Cloud.Now().UTC().Format(time.RFC3339)
	return nil
}

// refuseRule is a refusal in the provider's general words:
// https://learn.microsoft.com/en-us/rest/api/storagerp/srp_error_codes_common
func refuseRule(c *standin.Call, property string) error {
	return c.Refusef("InvalidRequestPropertyValue", "The value for the property 'policy.%s' in the request is not valid.", property)
}
