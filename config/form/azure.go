package form

import (
	"regexp"
	"strings"

	"tombolo/config/azurefacts"
	"tombolo/config/strict"
)

// The forms of ids in Azure, as the portal writes them. Azure takes letters of other alphabets,
// too, in the names of resource groups; these are not taken here.
const (
	uuidForm  = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`
	groupForm = `/subscriptions/(` + uuidForm + `)/resourceGroups/([A-Za-z0-9_().-]*[A-Za-z0-9_()-])`
	// ExampleGroup is the id of a resource group.
	ExampleGroup = "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/network-team"
)

// The forms of ids in Azure.
var (
	UUID          = regexp.MustCompile(`^` + uuidForm + `$`)
	resourceGroup = regexp.MustCompile(`^[A-Za-z0-9_().-]*[A-Za-z0-9_()-]$`)
	NodeSubnet    = regexp.MustCompile(`^` + groupForm + `/providers/Microsoft\.Network/virtualNetworks/([A-Za-z0-9_.-]+)/subnets/([A-Za-z0-9_.-]+)$`)
	DNSZone       = regexp.MustCompile(`^(system|none|` + groupForm + `/providers/Microsoft\.Network/privateDnsZones/([A-Za-z0-9_.-]+))$`)
	ZoneID        = regexp.MustCompile(`^` + groupForm + `/providers/Microsoft\.Network/(dnsZones|dnszones|privateDnsZones)/([a-z0-9_.-]+)$`)
	VaultKey      = regexp.MustCompile(`^https://([A-Za-z][A-Za-z0-9-]{1,22}[A-Za-z0-9])\.vault\.azure\.net/keys/([A-Za-z0-9-]{1,127})/([0-9a-f]{32})$`)
	VaultID       = regexp.MustCompile(`^` + groupForm + `/providers/Microsoft\.KeyVault/vaults/([A-Za-z][A-Za-z0-9-]{1,22}[A-Za-z0-9])$`)
	ContainerID   = regexp.MustCompile(`^` + groupForm + `/providers/Microsoft\.Storage/storageAccounts/([a-z0-9]{3,24})/blobServices/default/containers/([a-z0-9](-?[a-z0-9]){2,62})$`)
	VaultKeyID    = regexp.MustCompile(`^` + groupForm + `/providers/Microsoft\.KeyVault/vaults/([A-Za-z][A-Za-z0-9-]{1,22}[A-Za-z0-9])/keys/([A-Za-z0-9-]{1,127})$`)
	RoleScope     = regexp.MustCompile(`^/subscriptions/(` + uuidForm + `)(/resourceGroups/[^/\s]+(/providers/[^/\s]+(/[^/\s]+/[^/\s]+)+)?)?$`)
	OperatorScope = regexp.MustCompile(`^(/subscriptions/` + uuidForm + `|` + groupForm + `)$`)
	RoleText      = regexp.MustCompile(`^\S(.*\S)?$`)
	RoleID        = regexp.MustCompile(`^(/subscriptions/` + uuidForm + `)?/providers/Microsoft\.Authorization/roleDefinitions/(` + uuidForm + `)$`)
)

// UUIDRule is the rule of an id in Azure.
func UUIDRule(what string) strict.Rule {
	return strict.Rule{What: what, Example: `"00000000-0000-4000-8000-000000000001"`, Pattern: UUID, Advice: uuidAdvice}
}

// ResourceGroupRule is the rule of a resource group's name.
func ResourceGroupRule(example string) strict.Rule {
	return strict.Rule{What: "the name of a resource group", Example: example, Pattern: resourceGroup, MaxLength: azurefacts.MaxResourceGroupName}
}

// NodeResourceGroupRule is that of the resource group that AKS makes for nodes.
func NodeResourceGroupRule(example string) strict.Rule {
	rule := ResourceGroupRule(example)
	rule.MaxLength = azurefacts.MaxNodeGroupName
	return rule
}

func uuidAdvice(s string) string {
	if lower := strings.ToLower(s); lower != s && UUID.MatchString(lower) {
		return "write it in lower case: " + lower
	}
	if _, id, found := strings.Cut(s, "/subscriptions/"); found && UUID.MatchString(id) {
		return "write the id alone: " + id
	}
	return "write its 32 hexadecimal digits with dashes, such as 00000000-0000-4000-8000-000000000001"
}

// VaultKeyAdvice tells an id without a version from one of another form. Source:
// https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates
func VaultKeyAdvice(s string) string {
	switch without := strings.TrimSuffix(s, "/"); {
	case VaultKey.MatchString(without):
		return "write it without the slash at its end"
	case VaultKey.MatchString(without + "/" + strings.Repeat("0", 32)):
		return "add the key's version, as `az keyvault key show --query key.kid` prints it"
	case strings.Contains(s, ".managedhsm.azure.net"):
		return "use a key of a key vault: AKS takes none of a managed HSM"
	}
	return ""
}

// IDAdvice tells an id of another case from one of another form.
func IDAdvice(form *regexp.Regexp) func(string) string {
	anyCase := regexp.MustCompile(`(?i)` + form.String())
	return func(s string) string {
		if anyCase.MatchString(s) {
			return "write it as `az` prints it: /subscriptions/…/resourceGroups/…, ids in lower case, and providers such as Microsoft.Network"
		}
		return ""
	}
}
