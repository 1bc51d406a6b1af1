package armid

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestIDs(t *testing.T) {
	assert.Check(t, is.Equal(Resource("s", "g", Identities, "i"), "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"))
	id := Subnet("s", "g", "v", "n")
	assert.Check(t, is.Equal(id, "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n"))
	assert.Check(t, is.Equal(SubscriptionOf(id), "s"))
	assert.Check(t, is.Equal(SubscriptionOf("subnet-1"), ""))
	assert.Check(t, is.Equal(NameOf(id), "n"))
	assert.Check(t, Is(strings.ToLower(id), VirtualNetworks+"/subnets") && !Is(id, Identities))
	assert.Check(t, is.Equal(GroupOf(id), "/subscriptions/s/resourceGroups/g"))
	assert.Check(t, is.Equal(GroupOf("/subscriptions/s"), ""))
	account, container := ContainerParts(Container("s", "g", "logs", "loki"))
	assert.Check(t, account == "logs" && container == "loki", "%s, %s", account, container)
	account, container = ContainerParts(id)
	assert.Check(t, account == "" && container == "", "%s, %s", account, container)
}

func TestCredential(t *testing.T) {
	assert.Equal(t, Credential("shop", "jobs.nightly"), "shop_jobs__nightly")
}

func TestParseSubnet(t *testing.T) {
	id := Subnet("s", "g", "v", "n")
	for _, spelling := range []string{id, strings.Replace(strings.ToLower(id), "resourcegroups", "resourceGROUPS", 1)} {
		parts, err := ParseSubnet(spelling)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(parts, SubnetParts{"s", "g", "v", "n"}))
		assert.Check(t, is.Equal(parts.NetworkID(), Resource("s", "g", VirtualNetworks, "v")))
	}
	for _, wrong := range []string{"", "subnet-1", strings.TrimSuffix(id, "n"), id + "/x", strings.Replace(id, "subnets", "peerings", 1)} {
		_, err := ParseSubnet(wrong)
		assert.Check(t, is.ErrorContains(err, "is no id of a subnet; write /subscriptions/<subscription>/"), wrong)
	}
}

func TestParse(t *testing.T) {
	const group = "/subscriptions/s/resourceGroups/g"
	for _, want := range []ID{
		{Text: "/subscriptions/s", Subscription: "s", Name: "s"},
		{Text: group, Subscription: "s", Group: "g", Type: Groups, Name: "g"},
		{Text: group + "/providers/Microsoft.Network/virtualNetworks/v", Subscription: "s", Group: "g", Type: "Microsoft.Network/virtualNetworks", Name: "v"},
		{
			Text: group + "/providers/Microsoft.Network/virtualNetworks/v/subnets/n", Subscription: "s", Group: "g",
			Type: "Microsoft.Network/virtualNetworks/subnets", Name: "n", Parent: group + "/providers/Microsoft.Network/virtualNetworks/v",
		},
		{
			Text:         group + "/providers/Microsoft.Network/virtualNetworks/v/providers/Microsoft.Authorization/roleAssignments/r",
			Subscription: "s", Group: "g", Type: "Microsoft.Authorization/roleAssignments", Name: "r",
			Parent: group + "/providers/Microsoft.Network/virtualNetworks/v",
		},
	} {
		got, ok := Parse(want.Text)
		assert.Check(t, ok, want.Text)
		assert.Check(t, is.DeepEqual(got, want))
	}
	for _, text := range []string{"", "arn:aws:ec2:r:1:vpc/vpc-1", "/subscriptions", "/subscriptions/s/resourceGroups", "/subscriptions/s/resourceGroups/", "/subscriptions//resourceGroups/g", "/providers/x"} {
		_, ok := Parse(text)
		assert.Check(t, !ok, text)
	}
	id, _ := Parse("/subscriptions/S/resourcegroups/G/providers/microsoft.network/virtualnetworks/v")
	assert.Check(t, id.In("s", "g") && id.Is("Microsoft.Network/virtualNetworks"))
}
