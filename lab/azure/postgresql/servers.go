// Package postgresql is Azure's PostgreSQL servers in the stand-in, with their databases and firewall
// rules. No database runs: they are made, refused and deleted as Azure does it.
package postgresql

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/network"
	"tombolo/lab/standin"
)

// The types of servers, databases and firewall rules.
const (
	ServerType       = "azure-native:dbforpostgresql/v20240801:Server"
	DatabaseType     = "azure-native:dbforpostgresql/v20240801:Database"
	FirewallRuleType = "azure-native:dbforpostgresql/v20240801:FirewallRule"
)

const (
	namespace  = "Microsoft.DBforPostgreSQL"
	serverPath = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.DBforPostgreSQL/flexibleServers/{serverName}"
)

// Names within servers are by
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules#microsoftdbforpostgresql.
// Those of servers have a refusal of their own.
var (
	servers   = arm.Kind{Token: ServerType, ARM: namespace + "/flexibleServers", Provider: namespace, Path: serverPath}
	databases = arm.Kind{
		Token: DatabaseType, ARM: namespace + "/flexibleServers/databases", Provider: namespace, Path: serverPath + "/databases/{databaseName}",
		Parent: ServerType, ParentPath: serverPath,
		Name: regexp.MustCompile(`^[-\w.]{1,63}$`), NameRule: "The name must be 1 to 63 letters, digits, hyphens, underscores and periods.",
	}
	firewallRules = arm.Kind{
		Token: FirewallRuleType, ARM: namespace + "/flexibleServers/firewallRules", Provider: namespace, Path: serverPath + "/firewallRules/{firewallRuleName}",
		Parent: ServerType, ParentPath: serverPath,
		Name: regexp.MustCompile(`^[-\w]{1,128}$`), NameRule: "The name must be 1 to 128 letters, digits, hyphens and underscores.",
	}
)

// Types are servers, databases and firewall rules. Of a server the quickstart says that it takes several
// minutes, and of the others nothing: the figures are assumed.
// https://learn.microsoft.com/en-us/azure/postgresql/flexible-server/quickstart-create-server
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		ServerType: servers.Type(standin.Type{
			Constructor: none[server, serverArgs],
			// x-ms-mutability in the API's specification
			ForceNew: []string{"administratorLogin", "location"},
			Put:      putServer,
			Takes:    standin.Timing{Create: 5 * time.Minute, Update: time.Minute, Remove: time.Minute},
		}),
		DatabaseType: databases.Type(standin.Type{
			Constructor: none[database, databaseArgs], ForceNew: []string{"charset", "collation"}, Put: putDatabase,
			Takes: standin.Timing{Create: 10 * time.Second, Update: 10 * time.Second, Remove: 10 * time.Second},
		}),
		FirewallRuleType: firewallRules.Type(standin.Type{
			Constructor: none[firewallRule, firewallRuleArgs], Put: putFirewallRule,
			Takes: standin.Timing{Create: 30 * time.Second, Update: 30 * time.Second, Remove: 30 * time.Second},
		}),
	}
}

// serverName is by the rules of names of resources, as above.
var serverName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{1,61})[a-z0-9]$`)

// invalid is how the resource provider refuses a value. Source:
// https://github.com/Azure-Samples/langfuse-on-azure/issues/15
func invalid(c *standin.Call, parameter string) error {
	return c.Refusef("InvalidParameterValue", "Invalid value given for parameter %s. Specify a valid parameter value.", parameter)
}

func putServer(c *standin.Call) error {
	defer delete(c.In(), "administratorLoginPassword") // which nobody gets back
	return c.Check(checkServerName, checkLogin, checkSku, checkNetwork, describeServer)
}

// checkServerName refuses what is no name, and what a server in the world has. The second's message, and not its
// code, is by https://github.com/Azure/azure-service-operator/issues/2428
func checkServerName(c *standin.Call) error {
	name := armid.NameOf(c.Record.ID)
	if !serverName.MatchString(name) {
		return invalid(c, "serverName")
	}
	for r := range c.Others() {
		if r != c.Record && armid.NameOf(r.ID) == name && !arm.Same(r.ID, c.Record.ID) {
			return c.Refuse(standin.Refusal{Code: "ServerNameAlreadyExists", Status: 409, Message: "Specified server name is already used."})
		}
	}
	return nil
}

// reserved are names that no administrator has. Source:
// https://learn.microsoft.com/en-us/azure/postgresql/flexible-server/quickstart-create-server
var reserved = []string{"azure_superuser", "azure_pg_admin", "admin", "administrator", "root", "guest", "public", "azuresu"}

// checkLogin refuses a new server without an administrator, unless it takes no passwords. Source:
// https://github.com/Arize-ai/phoenix-on-azure/issues/23
func checkLogin(c *standin.Call) error {
	in := c.In()
	password := in.Str("administratorLoginPassword")
	if in.Sub("authConfig").Str("passwordAuth") == "Disabled" || c.Old != nil && password == "" {
		return nil
	}
	login := in.Str("administratorLogin")
	for parameter, value := range map[string]string{"AdministratorLogin": login, "AdministratorLoginPassword": password} {
		if value == "" {
			return c.Refusef("MissingRequiredParameter", "Parameter '%s' must be specified. This parameter cannot be NULL or empty.", parameter)
		}
	}
	switch {
	case slices.Contains(reserved, login), strings.HasPrefix(login, "pg_"), len(login) > 63:
		return invalid(c, "administratorLogin")
	case !strong(password, login):
		return invalid(c, "administratorLoginPassword")
	}
	return nil
}

// strong says whether a password has 8 to 128 characters of three kinds, and not the login. Source: what the
// portal asks for, by https://github.com/Azure/reliable-web-app-pattern-java/issues/98
func strong(password, login string) bool {
	kinds := map[string]bool{}
	for _, r := range password {
		switch {
		case unicode.IsUpper(r):
			kinds["upper"] = true
		case unicode.IsLower(r):
			kinds["lower"] = true
		case unicode.IsDigit(r):
			kinds["digit"] = true
		default:
			kinds["other"] = true
		}
	}
	return len(password) >= 8 && len(password) <= 128 && len(kinds) >= 3 && !strings.Contains(strings.ToLower(password), strings.ToLower(login))
}

// tiers by how the names of sizes begin, and the sizes of disks in GiB. Sources:
// https://learn.microsoft.com/en-us/azure/postgresql/flexible-server/concepts-compute and, in MiB, storage_mb of
// https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/postgresql_flexible_server
var (
	tiers = map[string]string{"Standard_B": "Burstable", "Standard_D": "GeneralPurpose", "Standard_E": "MemoryOptimized"}
	disks = []float64{32, 64, 128, 256, 512, 1024, 2048, 4095, 4096, 8192, 16384, 32767}
)

// checkSku refuses a size of another tier, and a disk that there is not.
func checkSku(c *standin.Call) error {
	sku, storage := c.In().Sub("sku"), c.In().Sub("storage")
	if c.In().Has("sku") {
		name := sku.Str("name")
		if len(name) < 11 || tiers[name[:10]] != sku.Str("tier") {
			return invalid(c, "sku")
		}
	}
	if size, given := storage["storageSizeGB"].(float64); given && storage.Str("type") != "PremiumV2_LRS" && !slices.Contains(disks, size) {
		return invalid(c, "storageSizeGB")
	}
	return nil
}

// checkNetwork refuses a server in a network whose subnet is not its own, or without its private zone, and one that
// moves between the network and the public. Sources:
// https://learn.microsoft.com/en-us/azure/postgresql/flexible-server/concepts-networking-private and
// https://github.com/hashicorp/terraform-provider-azurerm/issues/20847
func checkNetwork(c *standin.Call) error {
	given := c.In().Sub("network")
	subnet, zone := given.Str("delegatedSubnetResourceId"), given.Str("privateDnsZoneArmResourceId")
	if c.Old != nil && !arm.Same(c.Old.Outputs.Sub("network").Str("delegatedSubnetResourceId"), subnet) {
		return invalid(c, "delegatedSubnetResourceId")
	}
	if subnet == "" {
		return nil
	}
	if err := arm.CheckLinked(c, "Microsoft.Network/virtualNetworks/subnets/join/action", subnet); err != nil {
		return err
	}
	found := arm.ByID(c.Cloud, network.SubnetType, subnet)
	delegated := found != nil && slices.ContainsFunc(found.Outputs.Objects("delegations"), func(d standin.Props) bool {
		return arm.Same(d.Str("serviceName"), namespace+"/flexibleServers")
	})
	switch {
	case !delegated:
		return invalid(c, "delegatedSubnetResourceId")
	case !strings.HasSuffix(strings.ToLower(zone), ".postgres.database.azure.com"):
		return invalid(c, "privateDnsZoneArmResourceId")
	}
	return nil
}

// describeServer fills in what Azure answers. Source:
// https://learn.microsoft.com/en-us/rest/api/postgresql/servers/get
func describeServer(c *standin.Call) error {
	out := c.Out()
	out["state"], out["fullyQualifiedDomainName"] = "Ready", armid.NameOf(c.Record.ID)+".postgres.database.azure.com"
	out.SetDefaults(standin.Props{
		"version":    "16",
		"authConfig": map[string]any{"passwordAuth": "Enabled", "activeDirectoryAuth": "Disabled"},
		"backup":     map[string]any{"backupRetentionDays": 7.0, "geoRedundantBackup": "Disabled"},
	})
	access := out.Sub("network").Clone()
	if access.Str("delegatedSubnetResourceId") != "" {
		access["publicNetworkAccess"] = "Disabled"
	}
	access.SetDefault("publicNetworkAccess", "Enabled")
	out["network"] = map[string]any(access)
	return nil
}

// built are databases that every server has:
// https://learn.microsoft.com/en-us/azure/postgresql/flexible-server/concepts-servers
var built = []string{"azure_maintenance", "azure_sys", "postgres"}

func putDatabase(c *standin.Call) error {
	if slices.Contains(built, armid.NameOf(c.Record.ID)) {
		return invalid(c, "databaseName")
	}
	c.Out().SetDefaults(standin.Props{"charset": "UTF8", "collation": "en_US.utf8"})
	return nil
}

// putFirewallRule refuses what is no range, and a rule of a server that is in a network: the second in words of
// the lab's own, as what Azure says was not found. Source:
// https://learn.microsoft.com/en-us/azure/postgresql/flexible-server/concepts-networking-public
func putFirewallRule(c *standin.Call) error {
	from, failed := netip.ParseAddr(c.In().Str("startIpAddress"))
	to, alsoFailed := netip.ParseAddr(c.In().Str("endIpAddress"))
	if failed != nil || !from.Is4() {
		return invalid(c, "startIpAddress")
	}
	if alsoFailed != nil || !to.Is4() || to.Less(from) {
		return invalid(c, "endIpAddress")
	}
	server := arm.ParentOf(c.Cloud, ServerType, c.Record.ID)
	if server.Outputs.Sub("network").Str("publicNetworkAccess") == "Disabled" {
		return c.Refuse(standin.Refusal{Code: "OperationNotAllowed", Status: 409, Message: fmt.Sprintf(
			"Firewall rules operations cannot be requested for a server '%s' with private access.", armid.NameOf(server.ID))})
	}
	return nil
}
