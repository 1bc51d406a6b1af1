package aws

import (
	"errors"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/eks"
	"tombolo/components/network"
	"tombolo/config"
	"tombolo/internal/userdata"
	"tombolo/stacks/core/live"
	"tombolo/tests/samples"
)

const volumeKey = "arn:aws:kms:eu-central-1:111122223333:key/volumes"

func TestNodeGroupOfAFile(t *testing.T) {
	one := config.NodeGroup{
		Name: "own", InstanceTypes: []string{"g5g.xlarge"}, AMI: config.BottlerocketNVIDIA, Release: "1.50.0-1a2b3c4d", MaxPods: 60, DiskGiB: 80,
		Volume: config.NodeVolume{Type: config.IO2, IOPS: 4000, KMSKeyARN: volumeKey}, SecurityGroups: []string{"sg-own"},
		Zones: []string{"eu-central-1b"}, Update: config.NodeUpdate{MaxUnavailable: 2, Force: true}, UserData: "[settings.kernel]",
	}
	got := nodeGroup(one, userdata.Egress{}, &network.Network{PrivateSubnetByZone: pulumi.StringMap{"eu-central-1a": pulumi.String("subnet-a"), "eu-central-1b": pulumi.String("subnet-b")}})
	want := eks.NodeGroup{
		Name: "own", InstanceTypes: []string{"g5g.xlarge"}, ARM64: true, Min: 1, Max: 1, Desired: 1, MaxPods: 60, DiskGiB: 80,
		Image:  eks.Image{Bottlerocket: true, NVIDIA: true, Release: "1.50.0-1a2b3c4d"},
		Volume: eks.Volume{Type: "io2", IOPS: 4000, KeyARN: volumeKey}, SecurityGroupIDs: []string{"sg-own"},
		SubnetIDs: pulumi.StringArray{pulumi.String("subnet-b")}, Update: eks.Update{MaxUnavailable: 2, Force: true}, UserData: "[settings.kernel]",
	}
	assert.DeepEqual(t, got, want)
	assert.DeepEqual(t, nodeGroup(config.NodeGroup{ImageID: "ami-1", Subnets: []string{"subnet-1"}}, userdata.Egress{}, nil).Image, eks.Image{ID: "ami-1"})
}

// ownNodes is a cluster whose group has all that a file can say.
func ownNodes(t *testing.T) (live.Resources, *config.Cluster) {
	t.Helper()
	made, file := asMade(), fileOf()
	g := &file.Kubernetes.NodeGroups[0]
	g.AMI, g.Release, g.MaxPods = config.AL2023NVIDIA, "1.34.2-20260715", 60
	g.Volume = config.NodeVolume{Type: config.GP3, IOPS: 4000, Throughput: 500, KMSKeyARN: volumeKey}
	g.SecurityGroups, g.Zones, g.UserData = []string{"sg-own"}, []string{"eu-central-1b"}, "#!/bin/sh\necho hello\n"
	g.Update = config.NodeUpdate{MaxUnavailable: 2, Force: true}
	for _, r := range made {
		switch r.Type {
		case clusterToken:
			r.Outputs["vpcConfig"].(map[string]any)["clusterSecurityGroupId"] = "sg-cluster"
		case nodeGroupToken:
			r.Outputs["amiType"], r.Outputs["releaseVersion"] = "AL2023_x86_64_NVIDIA", "1.34.2-20260715"
			r.Outputs["subnetIds"], r.Outputs["forceUpdateVersion"] = []any{"subnet-b"}, true
			r.Outputs["updateConfig"] = map[string]any{"maxUnavailable": 2.0}
		case templateToken:
			r.Outputs["vpcSecurityGroupIds"] = []any{"sg-cluster", "sg-own"}
			r.Outputs["blockDeviceMappings"] = []any{map[string]any{"ebs": map[string]any{
				"volumeSize": 50.0, "volumeType": "gp3", "iops": 4000.0, "throughput": 500.0, "kmsKeyId": volumeKey,
			}}}
			r.Outputs["userData"] = composed(t, *g)
		}
	}
	return made, file
}

// composed is the user data of a group that the component writes.
func composed(t *testing.T, g config.NodeGroup) string {
	t.Helper()
	text, err := eks.UserData(nodeGroup(g, userdata.Egress{}, ofZones("eu-central-1a", "eu-central-1b")), nil)
	assert.NilError(t, err)
	return text
}

// TestLiveNodes: each key of a group shows when it changes, and only that one.
func TestLiveNodes(t *testing.T) {
	made, file := ownNodes(t)
	assert.Assert(t, is.Len(config.Compare(Live(file, made), file), 0), "%v", config.Compare(Live(file, made), file))
	for path, change := range map[string]func(*config.NodeGroup){
		"ami":                   func(g *config.NodeGroup) { g.AMI = config.AL2023 },
		"release":               func(g *config.NodeGroup) { g.Release = "1.34.3-20260815" },
		"imageId":               func(g *config.NodeGroup) { g.ImageID = "ami-0123456789abcdef0" },
		"maxPods":               func(g *config.NodeGroup) { g.MaxPods = 0 },
		"volume.type":           func(g *config.NodeGroup) { g.Volume.Type = config.IO2 },
		"volume.iops":           func(g *config.NodeGroup) { g.Volume.IOPS = 5000 },
		"volume.throughput":     func(g *config.NodeGroup) { g.Volume.Throughput = 600 },
		"volume.kmsKeyArn":      func(g *config.NodeGroup) { g.Volume.KMSKeyARN = "" },
		"securityGroups":        func(g *config.NodeGroup) { g.SecurityGroups = nil },
		"zones":                 func(g *config.NodeGroup) { g.Zones = nil },
		"userData":              func(g *config.NodeGroup) { g.UserData = "#!/bin/sh\necho there\n" },
		"update.maxUnavailable": func(g *config.NodeGroup) { g.Update.MaxUnavailable = 3 },
		"update.force":          func(g *config.NodeGroup) { g.Update.Force = false },
	} {
		made, file := ownNodes(t)
		change(&file.Kubernetes.NodeGroups[0])
		changes := config.Compare(Live(file, made), file)
		assert.Check(t, len(changes) == 1 && changes[0].Path == "kubernetes.nodeGroups[0]."+path, "%s: found %v", path, changes)
	}
}

// TestLiveEgress: what nodes were started with tells the egress that they have, and another
// one shows key by key.
func TestLiveEgress(t *testing.T) {
	behindProxy := func(ami config.AMI) (live.Resources, *config.Cluster) {
		made, file := ownNodes(t)
		file.Egress = config.Egress{
			Proxy: config.Proxy{URL: "http://proxy.corp.example:3128", NoProxy: []string{".corp.example"}}, CertificateAuthority: samples.CompanyCA,
			Images: config.ImageSources{Mirrors: map[string]string{"docker.io": "mirror.corp.example/hub"}},
		}
		g := &file.Kubernetes.NodeGroups[0]
		if g.AMI = ami; ami == config.Bottlerocket {
			g.UserData = ""
		}
		text, err := eks.UserData(nodeGroup(*g, file.NodeEgress(), ofZones("eu-central-1a", "eu-central-1b")), nil)
		assert.NilError(t, err)
		for _, r := range made {
			switch r.Type {
			case nodeGroupToken:
				r.Outputs["amiType"] = map[config.AMI]string{config.AL2023: "AL2023_x86_64_STANDARD", config.Bottlerocket: "BOTTLEROCKET_x86_64"}[ami]
			case templateToken:
				r.Outputs["userData"] = text
			}
		}
		return made, file
	}
	for _, ami := range []config.AMI{config.AL2023, config.Bottlerocket} {
		made, file := behindProxy(ami)
		assert.Assert(t, is.Len(config.Compare(Live(file, made), file), 0), "%s: %v", ami, config.Compare(Live(file, made), file))
		for path, change := range map[string]func(c *config.Cluster){
			"egress.proxy.url":            func(c *config.Cluster) { c.Egress.Proxy.URL = "http://other.corp.example:3128" },
			"egress.proxy.noProxy":        func(c *config.Cluster) { c.Egress.Proxy.NoProxy = nil },
			"egress.certificateAuthority": func(c *config.Cluster) { c.Egress.CertificateAuthority = "" },
			"egress.images.mirrors":       func(c *config.Cluster) { c.Egress.Images.Mirrors = nil },
			"network.endpoints":           func(c *config.Cluster) { c.Network.Endpoints = nil },
		} {
			made, file := behindProxy(ami)
			change(file)
			changes := config.Compare(Live(file, made), file)
			assert.Check(t, len(changes) == 1 && changes[0].Path == path && changes[0].Effect == config.RollsNodes,
				"%s, %s: found %v", ami, path, changes)
		}
		file.Egress = config.Egress{}
		assert.Assert(t, is.Len(config.Compare(Live(file, made), file), 4), "%s: %v", ami, config.Compare(Live(file, made), file))
	}
}

// TestLiveImageOfOnesOwn: the version of its nodes is the image's, and not one to wait for.
func TestLiveImageOfOnesOwn(t *testing.T) {
	made, file := asMade(), fileOf()
	g := &file.Kubernetes.NodeGroups[0]
	g.AMI, g.ImageID = config.Bottlerocket, "ami-0123456789abcdef0"
	for _, r := range made {
		switch r.Type {
		case nodeGroupToken:
			r.Outputs["amiType"], r.Outputs["version"] = eks.CustomAMI, "1.31"
		case templateToken:
			r.Outputs["imageId"], r.Outputs["userData"] = g.ImageID, ""
		}
	}
	found := Live(file, made)
	assert.Equal(t, found.NodeVersion, "")
	assert.Assert(t, is.Len(config.Compare(found, file), 0), "%v", config.Compare(found, file))
	g.ImageID = ""
	changes := config.Compare(Live(file, made), file)
	assert.Assert(t, is.Len(changes, 1))
	assert.Equal(t, changes[0].Effect, config.ReplacesNodeGroup)
}

// TestMovesSubnets: a group with zones or subnets of its own moves by those alone.
func TestMovesSubnets(t *testing.T) {
	a, b := "eu-central-1a", "eu-central-1b"
	assert.NilError(t, reading(t, stateOf(), nil, func(_ *pulumi.Context, have made) error {
		own := config.NodeGroup{Zones: []string{b}}
		assert.Check(t, !movesSubnets(own, inZones(a, b), ofZones(a, b), have, []string{"subnet-privateb"}))
		assert.Check(t, movesSubnets(own, inZones(a, b), ofZones(a, b), have, []string{"subnet-privatea", "subnet-privateb"}))
		existing := &config.Cluster{Network: config.Network{Existing: &config.ExistingNetwork{PrivateSubnets: []string{"subnet-1", "subnet-2"}}}}
		assert.Check(t, !movesSubnets(config.NodeGroup{Subnets: []string{"subnet-2"}}, existing, nil, have, []string{"subnet-2"}))
		assert.Check(t, movesSubnets(config.NodeGroup{}, existing, nil, have, []string{"subnet-2"}))
		return nil
	}))
}

// TestServiceBlock: the file's block wins, and a live cluster keeps what it has.
func TestServiceBlock(t *testing.T) {
	c := inZones("eu-central-1a")
	net := ofZones("eu-central-1a")
	assert.Equal(t, clusterArgs(c, "aws", net).ServiceCIDR, "172.20.0.0/16")
	c.Kubernetes.ServiceCIDR = "172.30.0.0/16"
	assert.Equal(t, clusterArgs(c, "aws", net).ServiceCIDR, "172.30.0.0/16")
	existing := &config.Cluster{Network: config.Network{Existing: &config.ExistingNetwork{}}}
	assert.Equal(t, clusterArgs(existing, "aws", net).ServiceCIDR, "")
	existing.Kubernetes.ServiceCIDR = "172.30.0.0/16"
	assert.Equal(t, clusterArgs(existing, "aws", net).ServiceCIDR, "172.30.0.0/16")

	made, file := asMade(), fileOf()
	made[0].Outputs["kubernetesNetworkConfig"] = map[string]any{"serviceIpv4Cidr": "172.20.0.0/16"}
	file.Kubernetes.ServiceCIDR = "172.20.0.0/16"
	assert.Assert(t, is.Len(config.Compare(Live(file, made), file), 0))
	file.Kubernetes.ServiceCIDR = "172.30.0.0/16"
	changes := config.Compare(Live(file, made), file)
	assert.Assert(t, is.Len(changes, 1))
	assert.Equal(t, changes[0].Effect, config.NeedsRebuild)
}

func TestUnpinnedVersion(t *testing.T) {
	const oldest, byDefault, newest = "v1.20.5-eksbuild.1", "v1.20.5-eksbuild.2", "v1.20.5-eksbuild.10"
	for _, test := range []struct{ name, live, byDefault, mostRecent, want string }{
		// An empty mostRecent says that it must not be asked for.
		{"a new addon", "", byDefault, "", byDefault},
		{"the same version", byDefault, byDefault, "", byDefault},
		{"an older build", oldest, byDefault, "", byDefault},
		{"an older patch, though its build is larger", "v1.20.4-eksbuild.9", byDefault, "", byDefault},
		{"several minors older", "v1.9.3-eksbuild.1", byDefault, "", byDefault},
		{"a newer build", newest, byDefault, newest, newest},
		{"a newer minor", "v1.20.0-eksbuild.1", "v1.9.3-eksbuild.1", "v1.21.0-eksbuild.1", "v1.20.0-eksbuild.1"},
		{"newer than all, as after a rollback of Kubernetes", "v1.35.0-eksbuild.1", "v1.34.0-eksbuild.2", "v1.34.1-eksbuild.1", "v1.34.0-eksbuild.2"},
		{"no version", "latest", byDefault, "", byDefault},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := unpinnedVersion(test.live, func(mostRecent bool) (string, error) {
				if !mostRecent {
					return test.byDefault, nil
				}
				if test.mostRecent == "" {
					return "", errors.New("asked for the most recent version")
				}
				return test.mostRecent, nil
			})
			assert.NilError(t, err)
			assert.Check(t, is.Equal(got, test.want))
		})
	}
}

func TestFindAddonVersions(t *testing.T) {
	state := stateOf()
	for name, version := range map[string]string{"vpc-cni": "v1.20.5-eksbuild.1", "kube-proxy": "v1.34.0-eksbuild.2", "coredns": "v1.12.4-eksbuild.1"} {
		state["urn:pulumi:demo-core::tombolo::tombolo:eks:Cluster$"+managedAddonToken+"::demo-addon-"+name] = map[string]any{
			"type": managedAddonToken, "outputs": map[string]any{"addonName": name, "addonVersion": version},
		}
	}
	offers := map[string][2]string{ // the default and the most recent one
		"vpc-cni": {"v1.20.4-eksbuild.2", "v1.20.5-eksbuild.2"}, "kube-proxy": {"v1.35.0-eksbuild.2", "v1.35.0-eksbuild.2"},
		"metrics-server": {"v0.8.0-eksbuild.2", "v0.8.0-eksbuild.3"},
	}
	ask := map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"aws:eks/getAddonVersion:getAddonVersion": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			offer, known := offers[args["addonName"].StringValue()]
			if !known || args["kubernetesVersion"].StringValue() != "1.35" {
				return nil, errors.New("reading EKS Add-On version info: empty result")
			}
			version := offer[0]
			if args["mostRecent"].BoolValue() {
				version = offer[1]
			}
			return resource.PropertyMap{"version": resource.NewProperty(version)}, nil
		},
	}
	find := func(kubernetes string, addons ...eks.Addon) error {
		c := &config.Cluster{Name: "demo", Cloud: config.Cloud{Region: "eu-central-1"}, Kubernetes: config.Kubernetes{Version: kubernetes}}
		return reading(t, state, ask, func(ctx *pulumi.Context, have made) error {
			return findAddonVersions(ctx, c, have, addons, pulumi.Parent(nil))
		})
	}
	addons := []eks.Addon{{Name: "vpc-cni"}, {Name: "kube-proxy"}, {Name: "metrics-server"}, {Name: "coredns", Version: "v1.12.3-eksbuild.1"}}
	assert.NilError(t, find("1.35", addons...))
	assert.Check(t, is.DeepEqual(addons, []eks.Addon{
		{Name: "vpc-cni", Version: "v1.20.5-eksbuild.1"},       // stays: newer than the default
		{Name: "kube-proxy", Version: "v1.35.0-eksbuild.2"},    // follows Kubernetes
		{Name: "metrics-server", Version: "v0.8.0-eksbuild.2"}, // new
		{Name: "coredns", Version: "v1.12.3-eksbuild.1"},       // pinned, though older: AWS is not asked
	}))

	err := find("1.36", eks.Addon{Name: "vpc-cni"})
	for _, part := range []string{
		"find out the version of addon vpc-cni (kubernetes.addons) of cluster demo for Kubernetes 1.36: ", "empty result",
		"check that EKS offers the addon for it in eu-central-1, or else take it out of kubernetes.addons or set its version", "eks:DescribeAddonVersions",
	} {
		assert.Check(t, err != nil && strings.Contains(err.Error(), part), "%v", err)
	}
}
