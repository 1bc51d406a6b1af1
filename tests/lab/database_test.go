//go:build lab

package lab

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const (
	databaseFile   = "lab/systems/orders/deploy/database.yaml"
	databaseServer = "azure-native:dbforpostgresql/v20240801:Server"
	// databasePassword is what nothing but the vault and the cluster's Secret has.
	databasePassword = "Wrought-7-iron-gates"
)

// aksDatabase: a system's repository has a server with its database, whose password is in the vault. Azure makes it
// with the system's identity, and the operator writes where it is for the pods.
func (p project) aksDatabase(t *testing.T) {
	p.azureSecret(t, "aks", "set", "--name", "aks--orders--database", "--value", databasePassword)
	p.must(t, "init", "system", "orders", "aks", "--team", "sellers", "--group", entraGroups["sellers"], "--repository", "http://git.lab.test/orders.git", "--path", "./deploy")
	p.must(t, "check", "platform/flux", "aks")
	p.must(t, "lab", "up")
	p.must(t, "verify", "aks")

	p.meets(t, "aks", "create", "-n", "orders", "flexibleserver/database")
	p.meets(t, "aks", "condition=Ready", "-n", "orders", "flexibleserver/database", "flexibleserversdatabase/orders", "flexibleserversfirewallrule/cluster")
	servers := p.made(t, databaseServer)
	assert.Assert(t, is.Len(servers, 1))
	assert.Check(t, strings.HasSuffix(servers[0].ID, "/resourceGroups/aks-orders/providers/Microsoft.DBforPostgreSQL/flexibleServers/aks-orders"), servers[0].ID)
	p.opened(t, "aks", "orders", "database", "host", "aks-orders.postgres.database.azure.com")
	owner := p.kubectl(t, "aks", "-n", "orders", "get", "secret", "database", "-o", "jsonpath={.metadata.ownerReferences[*].kind}")
	assert.Check(t, is.Equal(owner, "FlexibleServer"))
	p.must(t, "verify", "aks")

	p.keepsPassword(t)
	p.refusesSpecs(t)
	// What is taken out of the repository goes, but for a server that is to stay.
	deliver := func(database string) {
		files := map[string]string{"deploy/web.yaml": p.read(t, "lab/systems/orders/deploy/web.yaml")}
		if database != "" {
			files["deploy/database.yaml"] = database
		}
		p.push(t, "orders", files)
		p.look(t, "aks", "orders", "gitrepository", "system")
	}
	deliver("")
	p.meets(t, "aks", "delete", "-n", "orders", "flexibleserver/database")
	assert.Assert(t, is.Len(p.made(t, databaseServer), 1), "the data stay")
	assert.Check(t, is.Equal(p.kubectl(t, "aks", "-n", "orders", "get", "secret", "database", "--ignore-not-found"), ""))
	const stays = "    serviceoperator.azure.com/reconcile-policy: detach-on-delete\n"
	deliver(strings.Replace(p.read(t, databaseFile), stays, "    of: orders\n", 1))
	p.opened(t, "aks", "orders", "database", "host", "aks-orders.postgres.database.azure.com")
	deliver("")
	eventually(t, func() (bool, string) {
		return len(p.made(t, databaseServer)) == 0, "the server is still there"
	})
}

// keepsPassword: neither the states, nor Git, nor what the cloud answers has the password.
func (p project) keepsPassword(t *testing.T) {
	t.Helper()
	for _, stack := range []string{"aks-core", "aks-bootstrap"} {
		hides(t, stack, p.state(t, stack), databasePassword)
	}
	assert.Check(t, !strings.Contains(p.read(t, databaseFile), databasePassword))
	for _, record := range p.azureRecords(t) {
		if strings.Contains(record, "DBforPostgreSQL") { // the vault has it
			assert.Check(t, !strings.Contains(record, databasePassword), record)
		}
	}
	object := p.kubectl(t, "aks", "-n", "orders", "get", "flexibleservers,flexibleserversdatabases", "-o", "json")
	assert.Check(t, !strings.Contains(object, databasePassword))
}

// refusesSpecs: the API server refuses what is wrong in type, and upstream's values.
func (p project) refusesSpecs(t *testing.T) {
	t.Helper()
	for _, test := range []struct{ old, new, want string }{
		{"storageSizeGB: 32}", "storageSizeGB: much}", "must be of type integer"},
		{"tier: Burstable}", "tier: Cheap}", `Unsupported value: "Cheap"`},
		{"  owner: {armId: \"${azure_scope}\"}\n", "", "spec.owner: Required value"},
		{"fullyQualifiedDomainName: {name: database, key: host}", "primaryConnectionString: {name: database, key: host}", `unknown field "spec.operatorSpec.secrets.primaryConnectionString"`},
	} {
		text := strings.Replace(p.read(t, databaseFile), test.old, test.new, 1)
		values := strings.NewReplacer("${cluster_name}", "aks", "${region}", "germanywestcentral", "${azure_scope}", "/subscriptions/a/resourceGroups/b", "  name: database\n", "  name: wrong\n")
		server := values.Replace(strings.Split(text, "---\n")[1])
		p.tryKubectl(t, "aks", "-n", "orders", "create", "--dry-run=server", "--validate=strict", "-f", asFile(t, server)).fails(t, test.want)
	}
}
