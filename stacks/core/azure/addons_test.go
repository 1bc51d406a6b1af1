package azure

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/names"
	"tombolo/stacks/core/live"
)

// TestSystemsGroup: the group of a system is tagged with it, and one that is there already is
// not taken: what others have in it would be the system's.
func TestSystemsGroup(t *testing.T) {
	c := load(t, "azure-full")
	r := account()
	r.Sound(t, build(r, c, nil))
	groups := r.OfType(groupToken)
	assert.Assert(t, is.Len(groups, 2))
	for _, g := range groups {
		if g.Inputs["resourceGroupName"].StringValue() == "platform-shop" {
			assert.Check(t, is.Equal(g.Inputs["tags"].ObjectValue()[names.SystemTag].StringValue(), "shop"))
			assert.Check(t, g.Protect)
		}
	}

	r = account()
	r.Invokes[getGroup] = group("platform-shop", map[string]any{})
	err := build(r, c, nil)
	assert.Check(t, is.ErrorContains(err, "name another one in addons.azure-service-operator"))
	assert.Check(t, is.Len(r.OfType(groupToken), 0), "something was made")

	// From before its owner, and in the state: it is the cluster's.
	had := live.Resources{{Type: groupToken, Name: "azure-full-addon-azure-service-operator-shop-group"}}
	assert.NilError(t, build(r, c, had))
}

// TestExistingClusterWithSystems makes a group for their identities.
func TestExistingClusterWithSystems(t *testing.T) {
	c := load(t, "azure-existing")
	c.Addons = addon.Selection{
		"cert-manager": addon.Find("cert-manager").NewOptions(),
		addon.ServiceOperator: &addon.OperatorOptions{
			CRDPatterns: []string{"storage.azure.com/*"}, Systems: []addon.OperatorSystem{{Name: "shop", ResourceGroup: "shop"}},
		},
	}
	r := account()
	r.Sound(t, build(r, c, nil, recorder.Preview))
	assert.Check(t, is.Len(r.OfType(groupToken), 2))
	credentials := r.OfType("azure-native:managedidentity/v20230131:FederatedIdentityCredential")
	assert.Assert(t, is.Len(credentials, 1))
	credentials[0].Expect(t, map[string]string{
		"subject":      "system:serviceaccount:azureserviceoperator-system:azureserviceoperator-default",
		"resourceName": config.AddonIdentityName(c.Name, addon.ServiceOperator, "shop"),
	})
}
