package azure

import (
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation/adoption"
	"tombolo/automation/upgrade"
	"tombolo/config"
)

func TestDescribe(t *testing.T) {
	m, c := managerOf(t, "subscription.json"), demo()
	c.Kubernetes.Existing = &config.ExistingCluster{Name: "demo", ResourceGroup: "demo"}
	got, err := describe(t.Context(), m.client(t), c)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, adoption.Cluster{Name: "demo", Account: subscription, Version: "1.34", Region: "germanywestcentral", OIDCProvider: true, AccessEntries: true, Owner: "ours"})
	c.Kubernetes.Existing.ResourceGroup = "other"
	_, err = describe(t.Context(), m.client(t), c)
	assert.Error(t, err, "get /subscriptions/"+subscription+"/resourceGroups/other/providers/Microsoft.ContainerService/managedClusters/demo: ResourceNotFound: no; the subscription has the clusters demo in demo")
}

func TestInsights(t *testing.T) {
	m := managerOf(t, "subscription.json")
	got, err := insights(t.Context(), m.client(t), demo(), "1.35")
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []upgrade.Insight{{Name: offered, Status: upgrade.Passing}, {Name: settled, Status: upgrade.Passing}})
	got, err = insights(t.Context(), m.client(t), demo(), "1.36")
	assert.NilError(t, err)
	assert.Equal(t, got[0].String(), "Offered by AKS: ERROR: AKS offers the cluster 1.34.3 and 1.35.1, and not 1.36")
	properties := m.Resources[0]["properties"].(map[string]any)
	for _, test := range []struct {
		state, pool, want string
		busy              bool
	}{
		{"Upgrading", "", "State of the cluster: WARNING: the cluster is Upgrading", true},
		{"Succeeded", "Updating", "State of the cluster: WARNING: the node pool apps is Updating", true},
		{"Failed", "Failed", "State of the cluster: ERROR: the cluster is Failed", false},
	} {
		properties["provisioningState"], properties["agentPoolProfiles"] = test.state, []any{map[string]any{"name": "apps", "provisioningState": test.pool}}
		got, err = insights(t.Context(), m.client(t), demo(), "1.35")
		assert.NilError(t, err)
		assert.Equal(t, got[0].String(), test.want)
		_, busy := upgrade.AtWork(got)
		assert.Equal(t, busy, test.busy)
	}
}

// TestInsightsBack: AKS is not asked.
func TestInsightsBack(t *testing.T) {
	got, err := Cloud{}.Insights(t.Context(), nil, demo(), upgrade.Question{Version: "1.33", Back: true})
	assert.NilError(t, err)
	assert.Equal(t, got[0].Status, upgrade.Bad)
}
