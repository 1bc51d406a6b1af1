package azure

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/postgresql"
	"tombolo/lab/standin"
)

const adminPassword = "correct-Horse-7"

func (w *world) server(name string, change props) props {
	return w.inGroup(standin.Merged(props{
		"serverName": name, "administratorLogin": "keeper", "administratorLoginPassword": adminPassword, "version": "16",
		"sku": map[string]any{"name": "Standard_B1ms", "tier": "Burstable"}, "storage": map[string]any{"storageSizeGB": 32.0},
	}, change))
}

func TestPostgreSQLServersAreRefused(t *testing.T) {
	w := newNetwork(t)
	in := func(subnet, zone string) props {
		return props{"network": map[string]any{"delegatedSubnetResourceId": subnet, "privateDnsZoneArmResourceId": zone}}
	}
	const zone = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/privateDnsZones/demo.postgres.database.azure.com"
	for _, test := range []struct {
		name   string
		change props
		want   string
	}{
		{"Demo", nil, `Code="InvalidParameterValue" Message="Invalid value given for parameter serverName.`},
		{"de", nil, `serverName: 'serverName' is too short (2)`},
		{"demo", props{"administratorLoginPassword": nil}, `Code="MissingRequiredParameter" Message="Parameter 'AdministratorLoginPassword' must be specified.`},
		{"demo", props{"administratorLogin": nil}, `Parameter 'AdministratorLogin' must be specified.`},
		{"demo", props{"administratorLogin": "root"}, `parameter administratorLogin`},
		{"demo", props{"administratorLogin": "pg_shop"}, `parameter administratorLogin`},
		{"demo", props{"administratorLoginPassword": "short1!"}, `parameter administratorLoginPassword`},
		{"demo", props{"administratorLoginPassword": "onlylowercase"}, `parameter administratorLoginPassword`},
		{"demo", props{"administratorLoginPassword": "Keeper-of-7"}, `parameter administratorLoginPassword`},
		{"demo", props{"sku": map[string]any{"name": "Standard_D2s_v3", "tier": "Burstable"}}, `parameter sku`},
		{"demo", props{"storage": map[string]any{"storageSizeGB": 33.0}}, `parameter storageSizeGB`},
		{"demo", in(w.subnet.ID, zone), `parameter delegatedSubnetResourceId`},
		{"demo", in(network.TeamSubnetID, zone), `parameter delegatedSubnetResourceId`},
	} {
		w.denied(postgresql.ServerType, w.server(test.name, test.change), test.want)
	}
	w.Add(network.SubnetType, "databases", props{
		"resourceGroupName": demo, "virtualNetworkName": demo, "subnetName": "databases", "addressPrefix": "10.1.32.0/24",
		"delegations": list(map[string]any{"name": "fs", "serviceName": "Microsoft.DBforPostgreSQL/flexibleServers"}),
	})
	subnet := w.vnet.ID + "/subnets/databases"
	w.denied(postgresql.ServerType, w.server("demo", in(subnet, "")), `parameter privateDnsZoneArmResourceId`)
	private := w.Add(postgresql.ServerType, "private", w.server("demo-private", in(subnet, zone)))
	w.denied(postgresql.FirewallRuleType, props{"resourceGroupName": demo, "serverName": "demo-private", "firewallRuleName": "all", "startIpAddress": "203.0.113.1", "endIpAddress": "203.0.113.1"},
		`server 'demo-private' with private access`)
	w.Add(arm.GroupType, "others", props{"resourceGroupName": "others", "location": arm.Location})
	w.denied(postgresql.ServerType, w.server("demo-private", props{"resourceGroupName": "others"}), `Status=409 Code="ServerNameAlreadyExists"`)
	assert.Check(t, is.Equal(private.Out.Sub("network").Str("delegatedSubnetResourceId"), subnet))
}

// TestPostgreSQLServerKeepsItsPassword: nobody gets it back, and the lab's own state has it nowhere.
func TestPostgreSQLServerKeepsItsPassword(t *testing.T) {
	w := newNetwork(t)
	made := w.Add(postgresql.ServerType, "server", w.server("demo", nil))
	assert.Check(t, is.Equal(made.Out.Str("fullyQualifiedDomainName"), "demo.postgres.database.azure.com"))
	assert.Check(t, is.Equal(made.Out.Str("state"), "Ready"))
	unlock := w.Cloud.Lock()
	record := arm.ByID(w.Cloud, postgresql.ServerType, made.ID)
	kept, err := json.Marshal(record)
	unlock()
	assert.NilError(t, err)
	assert.Check(t, !strings.Contains(string(kept), adminPassword), string(kept))

	in := func(name, value string) props {
		return props{"resourceGroupName": demo, "serverName": "demo", name: value}
	}
	w.denied(postgresql.DatabaseType, in("databaseName", "postgres"), `parameter databaseName`)
	database := w.Add(postgresql.DatabaseType, "database", in("databaseName", "shop"))
	assert.Check(t, is.Equal(database.Out.Str("charset"), "UTF8"))
	rule := standin.Merged(in("firewallRuleName", "cluster"), props{"startIpAddress": "203.0.113.9", "endIpAddress": "203.0.113.8"})
	w.denied(postgresql.FirewallRuleType, rule, `parameter endIpAddress`)
	w.Add(postgresql.FirewallRuleType, "rule", standin.Merged(rule, props{"endIpAddress": "203.0.113.9"}))
}
