package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/azurefacts"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// The forms of ids in Azure, as the portal writes them. Azure takes letters of other alphabets,
// too, in the names of resource groups; these are not taken here.
const (
	uuidForm  = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`
	groupForm = `/subscriptions/(` + uuidForm + `)/resourceGroups/([A-Za-z0-9_().-]*[A-Za-z0-9_()-])`
	// exampleGroup is the id of a resource group.
	exampleGroup = "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/network-team"
)

var (
	uuid          = regexp.MustCompile(`^` + uuidForm + `$`)
	resourceGroup = regexp.MustCompile(`^[A-Za-z0-9_().-]*[A-Za-z0-9_()-]$`)
	nodeSubnet    = regexp.MustCompile(`^` + groupForm + `/providers/Microsoft\.Network/virtualNetworks/([A-Za-z0-9_.-]+)/subnets/([A-Za-z0-9_.-]+)$`)
	dnsZone       = regexp.MustCompile(`^(system|none|` + groupForm + `/providers/Microsoft\.Network/privateDnsZones/([A-Za-z0-9_.-]+))$`)
	zoneID        = regexp.MustCompile(`^` + groupForm + `/providers/Microsoft\.Network/(dnsZones|dnszones|privateDnsZones)/([a-z0-9_.-]+)$`)
	vaultID       = regexp.MustCompile(`^` + groupForm + `/providers/Microsoft\.KeyVault/vaults/([A-Za-z][A-Za-z0-9-]{1,22}[A-Za-z0-9])$`)
	containerID   = regexp.MustCompile(`^` + groupForm + `/providers/Microsoft\.Storage/storageAccounts/([a-z0-9]{3,24})/blobServices/default/containers/([a-z0-9](-?[a-z0-9]){2,62})$`)
	roleScope     = regexp.MustCompile(`^/subscriptions/(` + uuidForm + `)(/resourceGroups/[^/\s]+(/providers/[^/\s]+(/[^/\s]+/[^/\s]+)+)?)?$`)
	operatorScope = regexp.MustCompile(`^(/subscriptions/` + uuidForm + `|` + groupForm + `)$`)
	roleText      = regexp.MustCompile(`^\S(.*\S)?$`)
	roleID        = regexp.MustCompile(`^(/subscriptions/` + uuidForm + `)?/providers/Microsoft\.Authorization/roleDefinitions/(` + uuidForm + `)$`)
	vmSize        = regexp.MustCompile(`^Standard_[A-Z][A-Za-z0-9-]*(_[A-Za-z0-9]+)*$`)
	poolName      = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
	maxSurge      = regexp.MustCompile(`^([1-9][0-9]{0,2}|[1-9][0-9]?%|100%)$`)
)

// azureRules are the rules of fields in files for Azure: of the keys that only these have,
// and of those for which the rule is another than on AWS.
var azureRules = map[string]strict.Rule{
	"Cloud.Region": {
		What: "a region of Azure", Example: "germanywestcentral", Allowed: azurefacts.Regions(), Advice: azureRegionAdvice,
	},
	"Cloud.Account":       uuidRule("the id of a subscription"),
	"Cloud.Tenant":        uuidRule("the id of a tenant"),
	"Cloud.ResourceGroup": groupRule("demo"),

	"Network.Outbound":            {What: "a way out", Allowed: texts(OutboundNATGateway, OutboundLoadBalancer, OutboundRoutes)},
	"ExistingNetwork.GrantAccess": {Default: false},
	"ExistingNetwork.NodeSubnet": {
		What: "the id of a subnet", Pattern: nodeSubnet, Advice: idAdvice(nodeSubnet),
		Example: exampleGroup + "/providers/Microsoft.Network/virtualNetworks/shared/subnets/aks",
	},
	"ExistingCluster.ResourceGroup": groupRule("platform"),
	"ExistingCluster.Name": {
		What: "the name of an AKS cluster", Example: "platform",
		Pattern: regexp.MustCompile(`^[0-9A-Za-z]([0-9A-Za-z_-]*[0-9A-Za-z])?$`), MaxLength: azurefacts.MaxClusterName,
	},

	"Kubernetes.Version":     aksVersionRule(`"1.35"`),
	"Kubernetes.NodeVersion": aksVersionRule(`"1.34"`),
	"Kubernetes.PodCIDR": {
		What: "an IPv4 block", Example: defaultPodCIDR, Default: defaultPodCIDR,
		Pattern: regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/[0-9]+$`), Advice: blockAdvice,
	},
	"Kubernetes.Tier":              {What: "a tier of AKS", Allowed: texts(FreeTier, StandardTier, PremiumTier), Default: StandardTier},
	"Kubernetes.Support":           {What: "a kind of support", Allowed: texts(StandardSupport, ExtendedSupport), Default: StandardSupport},
	"Kubernetes.NodeResourceGroup": groupRule("demo-nodes"),
	"Upgrades.Kubernetes": {
		What: "a channel of upgrades", Allowed: texts(NoUpgrades, PatchUpgrades, StableUpgrades, RapidUpgrades), Default: PatchUpgrades,
	},
	"Upgrades.NodeImages": {
		What: "a channel of node images", Allowed: texts(NoImages, UnmanagedImages, SecurityPatches, NodeImageChannel), Default: NodeImageChannel,
	},

	"Endpoint.Private": {},
	"Endpoint.PrivateDNSZone": {
		What: "system, none or the id of a private DNS zone", Pattern: dnsZone, Advice: idAdvice(dnsZone),
		Example: exampleGroup + "/providers/Microsoft.Network/privateDnsZones/privatelink.germanywestcentral.azmk8s.io",
	},
	"Principal.Group": uuidRule("the object id of a group of Entra"),

	// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftkeyvault
	"AuthentikOptions.SecretPath": {
		What: "the name of a secret in a key vault", Example: "authentik", Pattern: regexp.MustCompile(`^[0-9A-Za-z-]+$`), MaxLength: 127,
	},

	"NodeGroup.Name": {
		What: "the name of a node pool", Example: "system", Pattern: poolName, MaxLength: azurefacts.MaxPoolName, Advice: poolAdvice,
	},
	"NodeGroup.Mode":      {What: "a mode of node pools", Allowed: texts(SystemPool, UserPool), Default: UserPool},
	"NodeGroup.VMSize":    {What: "a size of virtual machines", Example: "Standard_D4s_v5", Pattern: vmSize, Advice: sizeAdvice},
	"NodeGroup.OS":        {What: "a system for nodes", Allowed: texts(AzureLinux, Ubuntu), Default: AzureLinux},
	"NodeGroup.MaxPods":   {Least: new(azurefacts.MinPods), Most: new(azurefacts.MaxPods), Default: defaultMaxPods},
	"NodeGroup.DiskGiB":   {Least: new(azurefacts.MinDiskGiB), Most: new(azurefacts.MaxDiskGiB), Default: defaultAzureDiskGiB},
	"NodeGroup.Zones":     {What: "an availability zone", Noun: "zone", Allowed: azurefacts.Zones()},
	"NodeUpdate.MaxSurge": {What: "a number, or percent, of nodes", Example: "33%", Pattern: maxSurge},

	"Zone.ID": {
		What: "the id of a public or private DNS zone", Pattern: zoneID, Advice: idAdvice(zoneID),
		Example: "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/dns/providers/Microsoft.Network/dnsZones/example.com",
	},
	"SecretsOptions.Vault": {
		What: "the id of a key vault", Pattern: vaultID, Advice: idAdvice(vaultID),
		Example: "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/secrets/providers/Microsoft.KeyVault/vaults/shop",
	},
	"LokiOptions.Container": {
		What: "the id of a blob container", Pattern: containerID, Advice: idAdvice(containerID),
		Example: "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/logs/providers/Microsoft.Storage/storageAccounts/platformlogs/blobServices/default/containers/loki",
	},
	"Identity.Mode":   {What: "an identity mode of Azure", Allowed: texts(WorkloadIdentity), Default: WorkloadIdentity},
	"RoleGrant.Role":  {What: "a role", Example: azurefacts.KeyVaultSecretsUser, Pattern: roleText},
	"RoleGrant.Scope": {What: "the id of a resource or a resource group", Example: exampleGroup, Pattern: roleScope, Advice: idAdvice(roleScope)},

	"OperatorSystem.ResourceGroup": groupRule("demo-shop"),
	"OperatorSystem.Role":          {What: "a role", Example: azurefacts.Contributor, Pattern: roleText},
	"OperatorSystem.Scope":         {What: "the id of a resource group", Example: exampleGroup, Pattern: operatorScope, Advice: idAdvice(operatorScope)},

	"ArgoCDOptions.Credentials": {
		What: "a kind of credentials on Azure", Allowed: texts(CredentialsServiceAccount),
		Advice: func(string) string {
			return "use service-account, or remove it: aws is an IAM role, and this cluster has none"
		},
	},
}

func uuidRule(what string) strict.Rule {
	return strict.Rule{What: what, Example: `"00000000-0000-4000-8000-000000000001"`, Pattern: uuid, Advice: uuidAdvice}
}

func groupRule(example string) strict.Rule {
	return strict.Rule{What: "the name of a resource group", Example: example, Pattern: resourceGroup, MaxLength: azurefacts.MaxResourceGroupName}
}

func aksVersionRule(example string) strict.Rule {
	return strict.Rule{
		What: "a supported version of Kubernetes on AKS", Example: example, Allowed: azurefacts.Calendar.Minors(),
		Advice: versionsAdvice("AKS", azurefacts.Calendar.Minors()),
	}
}

func uuidAdvice(s string) string {
	if lower := strings.ToLower(s); lower != s && uuid.MatchString(lower) {
		return "write it in lower case: " + lower
	}
	if _, id, found := strings.Cut(s, "/subscriptions/"); found && uuid.MatchString(id) {
		return "write the id alone: " + id
	}
	return "write its 32 hexadecimal digits with dashes, such as 00000000-0000-4000-8000-000000000001"
}

// azureRegionAdvice knows a region by the name that the portal shows, too.
func azureRegionAdvice(s string) string {
	name := strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(s))
	if slices.Contains(azurefacts.Regions(), name) {
		return "write " + name
	}
	if near := wording.Nearest(name, azurefacts.Regions()); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "use a name that `az account list-locations --query [].name` prints, such as germanywestcentral"
}

// idAdvice tells an id of another case from one of another form.
func idAdvice(form *regexp.Regexp) func(string) string {
	anyCase := regexp.MustCompile(`(?i)` + form.String())
	return func(s string) string {
		if anyCase.MatchString(s) {
			return "write it as `az` prints it: /subscriptions/…/resourceGroups/…, ids in lower case, and providers such as Microsoft.Network"
		}
		return ""
	}
}

var notInPool = regexp.MustCompile(`[^a-z0-9]+`)

// poolAdvice suggests the pool's name nearest to one.
func poolAdvice(s string) string {
	name := strings.TrimLeft(notInPool.ReplaceAllString(strings.ToLower(s), ""), "0123456789")
	if name == "" {
		return ""
	}
	return fmt.Sprintf("use lower-case letters and digits, and begin with a letter, such as %s", wording.Quote(name[:min(len(name), azurefacts.MaxPoolName)]))
}

// sizeAdvice writes a size as Azure does.
func sizeAdvice(s string) string {
	rest := s
	if len(s) > len("Standard_") && strings.EqualFold(s[:len("Standard_")], "Standard_") {
		rest = s[len("Standard_"):]
	}
	if rest == "" {
		return ""
	}
	if size := "Standard_" + strings.ToUpper(rest[:1]) + rest[1:]; size != s && vmSize.MatchString(size) {
		return "write " + size
	}
	return "write it like Standard_D4s_v5; `az vm list-sizes` prints those of a region"
}
