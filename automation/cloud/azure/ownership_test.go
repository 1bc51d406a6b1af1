package azure

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/armid"
	"tombolo/stacks/owner"
)

const (
	clusterOfDemo = "/subscriptions/" + subscription + "/resourceGroups/demo/providers/Microsoft.ContainerService/managedClusters/demo"
	issuer        = "https://germanywestcentral.oic.prod-aks.azure.com/t/1/"
)

// everything is known of nothing.
func everything(teardown.Leftover) bool { return false }

// TestFind: what is proven to be the cluster's, and what becomes of it.
func TestFind(t *testing.T) {
	const (
		byTag   = "tag tombolo:owner of this state"
		byGroup = "it is in resource group demo of this state, and goes with it"
		byDisk  = "made by the Azure Disk CSI driver for the cluster " + clusterOfDemo
		byShare = "made by a CSI driver for the cluster " + clusterOfDemo
		byPool  = "made by AKS node pools for the cluster " + clusterOfDemo
		byRole  = "a role of the managed identity demo-kubelet of this state"
	)
	ours := owner.ControlPlane{ID: clusterOfDemo, Issuer: issuer}
	group := map[string]string{
		"resource group demo": byTag, "AKS cluster demo": byTag, "managed identity demo-kubelet": byTag, "virtual network demo": byTag,
		"disk pvc-kept (shop/archive)": byGroup, "Microsoft.DBforPostgreSQL/flexibleServers by-hand": byGroup, "Microsoft.Web/sites strangers": byGroup,
		"public IP address stray": byTag, "role assignment r-pull": byRole,
		"resource group demo-nodes": byTag, "virtual machine scale set aks-system-1-vmss": byTag, "load balancer kubernetes": byTag,
	}
	nodes := maps.Clone(group)
	maps.Copy(nodes, map[string]string{"disk pvc-retained (shop/data)": byDisk, "disk os-disk-of-a-node": byPool, "storage account f0123456789ab": byShare})
	theirs := without(group)
	theirs["AKS cluster demo"] = byGroup
	for _, test := range []struct {
		name   string
		search teardown.Search
		change func(*manager, *config.Cluster)
		want   map[string]string
	}{
		{"it lives", teardown.Search{Owner: "ours", ControlPlane: ours}, nil, nodes},
		{"made, and not recorded", teardown.Search{Owner: "ours"}, nil, nodes},
		{"another one has its name now", teardown.Search{Owner: "ours", ControlPlane: owner.ControlPlane{ID: clusterOfDemo, Issuer: "https://other/"}}, func(m *manager, _ *config.Cluster) {
			m.Resources[1]["tags"] = map[string]any{"tombolo:owner": "theirs"}
		}, theirs},
		{"the group is another's", teardown.Search{Owner: "nobody", ControlPlane: owner.ControlPlane{}}, nil, map[string]string{}},
		{"a cluster of others", teardown.Search{Owner: "ours"}, func(_ *manager, c *config.Cluster) {
			c.Kubernetes.Existing = &config.ExistingCluster{Name: "demo", ResourceGroup: "demo"}
		}, without(group, "disk pvc-kept (shop/archive)", "Microsoft.DBforPostgreSQL/flexibleServers by-hand", "Microsoft.Web/sites strangers")},
		{"nothing is left", teardown.Search{Owner: "ours", ControlPlane: ours}, func(m *manager, _ *config.Cluster) { m.Resources, m.Answers = nil, nil }, map[string]string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, c := managerOf(t, "leftovers.json"), demo()
			if test.change != nil {
				test.change(m, c)
			}
			test.search.Known = everything
			found, err := find(t.Context(), m.client(t), c, test.search)
			assert.NilError(t, err)
			got := map[string]string{}
			for _, l := range found {
				if l.Name == l.ID {
					l.Name = ""
				}
				got[l.String()] = l.Proof
			}
			assert.DeepEqual(t, got, test.want)
		})
	}
}

const (
	vaultOfOthers = "/subscriptions/00000000-0000-4000-8000-000000000003/resourceGroups/shop/providers/Microsoft.KeyVault/vaults/shop"
	groupOfOthers = "/subscriptions/00000000-0000-4000-8000-000000000004/resourceGroups/blog"
)

// rolesInOthers is the cluster with a service and an addon whose roles are in other
// subscriptions, and a service whose role is in its own.
func rolesInOthers(c *config.Cluster) *config.Cluster {
	out := *c
	on := func(scope string) *config.Identity {
		return &config.Identity{Roles: []config.RoleGrant{{Scope: scope}}}
	}
	out.Services = []config.Service{
		{Name: "shop", Identity: on(vaultOfOthers)},
		{Name: "again", Identity: on(vaultOfOthers)},
		{Name: "own", Identity: on(armid.Group(c.Cloud.Account, "own"))},
		{Name: "plain"},
	}
	out.Addons = addon.Selection{addon.ServiceOperator: &addon.OperatorOptions{Systems: []addon.OperatorSystem{
		{Name: "blog", Scope: groupOfOthers}, {Name: "shop", ResourceGroup: "shop"},
	}}}
	return &out
}

// TestRolesInOtherSubscriptions: the roles on another team's network, a service's vault and an
// addon's group are found, also by a caller who may not list those of a whole subscription.
func TestRolesInOtherSubscriptions(t *testing.T) {
	const (
		other  = "/subscriptions/00000000-0000-4000-8000-000000000002"
		group  = other + "/resourceGroups/network-team"
		vault  = vaultOfOthers
		addons = "/subscriptions/00000000-0000-4000-8000-000000000004"
		roles  = "/providers/microsoft.authorization/roleassignments"
		role   = "/providers/Microsoft.Authorization/roleAssignments/"
	)
	c := demo()
	c.Network = config.Network{Existing: &config.ExistingNetwork{NodeSubnet: group + "/providers/Microsoft.Network/virtualNetworks/shared/subnets/aks"}}
	c = rolesInOthers(c)
	look := func(change func(*manager)) ([]string, error) {
		m := managerOf(t, "leftovers.json")
		onSubnet := c.Network.Existing.NodeSubnet + role + "r-subnet"
		inGroup := []byte(`{"value": [{"id": "` + onSubnet + `"}]}`)
		m.Answers[other+roles], m.Answers[strings.ToLower(group)+roles] = inGroup, inGroup
		m.Answers["/subscriptions/00000000-0000-4000-8000-000000000003"+roles] = []byte(`{"value": [{"id": "` + vault + role + `r-vault"}]}`)
		m.Answers[addons+roles] = []byte(`{"value": []}`)
		m.Answers[strings.ToLower(groupOfOthers)+roles] = []byte(`{"value": [{"id": "` + groupOfOthers + role + `r-blog"}]}`)
		m.Resources = append(m.Resources, map[string]any{"id": onSubnet}, map[string]any{"id": vault + role + "r-vault"}, map[string]any{"id": groupOfOthers + role + "r-blog"})
		change(m)
		found, err := find(t.Context(), m.client(t), c, teardown.Search{Owner: "ours", Known: everything})
		var out []string
		for _, l := range found {
			if l.Kind == "role assignment" {
				assert.Check(t, !l.GoesWithCore && l.Proof == "a role of the managed identity demo-kubelet of this state", "%+v", l)
				out = append(out, l.ID)
			}
		}
		slices.Sort(out)
		return out, err
	}
	for name, test := range map[string]struct {
		refused map[string]int
		want    []string
	}{
		"all may be listed":      {nil, []string{"r-pull", "r-subnet", "r-vault"}},
		"those of a group alone": {map[string]int{other + roles: 403}, []string{"r-pull", "r-subnet", "r-vault"}},
		"none there":             {map[string]int{other + roles: 403, strings.ToLower(group) + roles: 403}, []string{"r-pull", "r-vault"}},
		"an addon's group":       {map[string]int{addons + roles: 403}, []string{"r-blog", "r-pull", "r-subnet", "r-vault"}},
	} {
		got, err := look(func(m *manager) { m.Refused = test.refused })
		assert.NilError(t, err, name)
		assert.DeepEqual(t, got, test.want)
	}
	_, err := look(func(m *manager) { m.Refused = map[string]int{other + roles: 409} })
	assert.ErrorContains(t, err, "list "+other+"/providers/Microsoft.Authorization/roleAssignments: AuthorizationFailed")
}

// without is a map without some keys.
func without(m map[string]string, keys ...string) map[string]string {
	out := maps.Clone(m)
	for _, key := range keys {
		delete(out, key)
	}
	return out
}

// TestFindTellsWhatGoes: the disks and shares of claims in the group of the nodes are lost with it, what AKS
// has made there goes by itself, and a group with data in it is data.
func TestFindTellsWhatGoes(t *testing.T) {
	q := teardown.Search{Owner: "ours", ControlPlane: owner.ControlPlane{ID: clusterOfDemo, Issuer: issuer}, Known: everything}
	found, err := find(t.Context(), managerOf(t, "leftovers.json").client(t), demo(), q)
	assert.NilError(t, err)
	for _, l := range found {
		switch l.ID {
		case "pvc-retained", "f0123456789ab":
			assert.Check(t, l.Data && !l.GoesWithCore && !l.Passes && l.LostWith == "resource group demo-nodes", "%+v", l)
		case "pvc-kept":
			assert.Check(t, l.Data && !l.GoesWithCore && !l.Passes && l.LostWith == "", "%+v", l)
		case "os-disk-of-a-node", "aks-system-1-vmss", "kubernetes", "demo-nodes":
			assert.Check(t, !l.Data && l.GoesWithCore && l.Passes, "%+v", l)
		case "demo":
			assert.Check(t, is.Equal(l.Data, l.Kind == "resource group"), "%+v", l)
		default:
			assert.Check(t, !l.Passes && !l.GoesWithCore && l.LostWith == "", "%+v", l)
		}
	}
	assert.Equal(t, found[len(found)-1].Kind, "resource group", "it is deleted last")
}

// TestRemove: what has another owner's tag is left, and what is gone is no error.
// TestFindTellsWhatSystemsHave: whatever is in the group of a system holds data, of a cluster of
// others, too, and the empty group of another one does not.
func TestFindTellsWhatSystemsHave(t *testing.T) {
	for _, existing := range []bool{false, true} {
		m, c := managerOf(t, "leftovers.json"), demo()
		if existing {
			c.Kubernetes.Existing = &config.ExistingCluster{Name: "demo", ResourceGroup: "demo"}
		}
		group := "/subscriptions/" + subscription + "/resourceGroups/"
		m.Resources = append(m.Resources,
			map[string]any{"id": group + "demo-shop", "tags": map[string]any{"tombolo:owner": "ours", "tombolo:system": "shop"}},
			map[string]any{"id": group + "demo-shop/providers/Microsoft.DBforPostgreSQL/flexibleServers/shop"},
			map[string]any{"id": group + "demo-blog", "tags": map[string]any{"tombolo:owner": "ours", "tombolo:system": "blog"}},
			map[string]any{"id": group + "demo-other", "tags": map[string]any{"tombolo:owner": "theirs", "tombolo:system": "other"}},
			map[string]any{"id": group + "demo-other/providers/Microsoft.Web/sites/other"},
		)
		found, err := find(t.Context(), m.client(t), c, teardown.Search{Owner: "ours", Known: everything})
		assert.NilError(t, err)
		got := map[string]bool{}
		for _, l := range found {
			got[l.ID] = l.Data
		}
		assert.Check(t, got["shop"] && got["demo-shop"] && !got["demo-blog"], "%v", got)
		for id, want := range map[string]bool{"shop": true, "demo-blog": true, "other": false, "demo-other": false} {
			_, there := got[id]
			assert.Check(t, is.Equal(there, want), id)
		}
	}
}

func TestRemove(t *testing.T) {
	m := managerOf(t, "leftovers.json")
	q := teardown.Search{Owner: "ours", Known: func(l teardown.Leftover) bool {
		return !slices.Contains([]string{"by-hand", "strangers", "stray", "pvc-kept", "r-pull"}, l.ID)
	}}
	client := m.client(t)
	found, err := find(t.Context(), client, demo(), q)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(found, 5))
	gone := teardown.Leftover{Kind: "disk", CloudID: "/subscriptions/" + subscription + "/resourceGroups/demo/providers/Microsoft.Compute/disks/gone", Proof: "x"}
	assert.NilError(t, remove(t.Context(), client, q, append(found, gone)))
	slices.Sort(m.deleted)
	// Azure names no version of the API of the stranger's, and it has another owner.
	assert.DeepEqual(t, m.deleted, []string{"by-hand", "pvc-kept", "r-pull", "stray"})
}

// TestRemoveWithoutAProof deletes nothing, and asks nobody.
func TestRemoveWithoutAProof(t *testing.T) {
	err := Cloud{}.Remove(t.Context(), demo(), teardown.Search{}, []teardown.Leftover{{Kind: "virtual network", ID: "v"}})
	assert.Error(t, err, "delete leftovers of demo: nothing proves that virtual network v is the cluster's")
}

// TestLookup: what AKS has made is marked, so that a comparison tells it from what nobody knows.
func TestLookup(t *testing.T) {
	all, err := owned(t.Context(), managerOf(t, "leftovers.json").client(t), demo(), "ours")
	assert.NilError(t, err)
	makers := map[string]int{}
	for _, r := range all {
		assert.Check(t, is.Equal(r.Tags["tombolo:owner"], "ours"))
		makers[Cloud{}.Maker(r.Tags)]++
	}
	assert.DeepEqual(t, makers, map[string]int{"": 5, "AKS": 5})
}
