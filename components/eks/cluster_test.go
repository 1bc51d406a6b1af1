package eks

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/identity"
	"tombolo/components/recorder"
)

const controlPlane = "eks:index:Cluster"

func clusterArgs() *ClusterArgs {
	return &ClusterArgs{
		Name: "demo", Version: "1.35", Partition: "aws",
		PrivateEndpoint: true, PublicEndpoint: true, PublicCIDRs: []string{"192.0.2.0/24"},
		LogTypes: []string{"audit"}, LogRetentionDays: 90, EncryptSecrets: true, ServiceCIDR: "172.20.0.0/16",
		Admins: []Principal{{Name: "ops", PrincipalARN: "arn:aws:iam::111122223333:role/ops"}},
		NodeGroups: []NodeGroup{{
			Name: "default", InstanceTypes: []string{"m7i.large"}, Min: 1, Desired: 2, Max: 3, DiskGiB: 50,
			Labels: map[string]string{"pool": "default"}, Taints: []Taint{{Key: "dedicated", Value: "x", Effect: "NoSchedule"}},
		}},
		Addons: []Addon{
			{Name: "vpc-cni"},
			{Name: "kube-proxy"},
			{Name: "eks-pod-identity-agent"},
			{Name: "coredns", Version: "v1.12.3-eksbuild.1", Configuration: map[string]any{"replicaCount": 2}},
		},
		Tags:              map[string]string{"tombolo:cluster": "demo"},
		SecurityGroupTags: map[string]string{"karpenter.sh/discovery": "demo"},
		VPCID:             pulumi.String("vpc-1"), SubnetIDs: pulumi.ToStringArray([]string{"subnet-1", "subnet-2", "subnet-3"}),
		ControlPlaneSubnetIDs: pulumi.ToStringArray([]string{"subnet-1", "subnet-2"}),
	}
}

// awsCluster is the cluster as AWS describes it.
func awsCluster() resource.PropertyMap {
	return resource.PropertyMap{"eksCluster": resource.NewProperty(resource.ResourceReference{
		URN: "urn:pulumi:demo-core::tombolo::aws:eks/cluster:Cluster::demo", ID: resource.NewProperty("demo"),
	})}
}

// describe makes the cluster that awsCluster refers to, and waits until it is
// known: the reference is read as soon as the control plane is registered.
func describe(ctx *pulumi.Context) error {
	cluster, known := &pulumi.CustomResourceState{}, make(chan struct{})
	if err := ctx.RegisterResource("aws:eks/cluster:Cluster", "demo", pulumi.Map{}, cluster); err != nil {
		return err
	}
	cluster.URN().ApplyT(func(urn pulumi.URN) pulumi.URN { close(known); return urn })
	<-known
	return nil
}

func run(t *testing.T, args *ClusterArgs) (*recorder.Recorder, error) {
	t.Helper()
	r := &recorder.Recorder{Outputs: map[string]resource.PropertyMap{
		controlPlane: awsCluster(),
		"aws:eks/cluster:Cluster": resource.NewPropertyMapFromMap(map[string]any{
			"name": "demo", "arn": "arn:aws:eks:eu-central-1:111122223333:cluster/demo", "endpoint": "https://k8s.example", "version": "1.35",
			"certificateAuthority": map[string]any{"data": "Q0E="}, "kubernetesNetworkConfig": map[string]any{"serviceIpv4Cidr": "172.20.0.0/16"},
			"identities": []any{map[string]any{"oidcs": []any{map[string]any{"issuer": "https://oidc.example/id/ABC"}}}},
			"vpcConfig":  map[string]any{"clusterSecurityGroupId": "sg-1", "subnetIds": []any{"subnet-1"}},
		}),
	}}
	checked := make(chan struct{}, 1)
	err := r.Run("demo-core", func(ctx *pulumi.Context) error {
		if err := describe(ctx); err != nil {
			return err
		}
		c, err := NewCluster(ctx, "demo", args)
		if err != nil {
			return err
		}
		pulumi.All(c.Name, c.ARN, c.Version, c.Endpoint, c.CA, c.OIDCIssuer, c.SecurityGroupID).ApplyT(func(v []any) []any {
			want := []any{"demo", "arn:aws:eks:eu-central-1:111122223333:cluster/demo", "1.35", "https://k8s.example", "Q0E=", "https://oidc.example/id/ABC", "sg-1"}
			assert.Check(t, slices.Equal(v, want), "outputs are %v, expected %v", v, want)
			checked <- struct{}{}
			return v
		})
		return recorder.Probe(ctx, pulumi.Map{"endpoint": c.Endpoint})
	})
	assert.Check(t, err != nil || len(checked) > 0, "the outputs did not resolve")
	return r, err
}

func built(t *testing.T, change func(*ClusterArgs)) *recorder.Recorder {
	t.Helper()
	args := clusterArgs()
	if change != nil {
		change(args)
	}
	r, err := run(t, args)
	assert.NilError(t, err)
	return r
}

func TestClusterHasParentsAndUniqueNames(t *testing.T) {
	r := built(t, nil)
	problems := slices.DeleteFunc(r.Problems(), func(p string) bool {
		return strings.HasPrefix(p, "aws:eks/cluster:Cluster demo ") // the test's own
	})
	assert.Check(t, len(problems) == 0, "problems: %v", problems)
}

func TestControlPlane(t *testing.T) {
	r := built(t, nil)
	cluster := r.OfType(controlPlane)[0]
	cluster.Expect(t, map[string]string{
		"name": "demo", "version": "1.35", "authenticationMode": "API", "skipDefaultNodeGroup": "true", "useDefaultVpcCni": "true",
		"createOidcProvider": "false", "endpointPrivateAccess": "true", "endpointPublicAccess": "true",
		"publicAccessCidrs[0]": "192.0.2.0/24", "enabledClusterLogTypes[0]": "audit",
		"kubernetesServiceIpAddressRange": "172.20.0.0/16",
	})
	got := cluster.String("encryptionConfigKeyArn")
	assert.Check(t, strings.HasSuffix(got, "demo-secrets"), "encryption key %q", got)
	roles, ok := cluster.Value("instanceRoles")
	assert.Check(t, ok && len(roles.ArrayValue()) == 0, "instance roles are %v, expected none, so that the component makes none", roles)
	for _, before := range []string{"logGroup:LogGroup::demo-logs", "AmazonEKSClusterPolicy"} {
		assert.Check(t, cluster.WaitsFor(before), "the cluster does not wait for %s: %v", before, cluster.DependsOn)
	}
}

func TestProtect(t *testing.T) {
	for _, protect := range []bool{true, false} {
		r := built(t, func(a *ClusterArgs) { a.Protect = protect })
		for _, res := range r.All() {
			want := protect && res.Type == controlPlane
			assert.Check(t, res.Protect == want, "with protect %v, %s %s has %v", protect, res.Type, res.Name, res.Protect)
		}
	}
}

func TestKeyAndLogs(t *testing.T) {
	r := built(t, nil)
	r.OfType("aws:kms/key:Key")[0].Expect(t, map[string]string{"enableKeyRotation": "true", "deletionWindowInDays": "30"})
	r.OfType("aws:kms/alias:Alias")[0].Expect(t, map[string]string{"name": "alias/demo-secrets"})
	r.OfType("aws:cloudwatch/logGroup:LogGroup")[0].Expect(t, map[string]string{"name": "/aws/eks/demo/cluster", "retentionInDays": "90"})

	r = built(t, func(a *ClusterArgs) { a.LogKeyARN = "arn:aws:kms:eu-central-1:111122223333:key/2" })
	r.OfType("aws:cloudwatch/logGroup:LogGroup")[0].Expect(t, map[string]string{"kmsKeyId": "arn:aws:kms:eu-central-1:111122223333:key/2"})

	r = built(t, func(a *ClusterArgs) { a.KeyARN = "arn:aws:kms:eu-central-1:111122223333:key/1" })
	assert.Check(t, len(r.OfType("aws:kms/key:Key")) == 0, "a key was made beside the given one")
	r.OfType(controlPlane)[0].Expect(t, map[string]string{"encryptionConfigKeyArn": "arn:aws:kms:eu-central-1:111122223333:key/1"})
}

func TestNodes(t *testing.T) {
	r := built(t, nil)
	r.OfType("aws:ec2/launchTemplate:LaunchTemplate")[0].Expect(t, map[string]string{
		"metadataOptions.httpTokens": "required", "metadataOptions.httpPutResponseHopLimit": "1",
		"blockDeviceMappings[0].ebs.encrypted": "true", "blockDeviceMappings[0].ebs.volumeType": "gp3", "blockDeviceMappings[0].ebs.volumeSize": "50",
		`tagSpecifications[0].tags["tombolo:cluster"]`: "demo", "tagSpecifications[1].resourceType": "volume",
	})
	group := r.OfType("aws:eks/nodeGroup:NodeGroup")[0]
	group.Expect(t, map[string]string{
		"capacityType": "ON_DEMAND", "scalingConfig.desiredSize": "2", "taints[0].effect": "NO_SCHEDULE", "labels.pool": "default",
		"updateConfig.maxUnavailablePercentage": "33",
	})
	assert.Check(t, slices.Equal(group.IgnoreChanges, []string{"scalingConfig.desiredSize"}), "ignored changes are %v", group.IgnoreChanges)
	for _, before := range []string{"addon-vpc-cni", "addon-eks-pod-identity-agent", "AmazonEKSWorkerNodePolicy"} {
		assert.Check(t, slices.ContainsFunc(group.DependsOn, func(urn string) bool { return strings.Contains(urn, before) }), "the node group does not wait for %s", before)
	}
}

// TestAddonsThatNeedNodes: they are made after the nodes, and none after another.
func TestAddonsThatNeedNodes(t *testing.T) {
	r := built(t, func(a *ClusterArgs) { a.Addons = append(a.Addons, Addon{Name: "metrics-server"}) })
	for _, name := range []string{"coredns", "metrics-server"} {
		addon, ok := r.Named("aws:eks/addon:Addon", "demo-addon-"+name)
		assert.Assert(t, ok, name)
		after := strings.Join(addon.DependsOn, "\n")
		assert.Check(t, is.Contains(after, "aws:eks/nodeGroup:NodeGroup"), name)
		assert.Check(t, !strings.Contains(after, "aws:eks/addon:Addon"), "%s waits for another addon: %s", name, after)
	}
}

func TestSecurityGroupTags(t *testing.T) {
	r := built(t, nil)
	tag, ok := r.Named("aws:ec2/tag:Tag", "demo-security-group-tag-karpenter.sh/discovery")
	assert.Assert(t, ok, "no such tag among %v", r.OfType("aws:ec2/tag:Tag"))
	tag.Expect(t, map[string]string{"resourceId": "sg-1", "key": "karpenter.sh/discovery", "value": "demo"})
	r.Probed().ExpectAfter(t, "endpoint", tag.Name, "demo-addon-coredns")
}

// groupMade is the node group of clusterArgs as a run has made it.
func groupMade() *MadeGroup {
	return &MadeGroup{
		Name: "default-of-before", InstanceTypes: []string{"m7i.large"}, AMIType: "AL2023_x86_64_STANDARD", CapacityType: "ON_DEMAND",
		NodeRoleARN: "arn:aws:test:eu-central-1:111122223333:demo-node-role", SubnetIDs: []string{"subnet-3", "subnet-1", "subnet-2"},
		Min: 1, Max: 3, Live: &Scaling{Min: 1, Max: 3, Desired: 3},
	}
}

// A group keeps its name until EKS has to replace it; then it has one by which it can
// exist together with the group that it replaces.
func TestNodeGroupName(t *testing.T) {
	name := func(change func(*ClusterArgs, *NodeGroup)) string {
		r := built(t, func(a *ClusterArgs) {
			a.NodeGroups[0].Made = groupMade()
			change(a, &a.NodeGroups[0])
		})
		return r.OfType("aws:eks/nodeGroup:NodeGroup")[0].String("nodeGroupName")
	}
	seen := map[string]string{}
	for what, change := range map[string]func(*ClusterArgs, *NodeGroup){
		"nothing": func(*ClusterArgs, *NodeGroup) {},
		"sizes and labels": func(_ *ClusterArgs, g *NodeGroup) {
			g.Max, g.Labels, g.Taints, g.DiskGiB = 9, nil, nil, 80
		},
		"what is in the launch template": func(_ *ClusterArgs, g *NodeGroup) {
			g.MaxPods, g.Volume, g.SecurityGroupIDs, g.UserData, g.Image.Release = 60, Volume{Type: "io2", IOPS: 500}, []string{"sg-2"}, "#!/bin/sh", "1.35.3-20260715"
		},
	} {
		assert.Check(t, is.Equal(name(change), "default-of-before"), "the name with %s changed", what)
	}
	for what, change := range map[string]func(*ClusterArgs, *NodeGroup){
		"a new group":    func(_ *ClusterArgs, g *NodeGroup) { g.Made = nil },
		"spot":           func(_ *ClusterArgs, g *NodeGroup) { g.Spot = true },
		"instance types": func(_ *ClusterArgs, g *NodeGroup) { g.InstanceTypes = []string{"m7i.xlarge"} },
		"architecture":   func(_ *ClusterArgs, g *NodeGroup) { g.ARM64 = true },
		"another image":  func(_ *ClusterArgs, g *NodeGroup) { g.Image.Bottlerocket = true },
		"a driver":       func(_ *ClusterArgs, g *NodeGroup) { g.Image.NVIDIA = true },
		"its own image":  func(_ *ClusterArgs, g *NodeGroup) { g.Image.ID = "ami-1" },
		"its own subnet": func(_ *ClusterArgs, g *NodeGroup) { g.SubnetIDs = pulumi.ToStringArray([]string{"subnet-2"}) },
		"a subnet more": func(a *ClusterArgs, _ *NodeGroup) {
			a.SubnetIDs = pulumi.ToStringArray([]string{"subnet-1", "subnet-2", "subnet-3", "subnet-4"})
		},
		"a subnet less": func(a *ClusterArgs, _ *NodeGroup) {
			a.SubnetIDs = pulumi.ToStringArray([]string{"subnet-1", "subnet-2"})
		},
	} {
		got := name(change)
		assert.Check(t, strings.HasPrefix(got, "default-") && got != "default-of-before", "with %s the name is %s", what, got)
		assert.Check(t, seen[got] == "", "with %s the name is that with %s, %s", what, seen[got], got)
		seen[got] = what
	}
}

// In the preview of other subnets that do not exist yet, the name is unknown: nobody is
// told that the group stays.
func TestNodeGroupNameIsUnknownWithItsSubnets(t *testing.T) {
	g := clusterArgs().NodeGroups[0]
	g.Made = groupMade()
	named := make(chan string, 1)
	r := &recorder.Recorder{}
	assert.NilError(t, r.Run("demo-core", func(*pulumi.Context) error {
		unknown := pulumi.UnsafeUnknownOutput(nil).ApplyT(func(any) []string { return nil }).(pulumi.StringArrayOutput)
		g.nameInEKS(unknown, pulumi.String("arn").ToStringOutput()).ApplyT(func(name string) string { named <- name; return name })
		return nil
	}, recorder.Preview))
	assert.Check(t, is.Len(named, 0))
}

// The size of a group that exists is left alone until something of it changes, and then
// is what EKS has, within the bounds.
func TestNodeGroupSize(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(*NodeGroup)
		desired string
		ignored bool
	}{
		{"a new group", func(g *NodeGroup) { g.Made = nil }, "2", true},
		{"nothing", func(*NodeGroup) {}, "2", true},
		{"another size at creation", func(g *NodeGroup) { g.Desired = 1 }, "1", true},
		{"a group that is gone from EKS", func(g *NodeGroup) { g.Max, g.Made.Live = 9, nil }, "2", true},
		{"a higher maximum", func(g *NodeGroup) { g.Max = 9 }, "3", false},
		{"a higher minimum", func(g *NodeGroup) { g.Min, g.Desired, g.Max = 5, 5, 9 }, "5", false},
		{"a lower maximum", func(g *NodeGroup) { g.Max = 2 }, "2", false},
		{"a maximum that somebody raised by hand", func(g *NodeGroup) { g.Made.Live.Max, g.Made.Live.Desired = 9, 7 }, "3", false},
		{"a minimum that was raised by hand before the file", func(g *NodeGroup) {
			g.Min, g.Desired, g.Made.Live = 3, 3, &Scaling{Min: 3, Max: 3, Desired: 3}
		}, "3", false},
		{"a replacement", func(g *NodeGroup) { g.Spot = true }, "3", false},
		{"a replacement in other subnets", func(g *NodeGroup) { g.Made.MovesSubnets = true }, "3", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := built(t, func(a *ClusterArgs) {
				a.NodeGroups[0].Made = groupMade()
				test.change(&a.NodeGroups[0])
			})
			group := r.OfType("aws:eks/nodeGroup:NodeGroup")[0]
			assert.Check(t, is.Equal(group.String("scalingConfig.desiredSize"), test.desired))
			assert.Check(t, is.Equal(slices.Contains(group.IgnoreChanges, "scalingConfig.desiredSize"), test.ignored))
		})
	}
}

func TestControlPlaneAndNodesHaveTheirOwnSubnets(t *testing.T) {
	r := built(t, nil)
	r.OfType(controlPlane)[0].Expect(t, map[string]string{"subnetIds[0]": "subnet-1", "subnetIds[1]": "subnet-2", "subnetIds[2]": ""})
	r.OfType("aws:eks/nodeGroup:NodeGroup")[0].Expect(t, map[string]string{"subnetIds[2]": "subnet-3"})
}

func TestCNIPolicyIsWithTheServiceAccount(t *testing.T) {
	policies := func(r *recorder.Recorder, role string) (names []string) {
		for _, a := range r.OfType("aws:iam/rolePolicyAttachment:RolePolicyAttachment") {
			if strings.HasPrefix(a.Name, role) {
				names = append(names, a.String("policyArn"))
			}
		}
		return names
	}
	r := built(t, nil)
	if got := policies(r, "demo-node-"); slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, "CNI") }) {
		t.Errorf("nodes have %v", got)
	}
	assert.Check(t, is.Len(policies(r, "demo-cni-"), 1))
	r = built(t, func(a *ClusterArgs) { a.Addons = nil })
	if got := policies(r, "demo-node-"); !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, "CNI") }) {
		t.Errorf("without the addon, nodes have %v", got)
	}
}

func TestAddonRole(t *testing.T) {
	r := built(t, func(a *ClusterArgs) {
		a.Addons = []Addon{
			{Name: "vpc-cni", Role: &AddonRole{ARN: "arn:aws:iam::111122223333:role/cni"}},
			{Name: "coredns"},
			{Name: "aws-ebs-csi-driver", Role: &AddonRole{
				Name: "demo-eks-aws-ebs-csi-driver", Namespace: "kube-system", ServiceAccount: "ebs-csi-controller-sa",
				PolicyARNs: []string{"arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"},
				Statements: []identity.Statement{{Actions: []string{"kms:CreateGrant"}, Resources: []string{"arn:aws:kms:eu-central-1:111122223333:key/1"}}},
			}},
		}
	})
	role := func(addon string) string {
		made, _ := r.Named("aws:eks/addon:Addon", "demo-addon-"+addon)
		return made.String("serviceAccountRoleArn")
	}
	assert.Equal(t, role("vpc-cni"), "arn:aws:iam::111122223333:role/cni")
	assert.Equal(t, role("coredns"), "")
	made, _ := r.Named("aws:iam/role:Role", "demo-eks-aws-ebs-csi-driver-role")
	assert.Equal(t, made.String("name"), "demo-eks-aws-ebs-csi-driver")
	assert.Check(t, is.Contains(made.String("assumeRolePolicy"), `"system:serviceaccount:kube-system:ebs-csi-controller-sa"`))
	assert.Check(t, is.Contains(role("aws-ebs-csi-driver"), "demo-eks-aws-ebs-csi-driver"))
	attached, _ := r.Named("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "demo-eks-aws-ebs-csi-driver-AmazonEBSCSIDriverPolicy")
	assert.Equal(t, attached.String("policyArn"), "arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy")
	_, own := r.Named("aws:iam/role:Role", "demo-cni-role")
	assert.Check(t, !own, "the CNI was given a role, and has another one")
}

func TestAddonsAndAccess(t *testing.T) {
	r := built(t, nil)
	coredns, _ := r.Named("aws:eks/addon:Addon", "demo-addon-coredns")
	coredns.Expect(t, map[string]string{"addonVersion": "v1.12.3-eksbuild.1", "configurationValues": `{"replicaCount":2}`})
	assert.Check(t, coredns.WaitsFor("nodeGroup"), "coredns does not wait for nodes")
	r.OfType("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")[0].Expect(t, map[string]string{
		"policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy", "accessScope.type": "cluster",
		"principalArn": "arn:aws:iam::111122223333:role/ops",
	})
	r.OfType("aws:iam/openIdConnectProvider:OpenIdConnectProvider")[0].Expect(t, map[string]string{
		"url": "https://oidc.example/id/ABC", "clientIdLists[0]": "sts.amazonaws.com",
	})
}

func TestClusterValidate(t *testing.T) {
	recorder.Refuses(t, "demo", NewCluster, "cluster demo: ", clusterArgs, map[string]func(*ClusterArgs){
		"name, version and partition are required":                                              func(a *ClusterArgs) { a.Version = "" },
		"VPC and subnets are required":                                                          func(a *ClusterArgs) { a.VPCID = nil },
		"the API has neither a private nor a public endpoint; nodes could not join":             func(a *ClusterArgs) { a.PrivateEndpoint, a.PublicEndpoint = false, false },
		"a public endpoint needs CIDR blocks that may reach it; EKS would open it to the world": func(a *ClusterArgs) { a.PublicCIDRs = nil },
		"at least one node group is required":                                                   func(a *ClusterArgs) { a.NodeGroups = nil },
		`node group "default" is given twice`:                                                   func(a *ClusterArgs) { a.NodeGroups = append(a.NodeGroups, a.NodeGroups[0]) },
		`node group "default": 0 <= min <= desired <= max and max >= 1 do not hold for 1, 9, 3`: func(a *ClusterArgs) { a.NodeGroups[0].Desired = 9 },
	})
}

// The group that EKS makes is unknown before the cluster exists, and not empty.
func TestSecurityGroupOfAClusterToBeMade(t *testing.T) {
	r := &recorder.Recorder{Outputs: map[string]resource.PropertyMap{
		controlPlane: awsCluster(),
		"aws:eks/cluster:Cluster": resource.NewPropertyMapFromMap(map[string]any{
			"name": "demo", "vpcConfig": map[string]any{"subnetIds": []any{"subnet-1"}},
		}),
	}}
	named, grouped := make(chan string, 1), make(chan string, 1)
	err := r.Run("demo-core", func(ctx *pulumi.Context) error {
		if err := describe(ctx); err != nil {
			return err
		}
		c, err := NewCluster(ctx, "demo", clusterArgs())
		if err != nil {
			return err
		}
		c.Name.ApplyT(func(name string) string { named <- name; return name })
		c.SecurityGroupID.ApplyT(func(id string) string { grouped <- id; return id })
		return nil
	}, recorder.Preview)
	assert.NilError(t, err)
	assert.Check(t, len(named) == 1 && len(grouped) == 0,
		"the name is known %d times, the security group %d times, want once and never", len(named), len(grouped))
}
