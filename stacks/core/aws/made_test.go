package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/eks"
	"tombolo/components/network"
	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/stacks/core/live"
)

const ownKey = "arn:aws:kms:eu-central-1:111122223333:key/own"

// stateOf is the state of a cluster demo in its own network, with zones a and b, and a
// node group.
func stateOf() map[string]any {
	state := map[string]any{}
	put := func(typ, name string, outputs map[string]any) {
		outputs["secret"] = resource.MakeSecret(resource.NewProperty("s"))
		state["urn:pulumi:demo-core::tombolo::tombolo:eks:Cluster$"+typ+"::"+name] = map[string]any{"type": typ, "outputs": outputs}
	}
	for i, zone := range []string{"eu-central-1a", "eu-central-1b"} {
		for kind, block := range map[string]string{"private": "10.0.%d.0/18", "public": "10.0.%d.0/20"} {
			third := map[string]int{"private": 64 * i, "public": 192 + 16*i}[kind]
			put(subnetToken, "demo-"+kind+"-"+zone, map[string]any{
				"arn": "arn:aws:ec2:eu-central-1:111122223333:subnet/subnet-" + kind + zone[len(zone)-1:], "availabilityZone": zone,
				"cidrBlock": fmt.Sprintf(block, third),
			})
		}
	}
	subnets := []any{"subnet-privatea", "subnet-privateb"}
	put(clusterToken, "demo-control-plane-eksCluster", map[string]any{
		"vpcConfig":        map[string]any{"subnetIds": subnets},
		"encryptionConfig": map[string]any{"provider": map[string]any{"keyArn": ownKey}},
	})
	put(keyToken, "demo-secrets", map[string]any{"arn": ownKey})
	put(nodeGroupToken, "demo-nodes-default", map[string]any{
		"nodeGroupName": "default-1234abcd", "instanceTypes": []any{"m7i.large"}, "amiType": "AL2023_x86_64_STANDARD", "capacityType": "ON_DEMAND",
		"nodeRoleArn": "arn:role", "subnetIds": subnets, "scalingConfig": map[string]any{"minSize": 1, "maxSize": 3, "desiredSize": 1},
	})
	return state
}

// reading runs a part of the program with what a state has, and with invokes.
func reading(t *testing.T, state map[string]any, invokes map[string]func(resource.PropertyMap) (resource.PropertyMap, error), do func(*pulumi.Context, made) error) error {
	t.Helper()
	r := &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		recorder.ReadResources: recorder.Answering(map[string]any{"outputs": state}),
	}}
	maps.Copy(r.Invokes, invokes)
	return r.Run("demo-core", func(ctx *pulumi.Context) error {
		had, err := live.Read(ctx, LiveKeys())
		if err != nil {
			return err
		}
		return do(ctx, made{had})
	})
}

func inZones(zones ...string) *config.Cluster {
	return &config.Cluster{Name: "demo", Network: config.Network{CIDR: "10.0.0.0/16", Zones: zones}}
}

func ofZones(zones ...string) *network.Network {
	ids, byZone := make([]string, len(zones)), pulumi.StringMap{}
	for i, zone := range zones {
		ids[i] = "new-" + zone[len(zone)-1:]
		byZone[zone] = pulumi.String(ids[i])
	}
	return &network.Network{PrivateSubnetIDs: pulumi.ToStringArray(ids).ToStringArrayOutput(), PrivateSubnetZones: zones, PrivateSubnetByZone: byZone}
}

// TestSubnetsOfALiveNetworkStay: a zone more gets what is free.
func TestSubnetsOfALiveNetworkStay(t *testing.T) {
	state := stateOf()
	for _, kind := range []string{"private", "public"} {
		state["urn:pulumi:demo-core::tombolo::aws:ec2/subnet:Subnet::demo-"+kind+"-eu-central-1c"] = map[string]any{
			"type": subnetToken, "outputs": map[string]any{
				"availabilityZone": "eu-central-1c", "cidrBlock": map[string]string{"private": "10.0.128.0/18", "public": "10.0.224.0/20"}[kind],
			},
		}
	}
	assert.NilError(t, reading(t, state, nil, func(_ *pulumi.Context, have made) error {
		args, err := vpcArgs(inZones("eu-central-1a", "eu-central-1b", "eu-central-1c", "eu-central-1d"), have)
		if err != nil {
			return err
		}
		assert.Check(t, is.DeepEqual(args.Subnets, []network.Subnet{
			{Zone: "eu-central-1a", Private: "10.0.0.0/18", Public: "10.0.192.0/20"},
			{Zone: "eu-central-1b", Private: "10.0.64.0/18", Public: "10.0.208.0/20"},
			{Zone: "eu-central-1c", Private: "10.0.128.0/18", Public: "10.0.224.0/20"},
			{Zone: "eu-central-1d", Private: "10.0.240.0/22", Public: "10.0.252.0/24"},
		}))
		return nil
	}))
}

func TestControlPlaneKeepsItsZones(t *testing.T) {
	a, b, c := "eu-central-1a", "eu-central-1b", "eu-central-1c"
	existing := func(zones []string, subnets ...string) (*config.Cluster, *network.Network) {
		return &config.Cluster{Name: "demo", Network: config.Network{Existing: &config.ExistingNetwork{PrivateSubnets: subnets}}},
			&network.Network{PrivateSubnetIDs: pulumi.ToStringArray(subnets).ToStringArrayOutput(), PrivateSubnetZones: zones}
	}
	own := func(zones []string, subnets ...string) (*config.Cluster, *network.Network) {
		cluster, net := existing([]string{a, b}, "subnet-1", "subnet-2")
		cluster.Network.Existing.ControlPlaneSubnets = subnets
		net.ControlPlaneSubnetIDs, net.ControlPlaneSubnetZones = subnets, zones
		return cluster, net
	}
	for _, test := range []struct {
		name  string
		state map[string]any
		made  func() (*config.Cluster, *network.Network)
		want  string
	}{
		{"subnets of its own", nil, func() (*config.Cluster, *network.Network) { return own([]string{c, b}, "subnet-8", "subnet-9") }, "subnet-8 subnet-9"},
		{
			"subnets of its own later, in the same zones", inOthersNetwork(),
			func() (*config.Cluster, *network.Network) { return own([]string{b, a}, "subnet-8", "subnet-9") }, "subnet-8 subnet-9",
		},
		{
			"subnets of its own in another zone", inOthersNetwork(),
			func() (*config.Cluster, *network.Network) { return own([]string{c, a}, "subnet-8", "subnet-9") },
			"the control plane of cluster demo is in eu-central-1a and eu-central-1b, and network.existing.controlPlaneSubnets are in eu-central-1a and eu-central-1c: " +
				"EKS keeps the zones that a control plane was made in; give subnets in exactly these, or build a new cluster",
		},
		{"a new cluster", nil, func() (*config.Cluster, *network.Network) { return inZones(a, b, c), ofZones(a, b, c) }, "new-a new-b new-c"},
		{"no change", stateOf(), func() (*config.Cluster, *network.Network) { return inZones(a, b), ofZones(a, b) }, "new-a new-b"},
		{"a zone more", stateOf(), func() (*config.Cluster, *network.Network) { return inZones(a, b, c), ofZones(a, b, c) }, "new-a new-b"},
		{
			"a zone less", stateOf(), func() (*config.Cluster, *network.Network) { return inZones(a, c), ofZones(a, c) },
			"the control plane of cluster demo is in eu-central-1b, where the network of the cluster file has no private subnet: " +
				"EKS keeps the zones that a control plane was made in; put it back, or build a new cluster",
		},
		{"other subnets in the same zones, and one more", inOthersNetwork(), func() (*config.Cluster, *network.Network) {
			return existing([]string{a, b, c}, "subnet-1", "subnet-9", "subnet-7")
		}, "subnet-1 subnet-9"},
		{"a subnet more in the same zone", inOthersNetwork(), func() (*config.Cluster, *network.Network) {
			return existing([]string{a, b, b}, "subnet-1", "subnet-2", "subnet-9")
		}, "subnet-1 subnet-2 subnet-9"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := make(chan []string, 1)
			err := reading(t, test.state, map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
				// subnet-2 is in the state only.
				"aws:ec2/getSubnet:getSubnet": recorder.Answering(map[string]any{"availabilityZone": b}),
			}, func(ctx *pulumi.Context, have made) error {
				cluster, net := test.made()
				ids, err := controlPlaneSubnets(ctx, cluster, net, have, pulumi.Parent(nil))
				if err != nil {
					return err
				}
				ids.ToStringArrayOutput().ApplyT(func(ids []string) []string { got <- ids; return ids })
				return nil
			})
			if err != nil {
				assert.Check(t, strings.Contains(err.Error(), test.want), "%v", err)
				return
			}
			assert.Check(t, is.Equal(strings.Join(<-got, " "), test.want))
		})
	}
}

// TestControlPlaneWaitsForNoRoutes: the subnets' ids are there before their routes, and making
// NAT gateways takes minutes. The nodes of Auto Mode come with the control plane and need them.
func TestControlPlaneWaitsForNoRoutes(t *testing.T) {
	for name, test := range map[string]struct {
		compute config.Compute
		waits   bool
	}{"node groups": {waits: false}, "Auto Mode": {config.AutoCompute, true}} {
		t.Run(name, func(t *testing.T) {
			c, net := inZones("eu-central-1a", "eu-central-1b"), ofZones("eu-central-1a", "eu-central-1b")
			c.Kubernetes.Compute = test.compute
			assert.NilError(t, reading(t, nil, nil, func(ctx *pulumi.Context, have made) error {
				ids, err := controlPlaneSubnets(ctx, c, net, have, pulumi.Parent(nil))
				if err != nil {
					return err
				}
				_, waits := ids.(pulumi.StringArrayOutput) // PrivateSubnetIDs
				assert.Check(t, is.Equal(waits, test.waits))
				return nil
			}))
		})
	}
}

// inOthersNetwork is the state of a cluster in the subnets subnet-1 and subnet-2 of others.
func inOthersNetwork() map[string]any {
	return map[string]any{"urn:pulumi:demo-core::tombolo::aws:eks/cluster:Cluster::demo": map[string]any{
		"type": clusterToken, "outputs": map[string]any{"vpcConfig": map[string]any{"subnetIds": []any{"subnet-1", "subnet-2"}}},
	}}
}

func TestFindGroups(t *testing.T) {
	live := map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"aws:eks/getClusters:getClusters":     recorder.Answering(map[string]any{"names": []any{"demo"}}),
		"aws:eks/getNodeGroups:getNodeGroups": recorder.Answering(map[string]any{"names": []any{"default-1234abcd"}}),
		"aws:eks/getNodeGroup:getNodeGroup": recorder.Answering(map[string]any{
			"scalingConfigs": []any{map[string]any{"minSize": 1, "maxSize": 4, "desiredSize": 3}},
		}),
	}
	without := maps.Clone(live)
	without["aws:eks/getClusters:getClusters"] = recorder.Answering(map[string]any{"names": []any{}})
	a, b := "eu-central-1a", "eu-central-1b"
	for _, test := range []struct {
		name    string
		state   map[string]any
		invokes map[string]func(resource.PropertyMap) (resource.PropertyMap, error)
		zones   []string
		want    *eks.MadeGroup
	}{
		// Nothing is asked of AWS for a cluster that was never made.
		{"a new cluster", nil, nil, []string{a, b}, nil},
		{"a live one", stateOf(), live, []string{a, b}, &eks.MadeGroup{Live: &eks.Scaling{Min: 1, Max: 4, Desired: 3}}},
		{"one that gets a zone", stateOf(), live, []string{a, b, "eu-central-1c"}, &eks.MadeGroup{MovesSubnets: true, Live: &eks.Scaling{Min: 1, Max: 4, Desired: 3}}},
		{"one that is gone from AWS", stateOf(), without, []string{a, b}, &eks.MadeGroup{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			groups := []eks.NodeGroup{{Name: "default"}, {Name: "new"}}
			assert.NilError(t, reading(t, test.state, test.invokes, func(ctx *pulumi.Context, have made) error {
				return findGroups(ctx, inZones(test.zones...), ofZones(test.zones...), have, groups, pulumi.Parent(nil))
			}))
			assert.Check(t, groups[1].Made == nil, "a new group exists as %v", groups[1].Made)
			if want := test.want; want != nil {
				want.Name, want.InstanceTypes, want.AMIType, want.CapacityType = "default-1234abcd", []string{"m7i.large"}, "AL2023_x86_64_STANDARD", "ON_DEMAND"
				want.NodeRoleARN, want.SubnetIDs, want.Min, want.Max = "arn:role", []string{"subnet-privatea", "subnet-privateb"}, 1, 3
			}
			assert.Check(t, is.DeepEqual(groups[0].Made, test.want))
		})
	}
}

// TestPlacesOfSubnets: what is no subnet of the network is none of its zones.
func TestPlacesOfSubnets(t *testing.T) {
	assert.NilError(t, reading(t, stateOf(), nil, func(_ *pulumi.Context, have made) error {
		zones := make([]string, 0, 2)
		for _, plan := range have.subnets("demo") {
			zones = append(zones, plan.Zone)
		}
		assert.Check(t, is.DeepEqual(slices.Sorted(slices.Values(zones)), []string{"eu-central-1a", "eu-central-1b"}))
		assert.Check(t, is.Equal(have.subnetZone("subnet-privateb"), "eu-central-1b"))
		assert.Check(t, is.Equal(have.subnetZone("subnet-of-others"), ""))
		return nil
	}))
}
