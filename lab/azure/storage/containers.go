package storage

import (
	"time"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

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
	out.SetDefault("publicAccess", "None")
	out.SetDefault("denyEncryptionScopeOverride", false)
	out.SetDefault("defaultEncryptionScope", "$account-encryption-key")
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
