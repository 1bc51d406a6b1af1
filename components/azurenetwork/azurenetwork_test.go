package azurenetwork

import (
	"errors"
	"maps"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/internal/armid"
)

const (
	subscription = "00000000-0000-4000-8000-000000000001"
	theirs       = "00000000-0000-4000-8000-000000000002"
)

func vnetArgs() *VNetArgs {
	return &VNetArgs{
		Name: "demo", Subscription: subscription, Location: "germanywestcentral",
		GroupName: "demo-group", ResourceGroup: pulumi.String("demo-group"),
		CIDR: "10.0.0.0/16", NodeCIDR: "10.0.0.0/17", NATGateway: true, Tags: map[string]string{"tombolo:cluster": "demo"},
	}
}

// made runs NewVNet and probes what it puts out.
func made(t *testing.T, r *recorder.Recorder, args *VNetArgs, o ...pulumi.RunOption) *recorder.Recorder {
	t.Helper()
	return r.Sound(t, r.Run("demo-core", recorder.Probing("demo", NewVNet, args, func(net *Network) pulumi.Map {
		outputs := pulumi.Map{"vnet": net.VNetID, "subnet": net.SubnetID, "cidr": pulumi.String(net.CIDR())}
		if net.OutboundIP.OutputState != nil {
			outputs["outbound"] = net.OutboundIP
		}
		return outputs
	}), o...))
}

func TestVNet(t *testing.T) {
	args := vnetArgs()
	args.Protect = true
	r := made(t, &recorder.Recorder{Outputs: map[string]resource.PropertyMap{
		"azure-native:network/v20190601:PublicIPAddress": {"ipAddress": resource.NewProperty("203.0.113.7")},
	}}, args)
	r.GoldenRegistrations(t, "azure-native:", "vnet.json")
	r.Probed().Expect(t, map[string]string{
		"vnet":   armid.Resource(subscription, "demo-group", armid.VirtualNetworks, "demo"),
		"subnet": armid.Subnet(subscription, "demo-group", "demo", "demo-nodes"), "cidr": "10.0.0.0/16", "outbound": "203.0.113.7",
	})
	r.Probed().ExpectAfter(t, "subnet", "demo-nodes")
}

// TestVNetWithoutGateway: another way out needs no address.
func TestVNetWithoutGateway(t *testing.T) {
	args := vnetArgs()
	args.NATGateway = false
	r := made(t, &recorder.Recorder{}, args)
	assert.Check(t, is.Len(r.OfType("azure-native:network/v20190601:NatGateway"), 0))
	assert.Check(t, is.Len(r.OfType("azure-native:network/v20190601:PublicIPAddress"), 0))
	_, given := r.OfType("azure-native:network/v20190601:Subnet")[0].Value("natGateway")
	assert.Check(t, !given)
}

// TestPreviewKnowsIDs: a preview of a network that does not exist knows its ids, and not its
// address.
func TestPreviewKnowsIDs(t *testing.T) {
	r := made(t, &recorder.Recorder{Unborn: true}, vnetArgs(), recorder.Preview)
	r.Probed().Expect(t, map[string]string{"subnet": armid.Subnet(subscription, "demo-group", "demo", "demo-nodes"), "outbound": ""})
}

func TestVNetRefuses(t *testing.T) {
	for _, test := range []struct {
		want   string
		change func(*VNetArgs)
	}{
		{"network demo: name, subscription, location and resource group are required", func(a *VNetArgs) { a.ResourceGroup = nil }},
		{"network demo: name, subscription, location and resource group are required", func(a *VNetArgs) { a.Location = "" }},
		{"network demo: the blocks of the network and of the nodes' subnet are required", func(a *VNetArgs) { a.NodeCIDR = "" }},
	} {
		args := vnetArgs()
		test.change(args)
		_, err := recorder.Make("demo-core", "demo", NewVNet, args)
		assert.Check(t, is.ErrorContains(err, test.want))
	}
}

const subnetID = "/subscriptions/" + theirs + "/resourceGroups/network-team/providers/Microsoft.Network/virtualNetworks/shared/subnets/aks"

// shared answers for the subnet of others with these properties.
func shared(properties map[string]any) *recorder.Recorder {
	subnet := map[string]any{"name": "aks", "purpose": ""}
	maps.Copy(subnet, properties)
	return &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"azure-native:network/v20190601:getSubnet": func(resource.PropertyMap) (resource.PropertyMap, error) {
			return resource.NewPropertyMapFromMap(subnet), nil
		},
		"azure-native:network/v20190601:getVirtualNetwork": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			if args["resourceGroupName"].StringValue() != "network-team" || args["virtualNetworkName"].StringValue() != "shared" {
				return nil, errors.New("ResourceNotFound")
			}
			return resource.NewPropertyMapFromMap(map[string]any{
				"name": "shared", "type": "x", "addressSpace": map[string]any{"addressPrefixes": []any{"10.8.0.0/14", "10.64.0.0/16"}},
			}), nil
		},
	}}
}

var (
	routes  = map[string]any{"routeTable": map[string]any{"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/routeTables/t", "name": "t", "type": "x"}}
	gateway = map[string]any{"natGateway": map[string]any{"id": "gateway"}}
)

func TestExisting(t *testing.T) {
	r := shared(routes)
	r.Sound(t, r.Run("demo-core", recorder.Probing("demo", NewExisting, &ExistingArgs{SubnetID: subnetID, Outbound: Routes}, func(net *Network) pulumi.Map {
		assert.Check(t, is.Equal(armid.NameOf(net.RouteTableID), "t"))
		return pulumi.Map{"vnet": net.VNetID, "subnet": net.SubnetID, "cidr": pulumi.String(net.CIDR())}
	})))
	r.Probed().Expect(t, map[string]string{
		"vnet":   "/subscriptions/" + theirs + "/resourceGroups/network-team/providers/Microsoft.Network/virtualNetworks/shared",
		"subnet": subnetID, "cidr": "10.8.0.0/14,10.64.0.0/16",
	})
	for _, res := range r.All() {
		assert.Check(t, res.Type == existingType || res.Type == "test:index:Probe", "%s %s is made", res.Type, res.Name)
	}
}

func TestExistingRefuses(t *testing.T) {
	delegated := map[string]any{"delegations": []any{map[string]any{"serviceName": "Microsoft.Web/serverFarms"}}}
	for _, test := range []struct {
		properties map[string]any
		args       ExistingArgs
		want       string
	}{
		{nil, ExistingArgs{SubnetID: "subnet-1"}, `existing network demo: "subnet-1" is no id of a subnet; write /subscriptions/<subscription>`},
		{delegated, ExistingArgs{SubnetID: subnetID, Outbound: LoadBalancer}, "is delegated to Microsoft.Web/serverFarms, and AKS takes no delegated subnet; name one without a delegation"},
		{gateway, ExistingArgs{SubnetID: subnetID, Outbound: Routes}, "has no route table, and the way out is user-defined-routing: have the network's owner give it one"},
		{routes, ExistingArgs{SubnetID: subnetID, Outbound: NATGateway}, "has no NAT gateway, and the way out is nat-gateway: have the network's owner give it one"},
		{nil, ExistingArgs{SubnetID: subnetID, Outbound: LoadBalancer}, ""},
		{gateway, ExistingArgs{SubnetID: subnetID, Outbound: NATGateway}, ""},
		{nil, ExistingArgs{SubnetID: subnetID}, ""},
	} {
		err := shared(test.properties).Run("demo-core", func(ctx *pulumi.Context) error {
			_, err := NewExisting(ctx, "demo", &test.args)
			return err
		})
		if test.want == "" {
			assert.Check(t, err)
			continue
		}
		assert.Check(t, is.ErrorContains(err, test.want))
	}
}

func TestExistingIsNotThere(t *testing.T) {
	r := shared(nil)
	r.Invokes["azure-native:network/v20190601:getSubnet"] = func(resource.PropertyMap) (resource.PropertyMap, error) {
		return nil, errors.New("ResourceNotFound")
	}
	err := r.Run("demo-core", func(ctx *pulumi.Context) error {
		_, err := NewExisting(ctx, "demo", &ExistingArgs{SubnetID: subnetID, Outbound: Routes})
		return err
	})
	assert.Check(t, is.ErrorContains(err, "look up subnet "+subnetID+": "))
	assert.Check(t, is.ErrorContains(err, "check the id, and allow Microsoft.Network/virtualNetworks/subnets/read on it to the credentials"))
}
