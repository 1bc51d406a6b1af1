//go:build lab

package lab

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/addon"
	"tombolo/lab/azure/network"
	"tombolo/tests/tier"
)

// TestAKSInANetworkOfOthers is the way of a private cluster in the network team's subnet and
// DNS zone, in another subscription, with a service that has an identity. The profile is
// light: no engine has to run for it. Its parts build on each other.
func TestAKSInANetworkOfOthers(t *testing.T) {
	tier.Long(t, "a cluster in the network team's subnet, with grants in another subscription")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	g := aksGuest{p, p.azureRecords(t)}
	assert.Assert(t, len(g.before) > 0, "the network team has nothing")
	g.write(t, "clusters/guest.yaml", aksGuestFile(g.read(t, "clusters/aks.yaml")))
	inOrder(t, g, []step[aksGuest]{
		{"without the network owner's grant AKS refuses", aksGuest.refused},
		{"core gives the grant", aksGuest.granted},
		{"a second up changes nothing", func(g aksGuest, t *testing.T) { g.unchanged(t, "guest") }},
		{"the service's account, and no other, gets tokens of its identity", aksGuest.federated},
		{"authentik has its secret from the store of the vault", aksGuest.fromVault},
		{"Azure Service Operator's account gets tokens of a system's identity", aksGuest.operated},
		{"destroy leaves the network team's as it was", aksGuest.destroyed},
	})
}

// aksGuest is a cluster in another team's network, and what was in Azure before it.
type aksGuest struct {
	project
	before map[string]string
}

// aksGuestFile is the cluster file of a guest of the network team, made of that of aks.
func aksGuestFile(aks string) string {
	return strings.NewReplacer(
		"\nname: aks\n", "\nname: guest\n",
		"  cidr: 10.30.0.0/16\n  outbound: nat-gateway\n", "  outbound: user-defined-routing\n  existing:\n    nodeSubnet: "+network.TeamSubnetID+"\n",
		"    private: false\n    public: true\n    allowedCidrs: [203.0.113.0/24]\n", "    privateDnsZone: "+network.TeamZone("germanywestcentral")+"\n",
		"\naddons:\n", "\naddons:\n"+aksGuestAddons,
		"  loki: {}\n", "", // core makes no way to its account in a network of others
	).Replace(aks) + `
namespaces:
  - name: orders
services:
  - name: orders
    namespace: orders
    identity:
      roles:
        - role: Storage Blob Data Reader
          scope: /subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/guest
`
}

// aksGuestAddons are beside those of aks. Of external-secrets core makes a key vault, which
// nothing reads here: no engine runs.
const aksGuestAddons = `  cert-manager: {}
  external-secrets: {allowedCidrs: [203.0.113.0/24]}
  authentik: {secretPath: guest-authentik}
  azure-service-operator:
    crdPatterns: [storage.azure.com/*]
    systems:
      - name: shop
        resourceGroup: guest-shop
`

// azureRecords are the records of the stand-in for Azure, by their file's name: also of what
// is in no inventory, as the network team's.
func (p project) azureRecords(t *testing.T) map[string]string {
	t.Helper()
	dir := os.DirFS(filepath.Join(p.dir, ".lab", "azure", "resources"))
	found := map[string]string{}
	assert.NilError(t, fs.WalkDir(dir, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(dir, file)
		found[file] = string(content)
		return err
	}))
	return found
}

func (g aksGuest) refused(t *testing.T) {
	o := g.run(t, "up", "guest", "--yes")
	said := o.stdout + o.stderr
	assert.Check(t, o.code != 0)
	for _, want := range []string{"LinkedAuthorizationFailed", "identity", "guest-control-plane has the role Network Contributor on the subnet", network.TeamRouteTableID, "the whole network"} {
		assert.Check(t, is.Contains(said, want))
	}
}

func (g aksGuest) granted(t *testing.T) {
	subnet := "nodeSubnet: " + network.TeamSubnetID + "\n"
	g.edit(t, "clusters/guest.yaml", subnet, subnet+"    grantAccess: true\n")
	g.up(t, "guest").created(t)
}

// federated: the real kubelogin gets a token for the service with a token of its service
// account, and is refused with another account's.
func (g aksGuest) federated(t *testing.T) {
	for _, account := range []string{"orders", "other"} {
		g.kubectl(t, "guest", "-n", "orders", "create", "serviceaccount", account)
	}
	values := g.kubectl(t, "guest", "-n", "orders", "get", "configmap", "orders-values", "-o", `jsonpath={.data.values\.yaml}`)
	found := regexp.MustCompile(`azure.workload.identity/client-id: (\S+)`).FindStringSubmatch(values)
	assert.Assert(t, is.Len(found, 2), values)
	g.exchanges(t, "guest", found[1], "orders", "orders", "other")
}

// fromVault: infra-config has the store's name and the secret's, of which the tree makes
// authentik's ExternalSecret.
func (g aksGuest) fromVault(t *testing.T) {
	published := g.kubectl(t, "guest", "-n", "flux-system", "get", "configmap", "infra-config", "-o", "jsonpath={.data.secret_store} {.data.authentik_secret_path} {.data.secret_store_provider}")
	assert.Check(t, is.Contains(published, "key-vault guest-authentik "))
	vaults := g.made(t, "azure-native:keyvault/v20230701:Vault")
	assert.Assert(t, is.Len(vaults, 1))
	assert.Check(t, is.Contains(published, `"vaultUrl":"https://`+vaults[0].Name))
}

// operated: core has made the identity of a system, with its role on the group that it has made,
// and infra-config has what the tree makes the credential of.
func (g aksGuest) operated(t *testing.T) {
	const namespace, account = "azureserviceoperator-system", "azureserviceoperator-default"
	text := g.kubectl(t, "guest", "-n", "flux-system", "get", "configmap", "infra-config", "-o", "jsonpath={.data.system_identities}")
	var identities map[string]addon.SystemIdentity
	assert.NilError(t, json.Unmarshal([]byte(text), &identities), text)
	shop := identities["shop"]
	assert.Check(t, is.Equal(shop.Scope, "/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/guest-shop"))
	assert.Check(t, is.Contains(text, `"tenantId":"00000000-0000-4000-8000-00000000000a"`))
	for _, name := range []string{account, "other"} {
		g.kubectl(t, "guest", "-n", namespace, "create", "serviceaccount", name)
	}
	g.exchanges(t, "guest", shop.ClientID, namespace, account, "other")
	var given bool
	for _, record := range g.azureRecords(t) {
		given = given || strings.Contains(record, "roleAssignments") && strings.Contains(record, "resourceGroups/guest-shop") &&
			strings.Contains(record, "b24988ac-6180-42a0-ab88-20f7382dd24c")
	}
	assert.Check(t, given, "the identity has no role on the group")
}

// exchanges holds that a service account of a cluster gets tokens of an identity, and another one
// of its namespace does not.
func (p project) exchanges(t *testing.T, cluster, client, namespace, account, other string) {
	t.Helper()
	const exchange = `set -eu
token=$(kubectl create token "$1" -n "$3" --audience api://AzureADTokenExchange)
umask 077; printf %s "$token" > .lab/service-token
AZURE_CLIENT_ID=$2 AZURE_FEDERATED_TOKEN_FILE=.lab/service-token kubelogin get-token --tenant-id "$AZURE_TENANT_ID" \
  --environment AzurePublicCloud --server-id 6dae42f8-4368-4678-94ff-3960e28e3630`
	p.env = append(slices.Clone(p.env), "KUBECONFIG="+filepath.Join(p.dir, ".lab", cluster+".kubeconfig"))
	// The other account first: kubelogin keeps a token of an identity, whoever has got it.
	o := p.tool(t, "/bin/sh", "-c", exchange, "sh", other, client, namespace)
	assert.Check(t, o.code != 0 && strings.Contains(o.stderr, "AADSTS"), "%s\n%s", o.stdout, o.stderr)
	o = p.tool(t, "/bin/sh", "-c", exchange, "sh", account, client, namespace)
	assert.Check(t, o.code == 0 && strings.Contains(o.stdout, `"kind":"ExecCredential"`), o.stderr)
}

func (g aksGuest) destroyed(t *testing.T) {
	g.must(t, "destroy", "guest", "--yes")
	g.nothingExists(t)
	after := g.azureRecords(t)
	deleted := func(file, _ string) bool { return strings.HasPrefix(file, "azure/DeletedVault-") }
	all := len(after)
	maps.DeleteFunc(after, deleted)
	assert.Check(t, is.Equal(all-len(after), 1), "Azure keeps the name of a deleted vault")
	assert.Check(t, is.DeepEqual(after, g.before))
}
