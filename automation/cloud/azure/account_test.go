package azure

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/preflight"
	"tombolo/config"
	"tombolo/config/addon"
)

// read reads the facts of the subscription of testdata.
func read(t *testing.T, change func(*manager)) preflight.Facts {
	t.Helper()
	m := managerOf(t, "subscription.json")
	if change != nil {
		change(m)
	}
	f := preflight.Facts{Region: "germanywestcentral", Quotas: map[preflight.Kind]preflight.Quota{}}
	readFacts(t.Context(), m.client(t), caller{subscription: subscription, tenant: tenant, object: "ada"}, demo(), &f)
	return f
}

func TestFacts(t *testing.T) {
	f := read(t, nil)
	assert.Equal(t, f.Err, "")
	assert.Check(t, f.Enabled)
	assert.DeepEqual(t, f.Unregistered, []string{"Microsoft.ManagedIdentity"})
	assert.DeepEqual(t, f.Versions, []string{"1.34", "1.35"})
	assert.DeepEqual(t, f.ExtendedVersions, []string{"1.32", "1.34"})
	assert.Check(t, is.Len(f.OnOthers, 0))
	assert.DeepEqual(t, f.MissingRights, []string{"Microsoft.Authorization/roleAssignments/write"})
	assert.DeepEqual(t, f.Sizes, map[string]preflight.Size{
		"standard_d4s_v5": {Family: "standardDSv5Family", CPUs: 4, Zones: []string{"1", "3"}}, "standard_d4as_v6": {Family: "standardDav6Family", CPUs: 4, Closed: true},
		"standard_d8s_v5": {Family: "standardDSv5Family", CPUs: 8},
		"standard_e4s_v5": {Family: "standardESv5Family", CPUs: 4, Zones: []string{}},
	})
	assert.DeepEqual(t, f.Quotas[addresses], preflight.Quota{Limit: 20, Used: 20})
	assert.DeepEqual(t, f.Quotas["standarddsv5family"], preflight.Quota{Limit: 10})
}

// TestRegistrationElsewhere: the subscription of a DNS zone of others has to have AKS registered, too.
func TestRegistrationElsewhere(t *testing.T) {
	const other = "00000000-0000-4000-8000-000000000002"
	c := demo()
	c.Kubernetes.Endpoint.PrivateDNSZone = "/subscriptions/" + other + "/resourceGroups/dns/providers/Microsoft.Network/privateDnsZones/privatelink.germanywestcentral.azmk8s.io"
	m := managerOf(t, "subscription.json")
	judged := func() []preflight.Finding {
		found, why := unregisteredElsewhere(t.Context(), m.client(t), c)
		return judgeProviders(preflight.Facts{Elsewhere: found, ElsewhereErr: why}, preflight.Wanted{Account: subscription})
	}
	at := "/subscriptions/" + other + "/providers/microsoft.containerservice"
	m.Answers[at] = json.RawMessage(`{"registrationState": "NotRegistered"}`)
	assert.Check(t, is.Equal(judged()[0].Message, "subscription "+other+" has not registered Microsoft.ContainerService"))
	assert.Check(t, is.Contains(judged()[0].Remedy, "--subscription "+other))
	m.Answers[at] = json.RawMessage(`{"registrationState": "Registered"}`)
	assert.Check(t, is.Equal(judged()[0].Level, preflight.OK))
	m.Refused = map[string]int{at: 403}
	assert.Check(t, is.Equal(judged()[0].Level, preflight.Warn))
}

// TestFactsThatCannotBeTold: each says why, and the others are told.
func TestFactsThatCannotBeTold(t *testing.T) {
	const at = "/subscriptions/" + subscription
	f := read(t, func(m *manager) { m.Refused = map[string]int{at: 403} })
	assert.Equal(t, f.AccountErr, "it does not see it: get "+at+": AuthorizationFailed: no")
	f = read(t, func(m *manager) { m.Refused = map[string]int{at: 401} })
	assert.Check(t, f.AccountErr == "" && strings.HasPrefix(f.Err, "get "+at+": "), f.Err)
	f = read(t, func(m *manager) {
		m.Refused = map[string]int{at + "/locations": 403, at + "/providers/microsoft.network": 403, at + "/providers/microsoft.compute/skus": 403}
	})
	assert.Equal(t, f.Err, "")
	for _, said := range []string{f.RegionErr, f.ProvidersErr, f.SizesErr} {
		assert.Check(t, is.Contains(said, "AuthorizationFailed: no"))
	}
	assert.Check(t, is.Len(f.Versions, 2))
	f = read(t, func(m *manager) { m.Answers[at] = []byte(`{"state": "Disabled"}`) })
	assert.Equal(t, f.AccountErr, "it is disabled")
	f = read(t, func(m *manager) { m.Answers[at+"/locations"] = []byte(`{"value": [{"name": "westeurope"}]}`) })
	assert.Check(t, !f.Enabled && f.RegionErr == "" && f.Versions == nil)
}

// TestWhatAddonsTake: who makes a vault or a storage account may write it, by a provider that the
// subscription has registered, and have the nodes' subnet in its network rules.
func TestWhatAddonsTake(t *testing.T) {
	const join = "Microsoft.Network/virtualNetworks/subnets/joinViaServiceEndpoint/action"
	c := demo()
	c.Network.CIDR = "10.0.0.0/16"
	assert.Check(t, !slices.Contains(rights(c), join))
	c.Addons = addon.Selection{"external-secrets": &addon.SecretsOptions{}, "loki": &addon.LokiOptions{RetentionDays: 30}}
	assert.DeepEqual(t, providers(c)[3:], []string{"Microsoft.KeyVault", "Microsoft.Storage"})
	for _, want := range []string{
		"Microsoft.KeyVault/vaults/write", "Microsoft.Storage/storageAccounts/write", "Microsoft.Storage/storageAccounts/blobServices/containers/write",
		"Microsoft.Storage/storageAccounts/managementPolicies/write", join,
	} {
		assert.Check(t, is.Contains(rights(c), want))
	}
	c.Addons = addon.Selection{"external-secrets": &addon.SecretsOptions{Vault: "/x"}, "loki": &addon.LokiOptions{Container: "/x"}}
	assert.Check(t, is.Len(providers(c), 3))
	assert.Check(t, !slices.Contains(rights(c), join))
}

// TestSignInRemedy: what to do depends on why Entra refuses.
func TestSignInRemedy(t *testing.T) {
	w := preflight.Wanted{Account: subscription, Tenant: tenant}
	for said, want := range map[string]string{
		"AADSTS700024: Client assertion is not within its valid time range.":                                                  "have the token of workload identity in a file",
		"AADSTS700082: The refresh token has expired due to inactivity.":                                                      "run `az login --tenant " + tenant + "`",
		"AADSTS7000222: The provided client secret keys for app 'c' are expired":                                              "make another secret",
		"AADSTS90002: Tenant 'x' not found.":                                                                                  "correct cloud.tenant",
		"get /subscriptions/s: ExpiredAuthenticationToken: The access token expiry UTC time is earlier than current UTC time": "sign in again",
		"dial tcp: lookup login.microsoftonline.com":                                                                          "sign in with `az login --tenant " + tenant + "`, or set ARM_ variables",
	} {
		assert.Check(t, strings.HasPrefix(signInRemedy(said, w), want), "%s: %s", said, signInRemedy(said, w))
	}
}

// TestRightsOnOthers: what a role on the subscription allows says nothing of another team's
// subnet. What is named has to be granted there.
func TestRightsOnOthers(t *testing.T) {
	const (
		group  = "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/network-team/providers/Microsoft.Network/"
		subnet = group + "virtualNetworks/shared/subnets/aks"
		zone   = group + "privateDnsZones/privatelink.germanywestcentral.azmk8s.io"
		table  = "/subscriptions/00000000-0000-4000-8000-000000000002/resourcegroups/network-team/providers/microsoft.network/routetables/to-firewall"
	)
	c := demo()
	c.Network = config.Network{Outbound: config.OutboundRoutes, Existing: &config.ExistingNetwork{NodeSubnet: subnet}}
	ask := func(change func(*manager)) []preflight.RightsOn {
		m := managerOf(t, "subscription.json")
		if change != nil {
			change(m)
		}
		return missingOnOthers(t.Context(), m.client(t), c)
	}
	assert.DeepEqual(t, ask(nil), []preflight.RightsOn{{ID: subnet, Missing: []string{subnetJoin}}})
	c.Network.Existing.GrantAccess, c.Kubernetes.Endpoint.PrivateDNSZone = true, zone
	got := ask(nil)
	assert.DeepEqual(t, got[:2], []preflight.RightsOn{
		{ID: subnet, Missing: []string{subnetJoin, assignRoles}}, {ID: group + "virtualNetworks/shared", Missing: []string{assignRoles}},
	})
	assert.Check(t, got[2].ID == zone && strings.Contains(got[2].Err, "ResourceNotFound"), "%+v", got)
	got = ask(func(m *manager) {
		m.Answers[table+"/providers/microsoft.authorization/permissions"] = []byte(`{"value": []}`)
	})
	assert.DeepEqual(t, got[0], preflight.RightsOn{ID: table, Missing: []string{assignRoles}})
	assert.DeepEqual(t, rightsOfRoles(rolesInOthers(c)), []scoped{{vaultOfOthers, []string{assignRoles}}, {groupOfOthers, []string{assignRoles}}}, cmp.AllowUnexported(scoped{}))

	var said []string
	for _, f := range judgeRights(preflight.Facts{OnOthers: got}) {
		said = append(said, strings.Join([]string{string(f.Level), f.Message}, " "))
	}
	assert.Equal(t, said[1], "fail no role on "+table+" allows "+assignRoles)
	assert.Check(t, is.Contains(said[4], "warn what the identity may do on "+zone+" cannot be told: "))
}

func TestDemand(t *testing.T) {
	three := 3
	c := demo()
	c.Network.CIDR, c.Network.Outbound = "10.0.0.0/16", config.OutboundNATGateway
	c.Kubernetes.NodeGroups = []config.NodeGroup{
		{Name: "system", VMSize: "Standard_D4s_v5", Size: config.Size{Min: new(2)}},
		{Name: "apps", VMSize: "Standard_D4s_v5", Size: config.Size{Min: new(0), Desired: &three}},
		{Name: "batch", VMSize: "Standard_D4s_v5", Capacity: config.Spot},
	}
	got := Cloud{}.Demand(c, preflight.Core{})
	assert.DeepEqual(t, got, preflight.Demand{"nodes of Standard_D4s_v5": 5, "spot nodes of Standard_D4s_v5": 1, networks: 1, addresses: 1})
	got = Cloud{}.Demand(c, preflight.Core{Resources: map[string]int{clusterType: 1, vnetType: 1, addressType: 1}})
	assert.DeepEqual(t, got, preflight.Demand{networks: 0, addresses: 0})
	c.Network.Outbound = config.OutboundLoadBalancer
	assert.Check(t, is.Equal(Cloud{}.Demand(c, preflight.Core{})[addresses], 1), "that of AKS's own load balancer")
	c.Network = config.Network{Existing: &config.ExistingNetwork{}, Outbound: config.OutboundRoutes}
	_, has := Cloud{}.Demand(c, preflight.Core{})[networks]
	assert.Check(t, !has)
	c.Kubernetes.Existing = &config.ExistingCluster{}
	assert.Check(t, is.Len(Cloud{}.Demand(c, preflight.Core{}), 0))
}

func TestJudge(t *testing.T) {
	one := preflight.Demand{"nodes of Standard_D4s_v5": 2, networks: 1}
	wanted := preflight.Wanted{Cluster: &config.Cluster{}, Account: subscription, Tenant: tenant, Region: "germanywestcentral", Version: "1.35", New: true, Demand: one, All: one.Plus(one)}
	const (
		who     = "ok account: object ada of tenant " + tenant + ", in subscription " + subscription
		region  = "ok region: germanywestcentral is open to the subscription"
		missing = "fail resource providers: subscription " + subscription + " has not registered Microsoft.ManagedIdentity"
		version = "ok Kubernetes version: AKS offers 1.35 in germanywestcentral"
		rights  = "warn rights: no role on the subscription allows Microsoft.Authorization/roleAssignments/write"
	)
	for _, test := range []struct {
		name   string
		change func(*preflight.Facts, *preflight.Wanted)
		want   []string
	}{
		{"all", func(*preflight.Facts, *preflight.Wanted) {}, []string{
			who, region, missing, version, rights,
			"ok quota: 1 more virtual networks in germanywestcentral, 2 with the other clusters: 8 of 1000 are used",
			"ok quota: 8 more vCPUs in germanywestcentral, 16 with the other clusters: 90 of 110 are used",
			"fail quota: 8 more vCPUs of standardDSv5Family in germanywestcentral, 16 with the other clusters: 0 of 10 are used",
		}},
		{"a cluster that there is", func(_ *preflight.Facts, w *preflight.Wanted) { w.New = false }, []string{who, region, missing}},
		{"other versions", func(f *preflight.Facts, w *preflight.Wanted) {
			w.Version, w.All, w.Demand = "1.36", nil, nil
			f.Unregistered, f.MissingRights = nil, nil
		}, []string{
			who, region, "ok resource providers: all that core needs are registered",
			"fail Kubernetes version: AKS does not offer 1.36 in germanywestcentral", "ok rights: what core makes is allowed to the identity",
		}},
		{"extended support alone", func(f *preflight.Facts, w *preflight.Wanted) {
			w.Version, w.All, w.Demand, f.Unregistered, f.MissingRights = "1.32", nil, nil, nil, nil
		}, []string{
			who, region, "ok resource providers: all that core needs are registered",
			"fail Kubernetes version: AKS offers 1.32 in germanywestcentral with extended support alone", "ok rights: what core makes is allowed to the identity",
		}},
		{"extended support", func(f *preflight.Facts, w *preflight.Wanted) {
			w.Version, w.All, w.Demand, w.Extended, f.Unregistered, f.MissingRights = "1.32", nil, nil, true, nil, nil
		}, []string{
			who, region, "ok resource providers: all that core needs are registered",
			"ok Kubernetes version: AKS offers 1.32 in germanywestcentral", "ok rights: what core makes is allowed to the identity",
		}},
		{"no extended support", func(_ *preflight.Facts, w *preflight.Wanted) { w.All, w.Demand, w.Extended = nil, nil, true }, []string{
			who, region, missing, "fail Kubernetes version: AKS does not offer 1.35 in germanywestcentral with extended support", rights,
		}},
		{"another cluster's size of the same family", func(_ *preflight.Facts, w *preflight.Wanted) {
			w.Version, w.Demand = "", preflight.Demand{"nodes of Standard_D4s_v5": 1}
			w.All = preflight.Demand{"nodes of Standard_D4s_v5": 1, "nodes of Standard_D8s_v5": 1}
		}, []string{
			who, region, missing, rights,
			"ok quota: 4 more vCPUs in germanywestcentral, 12 with the other clusters: 90 of 110 are used",
			"fail quota: 4 more vCPUs of standardDSv5Family in germanywestcentral, 12 with the other clusters: 0 of 10 are used",
		}},
		{"sizes", func(_ *preflight.Facts, w *preflight.Wanted) {
			w.Version = ""
			w.Demand = preflight.Demand{"nodes of Standard_D4as_v6": 1, "nodes of Standard_X1": 1, "spot nodes of Standard_D4s_v5": 1, "nodes of Standard_E4s_v5": 1, addresses: 1}
			w.All = w.Demand
		}, []string{
			who, region, missing, rights,
			"fail quota: 1 more public IP addresses in germanywestcentral: 20 of 20 are used",
			"fail quota: 4 more spot vCPUs in germanywestcentral: 0 of 3 are used",
			"ok quota: 4 more vCPUs in germanywestcentral: 90 of 110 are used",
			"fail quota: the VM size Standard_D4as_v6 is not open to the subscription in germanywestcentral",
			"fail quota: the VM size Standard_X1 is not open to the subscription in germanywestcentral",
			"warn quota: the quota of vCPUs of standardESv5Family in germanywestcentral cannot be told: Azure lists none",
		}},
		{"zones", func(_ *preflight.Facts, w *preflight.Wanted) {
			w.Version, w.Demand, w.All = "", nil, nil
			w.Cluster = &config.Cluster{Kubernetes: config.Kubernetes{NodeGroups: []config.NodeGroup{
				{VMSize: "Standard_D4s_v5", Zones: []string{"1", "2"}}, {VMSize: "Standard_E4s_v5", Zones: []string{"1"}}, {VMSize: "Standard_X1", Zones: []string{"1"}},
			}}}
		}, []string{
			who, region, missing, rights,
			"fail zones: the VM size Standard_D4s_v5 is not open to the subscription in zone 2 of germanywestcentral",
			"fail zones: the VM size Standard_E4s_v5 is not open to the subscription in zone 1 of germanywestcentral",
		}},
		{"nothing can be told", func(f *preflight.Facts, w *preflight.Wanted) {
			f.RegionErr, f.ProvidersErr, f.VersionsErr, f.RightsErr, f.SizesErr, f.QuotasErr = "a", "b", "c", "d", "e", "f"
		}, []string{
			who, "warn region: whether germanywestcentral is open to the subscription cannot be told: a", "warn resource providers: whether they are registered cannot be told: b",
			"warn Kubernetes version: whether AKS has 1.35 in germanywestcentral cannot be told: c", "warn rights: what the identity may do in the subscription cannot be told: d",
			"warn quota: the quota of virtual networks in germanywestcentral cannot be told: f", "warn quota: the vCPUs of Standard_D4s_v5 cannot be told: e",
		}},
		{"a region that is closed", func(f *preflight.Facts, _ *preflight.Wanted) { f.Enabled = false }, []string{who, "fail region: germanywestcentral is not open to subscription " + subscription}},
		{"another tenant", func(f *preflight.Facts, _ *preflight.Wanted) { f.Tenant = "t2" }, []string{
			"fail account: the credentials are of tenant t2 (object ada), and the cluster is for " + tenant,
		}},
		{"another subscription", func(f *preflight.Facts, _ *preflight.Wanted) { f.Account = "s2" }, []string{
			"fail account: the credentials are of subscription s2 (object ada), and the cluster is for " + subscription,
		}},
		{"nobody", func(f *preflight.Facts, _ *preflight.Wanted) { f.Err = "AADSTS700016" }, []string{
			"fail account: Azure does not accept the credentials for subscription " + subscription + " of tenant " + tenant + ": AADSTS700016",
		}},
		{"a subscription that is not seen", func(f *preflight.Facts, _ *preflight.Wanted) { f.AccountErr = "it is disabled" }, []string{
			"fail account: object ada of tenant " + tenant + " cannot use subscription " + subscription + ": it is disabled",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, w := read(t, nil), wanted
			test.change(&f, &w)
			var got []string
			for _, finding := range (Cloud{}).Judge(f, w) {
				got = append(got, strings.Join([]string{string(finding.Level), finding.Check + ":", finding.Message}, " "))
				assert.Check(t, is.Equal(finding.Remedy == "", finding.Level == preflight.OK), finding.Message)
			}
			assert.DeepEqual(t, got, test.want)
		})
	}
}
