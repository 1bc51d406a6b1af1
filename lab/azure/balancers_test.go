package azure

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/compute"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/network"
	"tombolo/lab/standin"
)

func (w *world) balancerArgs(front, change props) props {
	return standin.Merged(w.inGroup(props{
		"loadBalancerName": "web", "sku": map[string]any{"name": "Standard"},
		"frontendIPConfigurations": []any{map[string]any(standin.Merged(props{"name": "web"}, front))},
	}), change)
}

func ref(id string) map[string]any { return map[string]any{"id": id} }

func TestBalancerIsRefused(t *testing.T) {
	w := newNetwork(t)
	inSubnet := props{"subnet": ref(w.subnet.ID)}
	for want, in := range map[string]props{
		`Code="BasicLoadBalancerRetired"`: w.balancerArgs(inSubnet, props{"sku": map[string]any{"name": "Basic"}}),
		`has no frontend`:                 w.balancerArgs(nil, props{"frontendIPConfigurations": []any{}}),
		`must have either a subnet or`:    w.balancerArgs(nil, nil),
		// the NAT gateway has it
		`Code="PublicIPAddressInUse" Message="Resource ` + w.gateway.ID:          w.balancerArgs(props{"publicIPAddress": ref(w.ip.ID)}, nil),
		`Code="InvalidResourceReference" Message="Resource ` + w.subnet.ID + `x`: w.balancerArgs(props{"subnet": ref(w.subnet.ID + "x")}, nil),
		`/frontendIPConfigurations/other referenced by resource /subscriptions/00`: w.balancerArgs(inSubnet, props{"loadBalancingRules": []any{map[string]any{
			"name": "web", "protocol": "Tcp", "frontendPort": 80, "frontendIPConfiguration": ref("/frontendIPConfigurations/other"),
		}}}),
	} {
		w.denied(network.BalancerType, in, want)
	}
}

// TestBalancerKeepsWhatItUses: its subnet and its address go after it.
func TestBalancerKeepsWhatItUses(t *testing.T) {
	w := newNetwork(t)
	address := w.Make(network.AddressType, "public", w.inGroup(props{
		"publicIpAddressName": "public", "sku": map[string]any{"name": "Standard"}, "publicIPAllocationMethod": "Static",
	}))
	w.Make(network.BalancerType, "public", w.balancerArgs(props{"publicIPAddress": ref(address.ID)}, nil))
	w.Make(network.BalancerType, "internal", w.balancerArgs(props{"subnet": ref(w.subnet.ID)}, props{"loadBalancerName": "internal"}))
	for id, token := range map[string]string{w.subnet.ID: network.SubnetType, address.ID: network.AddressType} {
		_, err := w.Cloud.Remove(t.Context(), token, id)
		assert.Check(t, err != nil && strings.Contains(err.Error(), "/frontendIPConfigurations/web"), "%v", err)
	}
	_, err := w.Cloud.Remove(t.Context(), arm.GroupType, demo)
	assert.NilError(t, err, "a group goes with load balancers in it")
	assert.Equal(t, len(w.Cloud.Inventory()), 0)
}

func (w *world) diskArgs(change props) props {
	return standin.Merged(w.inGroup(props{
		"diskName": "data", "diskSizeGB": 4, "sku": map[string]any{"name": "Premium_LRS"}, "creationData": map[string]any{"createOption": "Empty"},
	}), change)
}

func TestDisks(t *testing.T) {
	w := newWorld(t)
	for want, change := range map[string]props{
		`Error converting value "Fast_LRS" to one of`:   {"sku": map[string]any{"name": "Fast_LRS"}},
		"'65537' of parameter 'disk.diskSizeGB'":        {"diskSizeGB": 65537},
		"cannot be in the zones 1":                      {"sku": map[string]any{"name": "Premium_ZRS"}, "zones": []any{"1"}},
		`Code="ResourceGroupNotFound"`:                  {"resourceGroupName": "gone"},
		"makes empty disks only":                        {"creationData": map[string]any{"createOption": "Copy"}},
		`Code="LocationNotAvailableForResourceType"`:    {"location": "nowhere"},
		"'Microsoft.Compute/disks'. List of available ": {"location": "nowhere"},
	} {
		w.denied(compute.DiskType, w.diskArgs(change), want)
	}
	disk := w.Make(compute.DiskType, "data", w.diskArgs(nil))
	err := w.Update(disk, w.diskArgs(props{"diskSizeGB": 2}))
	assert.ErrorContains(t, err, "cannot be made smaller")
	assert.NilError(t, w.Update(disk, w.diskArgs(props{"diskSizeGB": 8})))
	a := w.asker()
	listed := a.list(ofSubscription+"/resourceGroups/"+demo+"/resources", "", "name")["data"]
	assert.Check(t, listed.Str("type") == "Microsoft.Compute/disks" && listed.Str("id") == disk.ID, "%v", listed)
	assert.Equal(t, a.get(disk.ID, "").Sub("properties").Str("diskState"), "Unattached")
}

// TestNodeGroupGoesWithItsDisks when the cluster is deleted.
func TestNodeGroupGoesWithItsDisks(t *testing.T) {
	w := newWorld(t)
	w.Make(compute.DiskType, "data", w.diskArgs(props{"resourceGroupName": "demo-nodes"}))
	assert.Check(t, w.Cloud.Has(compute.DiskType, "data"))
	_, err := w.Cloud.Remove(t.Context(), containerservice.ClusterType, demo)
	assert.NilError(t, err)
	assert.Check(t, !w.Cloud.Has(compute.DiskType, "data"))
	assert.Check(t, !w.Cloud.Has(arm.GroupType, "demo-nodes"))
}

// TestQuotas are refused in each type's own words.
func TestQuotas(t *testing.T) {
	w := newNetwork(t)
	for token, tc := range map[string]struct {
		in   props
		want string
	}{
		network.AddressType: {w.inGroup(props{
			"publicIpAddressName": "one-more", "sku": map[string]any{"name": "Standard"}, "publicIPAllocationMethod": "Static",
		}), `Status=400 Code="PublicIPCountLimitReached" Message="Cannot create more than 1000 public IP addresses`},
		compute.DiskType: {w.diskArgs(nil), `Status=409 Code="OperationNotAllowed" Message="Operation could not be completed as it results in exceeding approved StandardSSDDiskCount quota.`},
	} {
		_, err := w.Cloud.AddFault(standin.Fault{Kind: standin.FaultQuota, Operation: standin.OpCreate, Type: token})
		assert.NilError(t, err)
		w.denied(token, tc.in, tc.want)
	}
}
