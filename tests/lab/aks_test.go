//go:build lab

package lab

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	corev1 "k8s.io/api/core/v1"

	"tombolo/config/addon"
	"tombolo/lab/azure/network"
	"tombolo/tests/tier"
)

// azureCredential is what a kubeconfig or a state must not have of a cluster in Azure: tokens
// of Entra or of anybody, keys, and passwords of AKS's own accounts.
var azureCredential = regexp.MustCompile(`eyJhbGciOi[A-Za-z0-9_-]+\.|-----BEGIN [A-Z ]*PRIVATE KEY|client-key-data|client-certificate-data|clusterAdmin_`)

// TestAKS is the way of the cluster in Azure, from an empty lab to an empty lab. Its parts
// build on each other. TestClouds has what is the same for every cluster.
func TestAKS(t *testing.T) {
	tier.Long(t, "all that a cluster in Azure can have, and its upgrade: TestClouds has its life")
	p := newProject(t)
	p.aksAddons(t)
	inOrder(t, p, []step[project]{
		{"up", func(p project, t *testing.T) { p.must(t, "up", "aks", "--yes", "--verify") }},
		{"the cloud has the cluster and its pools", project.aksExists},
		{"the network's id reaches the ConfigMap", project.aksPublishes},
		{"ingress-nginx has AKS's load balancer, and istio's Gateway ends TLS", project.aksFronted},
		{"Loki's pod, and no other, gets tokens of the identity that its container lets in", project.aksLogs},
		{"neither state nor kubeconfig holds a credential", project.aksHoldsNoSecret},
		{"what is in the key vault arrives", project.aksReads},
		{"Azure Service Operator makes what a system's identity may", project.aksOperates},
		{"a system has a database by one file", project.aksDatabase},
		{"an upgrade takes the control plane and all pools", project.aksUpgrades},
		{"plain pulumi sees the same stacks", func(p project, t *testing.T) { p.sameByPulumi(t, "aks-core", "aks-bootstrap") }},
		{"faults and changes by hand reach the cloud", project.aksDrifts},
		{"Services get load balancers, and claims disks", project.aksServes},
		{"destroy stops at the disk of a claim that was to stay", project.aksStops},
		destroyStep[project]("aks", "--leftovers", "delete"),
	})
}

// aksCRDs is the stage of definitions, which the cluster of the demonstration does without.
const aksCRDs = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - ../../../addons/cert-manager/crds
  - ../../../addons/external-secrets/crds
  - ../../../addons/istio/crds
`

// aksMore are addons besides those of the demonstration.
const aksMore = `
addons:
  cert-manager: {}
  external-secrets: {allowedCidrs: [203.0.113.0/24]}
  ingress-nginx: {}
  istio: {}
  azure-service-operator:
    crdPatterns: [resources.azure.com/*, managedidentity.azure.com/*, dbforpostgresql.azure.com/*]
    systems:
      - {name: shop, resourceGroup: aks-shop}
      - {name: orders, resourceGroup: aks-orders}
`

// aksAddons adds to the cluster and its tree what has to do with Azure, and both ways in.
func (p project) aksAddons(t *testing.T) {
	t.Helper()
	const tree = "platform/flux/clusters/aks/"
	p.edit(t, clusterFile("aks"), "\naddons:\n", aksMore)
	p.write(t, tree+"crds/kustomization.yaml", aksCRDs)
	p.edit(t, tree+"kustomization.yaml", "resources:\n", "resources:\n  - ../base/crds.yaml\n")
	p.edit(t, tree+"kustomization.yaml", "      - op: remove\n        path: /spec/dependsOn\n", "      - op: replace\n        path: /spec/dependsOn\n        value: [{name: crds}]\n")
	p.edit(t, tree+"addons/kustomization.yaml", "resources:\n", "resources:\n  - ../../../addons/azure-service-operator\n  - ../../../addons/external-secrets\n"+
		"  - ../../../addons/ingress-nginx\n  - ../../../addons/istio\n")
	p.must(t, "check", "platform/flux", "aks")
}

// aksFronted: the load balancer is in the group of the nodes, and the Gateway asks for the
// certificate of a Secret. Nothing plays istiod, which makes the Gateway's Service.
func (p project) aksFronted(t *testing.T) {
	var front corev1.Service
	decode(t, p.kubectl(t, "aks", "-n", "ingress-nginx", "get", "service", "ingress-nginx-controller", "-o", "json"), &front)
	assert.Check(t, is.Equal(front.Annotations["service.beta.kubernetes.io/azure-load-balancer-health-probe-request-path"], "/healthz"))
	assert.Check(t, is.Equal(front.Spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyLocal))
	at := front.Status.LoadBalancer.Ingress
	assert.Check(t, len(at) == 1 && strings.HasPrefix(at[0].IP, "203.0.113."), "%v", at)
	for _, token := range []string{"LoadBalancer", "PublicIPAddress"} {
		ofNodes := slices.DeleteFunc(p.made(t, "azure-native:network/v20190601:"+token), func(i item) bool {
			return !strings.Contains(i.ID, "/resourceGroups/aks-nodes/")
		})
		assert.Check(t, is.Len(ofNodes, 1), token)
	}
	gateway := p.kubectl(t, "aks", "-n", "istio-system", "get", "gateway", "public", "-o",
		`jsonpath={.spec.listeners[?(@.name=="https")].protocol} {.spec.listeners[?(@.name=="https")].tls.certificateRefs[*].name}`)
	assert.Check(t, is.Equal(gateway, "HTTPS public-tls"))
	annotations := p.kubectl(t, "aks", "-n", "istio-system", "get", "gateway", "public", "-o", "jsonpath={.spec.infrastructure.annotations}")
	assert.Check(t, is.Contains(annotations, `"service.beta.kubernetes.io/port_443_health-probe_port":"15021"`))
	assert.Check(t, !strings.Contains(annotations, "aws"), annotations)
	p.kubectl(t, "aks", "-n", "istio-system", "get", "httproute", "to-https")
}

// aksFetched reads a secret of the vault.
const aksFetched = `
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: app, namespace: default}
spec:
  refreshInterval: 2s
  secretStoreRef: {kind: ClusterSecretStore, name: key-vault}
  data: [{secretKey: password, remoteRef: {key: app, property: password}}]
`

// aksReads: the real controller reads the vault by the identity that core made, and no more
// when that has no role.
func (p project) aksReads(t *testing.T) {
	az := func(command string, args ...string) string {
		t.Helper()
		return p.azureSecret(t, "aks", command, append([]string{"--name", "app"}, args...)...)
	}
	az("set", "--value", `{"password":"one"}`)
	objects := asFile(t, aksFetched)
	p.kubectl(t, "aks", "apply", "-f", objects)
	p.opened(t, "aks", "default", "app", "password", "one")
	az("set", "--value", `{"password":"two"}`)
	p.opened(t, "aks", "default", "app", "password", "two")
	assert.Check(t, is.Equal(strings.TrimSpace(az("show", "--query", "value", "--output", "tsv")), `{"password":"two"}`))

	const role = "azure-native:authorization/v20220401:RoleAssignment"
	for _, given := range p.made(t, role) {
		if strings.Contains(given.ID, "/vaults/") {
			p.must(t, "lab", "drift", "delete", role, given.ID)
		}
	}
	eventually(t, func() (bool, string) {
		told := p.kubectl(t, "aks", "-n", "default", "get", "events", "--field-selector", "involvedObject.name=app", "-o", "jsonpath={.items[*].message}")
		return strings.Contains(told, "Caller is not authorized to perform action on resource") && strings.Contains(told, "Microsoft.KeyVault/vaults/secrets/getSecret/action"),
			"the events of the ExternalSecret say " + told
	})
	p.kubectl(t, "aks", "delete", "-f", objects)
	p.must(t, "up", "aks", "--yes", "--refresh")
}

// azureSecret works on the secrets in a cluster's key vault as people do, by the Azure CLI.
func (p project) azureSecret(t *testing.T, cluster, command string, args ...string) string {
	t.Helper()
	url := p.kubectl(t, cluster, "get", "clustersecretstore", "key-vault", "-o", "jsonpath={.spec.provider.azurekv.vaultUrl}")
	vault := strings.TrimSuffix(strings.TrimPrefix(url, "https://"), ".vault.azure.net/")
	return p.mustTool(t, filepath.Join(p.dir, ".lab", "bin", "az"), append([]string{"keyvault", "secret", command, "--vault-name", vault}, args...)...)
}

// aksOperated are two identities: in the group of the system, and in one that is not its.
const aksOperated = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: aso-credential, namespace: shop}
stringData: {AZURE_CLIENT_ID: %[1]s, AZURE_SUBSCRIPTION_ID: %[2]s, AZURE_TENANT_ID: %[3]s, USE_WORKLOAD_IDENTITY_AUTH: "true"}
---
apiVersion: managedidentity.azure.com/v1api20230131
kind: UserAssignedIdentity
metadata: {name: api, namespace: shop}
spec: {azureName: shop-api, location: germanywestcentral, owner: {armId: %[4]s}}
---
apiVersion: managedidentity.azure.com/v1api20230131
kind: UserAssignedIdentity
metadata: {name: elsewhere, namespace: shop}
spec: {location: germanywestcentral, owner: {armId: /subscriptions/%[2]s/resourceGroups/aks}}
`

func (p project) aksOperates(t *testing.T) {
	text := p.kubectl(t, "aks", "-n", "flux-system", "get", "configmap", "infra-config", "-o", "jsonpath={.data.system_identities}")
	var identities map[string]addon.SystemIdentity
	decode(t, text, &identities)
	shop := identities["shop"]
	objects := asFile(t, fmt.Sprintf(aksOperated, shop.ClientID, shop.SubscriptionID, shop.TenantID, shop.Scope))
	const definition = "customresourcedefinition/userassignedidentities.managedidentity.azure.com"
	p.meets(t, "aks", "create", definition)
	p.meets(t, "aks", "condition=Established", definition)
	p.kubectl(t, "aks", "apply", "-f", objects)
	p.meets(t, "aks", "condition=Ready", "-n", "shop", "userassignedidentity/api")
	eventually(t, func() (bool, string) {
		said := p.kubectl(t, "aks", "-n", "shop", "get", "userassignedidentity", "elsewhere", "-o", "jsonpath={.status.conditions[0].reason} {.status.conditions[0].message}")
		return strings.HasPrefix(said, "AuthorizationFailed ") && strings.Contains(said, "Microsoft.ManagedIdentity/userAssignedIdentities/write"),
			"the identity elsewhere says " + said
	})
	made := func() bool {
		return slices.ContainsFunc(p.made(t, "azure-native:managedidentity/v20230131:UserAssignedIdentity"), func(i item) bool { return strings.HasSuffix(i.ID, "/shop-api") })
	}
	assert.Check(t, made())
	p.kubectl(t, "aks", "-n", "shop", "delete", "userassignedidentities", "--all", "--timeout=60s")
	assert.Check(t, !made())
	p.kubectl(t, "aks", "delete", "namespace", "shop", "--timeout=60s")
}

func (p project) aksExists(t *testing.T) {
	assert.Check(t, is.Len(p.made(t, aksCluster), 1))
	assert.Check(t, is.Len(p.made(t, "azure-native:containerservice/v20240901:AgentPool"), 1))
	nodes := p.kubectl(t, "aks", "get", "nodes", "-o", "name")
	assert.Check(t, is.Equal(strings.Count(nodes, "node/"), 3), nodes)
}

// aksUpgrades to the next minor version, in one step: AKS upgrades the cluster by itself, too, and
// takes no control plane on alone then. A second upgrade finds all done.
func (p project) aksUpgrades(t *testing.T) {
	o := p.run(t, "upgrade", "aks", "--to", "1.36", "--yes")
	o.ends(t, 0, "Azure insights: 2 of 2 pass", "step 1 of 1: control plane and node groups to 1.36", "the control plane has 1.36, and the node groups 1.36")
	versions := strings.Fields(p.kubectl(t, "aks", "get", "nodes", "-o", "jsonpath={.items[*].status.nodeInfo.kubeletVersion}"))
	assert.Check(t, is.Len(versions, 3))
	for _, version := range versions {
		assert.Check(t, strings.HasPrefix(version, "v1.36."), version)
	}
	p.run(t, "upgrade", "aks", "--to", "1.36", "--yes").ends(t, 0, "nothing to upgrade")
}

func (p project) aksPublishes(t *testing.T) {
	networks := p.made(t, "azure-native:network/v20190601:VirtualNetwork")
	assert.Assert(t, is.Len(networks, 1))
	got := p.kubectl(t, "aks", "-n", "flux-system", "get", "configmap", "infra-config", "-o", "jsonpath={.data.network_id}")
	assert.Check(t, strings.EqualFold(got, networks[0].ID), "the ConfigMap says %q, and the cloud %q", got, networks[0].ID)
}

// aksLogs: the chart's values lead to the account that core has made, and Loki's service account
// to the identity with the role on its container.
func (p project) aksLogs(t *testing.T) {
	accounts := p.made(t, "azure-native:storage/v20230501:StorageAccount")
	assert.Assert(t, is.Len(accounts, 1))
	values := p.kubectl(t, "aks", "-n", "loki", "get", "configmap", "loki-received", "-o", `jsonpath={.data.values\.yaml}`)
	contains(t, values, "accountName: "+path.Base(accounts[0].ID), "useFederatedToken: true", "type: azure", `azure.workload.identity/use: "true"`)
	client := regexp.MustCompile(`azure.workload.identity/client-id: (\S+)`).FindStringSubmatch(values)
	assert.Assert(t, is.Len(client, 2), values)
	p.exchanges(t, "aks", client[1], "loki", "loki", "default")
	var given bool
	for _, record := range p.azureRecords(t) {
		given = given || strings.Contains(record, "roleAssignments") && strings.Contains(record, accounts[0].ID+"/blobServices/default/containers/chunks") &&
			strings.Contains(record, "ba92f5b4-2d11-453d-a403-e96b0029c9fe")
	}
	assert.Check(t, given, "the identity has no role on the container")
}

func (p project) aksHoldsNoSecret(t *testing.T) {
	for _, stack := range []string{"aks-core", "aks-bootstrap"} {
		state := p.state(t, stack)
		assert.Check(t, is.Contains(state, `"urn:pulumi:`), "%s: the export holds no resources", stack)
		assert.Check(t, is.Equal(azureCredential.FindString(state), ""), stack)
	}
	assert.Check(t, is.Equal(azureCredential.FindString(p.must(t, "kubeconfig", "aks")), ""))
}

// aksDrifts: a request that is throttled is tried again, and a change by hand is found and put
// right.
func (p project) aksDrifts(t *testing.T) {
	p.must(t, "lab", "fault", "add", "throttled", "read", "azure-native:containerservice:ManagedCluster", "--count", "3")
	p.must(t, "lab", "drift", "change", "azure-native:resources:ResourceGroup", "aks", "tags.team=others")
	o := p.run(t, "drift", "aks")
	assert.Check(t, is.Contains(o.stdout, `tags.team: "others", expected "platform"`), "exit code %d\n%s", o.code, o.stderr)
	assert.Check(t, is.Equal(p.must(t, "lab", "fault", "list"), ""), "the fault has not happened")
	p.must(t, "up", "aks", "--yes", "--refresh")
	p.must(t, "drift", "aks")
}

// aksWorkload has a public and an internal Service, a claim of AKS's default storage class,
// and one whose disk is to stay.
const aksWorkload = `
apiVersion: v1
kind: Service
metadata: {name: front, namespace: default}
spec: {type: LoadBalancer, selector: {app: shop}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: inside, namespace: default, annotations: {service.beta.kubernetes.io/azure-load-balancer-internal: "true"}}
spec: {type: LoadBalancer, selector: {app: shop}, ports: [{port: 80}]}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: kept}
provisioner: disk.csi.azure.com
reclaimPolicy: Retain
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: orders, namespace: default}
spec: {storageClassName: kept, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: cache, namespace: default}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: shop, namespace: default, labels: {app: shop}}
spec:
  containers: [{name: app, image: registry.example.com/app:1}]
  volumes:
    - {name: orders, persistentVolumeClaim: {claimName: orders}}
    - {name: cache, persistentVolumeClaim: {claimName: cache}}
`

const (
	aksCluster = "azure-native:containerservice/v20240901:ManagedCluster"
	aksDisk    = "azure-native:compute/v20240302:Disk"
)

func (p project) aksServes(t *testing.T) {
	p.kubectl(t, "aks", "apply", "-f", asFile(t, aksWorkload))
	at := func(service string) string {
		return p.kubectl(t, "aks", "-n", "default", "get", "service", service, "-o", "jsonpath={.status.loadBalancer.ingress[0].ip}")
	}
	eventually(t, func() (bool, string) {
		front, inside := at("front"), at("inside")
		return strings.HasPrefix(front, "203.0.113.") && strings.HasPrefix(inside, "10.30.") && len(p.made(t, aksDisk)) == 2,
			"the Services are at " + front + " and " + inside + ", and the cloud lacks disks"
	})
	assert.Check(t, is.Len(p.made(t, "azure-native:network/v20190601:LoadBalancer"), 2))
	p.meets(t, "aks", "condition=Ready", "-n", "default", "pod/shop")
	p.must(t, "drift", "aks") // AKS and its controllers made them
}

// aksStops: AKS would take the disk along with the group of its nodes.
func (p project) aksStops(t *testing.T) {
	p.run(t, "destroy", "aks", "--yes").ends(t, 10, "controllers have left over disk pvc-", "(default/orders)", "--leftovers delete",
		"resource group aks-nodes takes what is in it along", "stack aks-core was kept")
	assert.Check(t, is.Len(p.made(t, aksDisk), 1))
	assert.Check(t, is.Len(p.made(t, "azure-native:network/v20190601:LoadBalancer"), 0))
	p.run(t, "destroy", "aks", "--yes", "--keep-data").ends(t, 10, "--keep-data cannot keep disk pvc-")
}

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
	g.run(t, "up", "guest", "--yes").refuses(t, "LinkedAuthorizationFailed", "identity", "guest-control-plane has the role Network Contributor on the subnet", network.TeamRouteTableID, "the whole network")
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
	decode(t, text, &identities)
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
	g.destroys(t, "guest")
	after := g.azureRecords(t)
	deleted := func(file, _ string) bool { return strings.HasPrefix(file, "azure/DeletedVault-") }
	all := len(after)
	maps.DeleteFunc(after, deleted)
	assert.Check(t, is.Equal(all-len(after), 1), "Azure keeps the name of a deleted vault")
	assert.Check(t, is.DeepEqual(after, g.before))
}
