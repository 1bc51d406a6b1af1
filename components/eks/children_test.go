package eks

import (
	"encoding/base64"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

// transformed is the control plane as the transform leaves it, and what of it is ignored.
func transformed(t *testing.T, args ClusterArgs) (props map[string]any, ignored []string) {
	t.Helper()
	return transformedBy(t, &builder{args: &args})
}

func transformedBy(t *testing.T, b *builder) (props map[string]any, ignored []string) {
	t.Helper()
	given := pulumi.Map{"version": pulumi.String("1.35"), "accessConfig": pulumi.Map{
		"authenticationMode": pulumi.String("API"), "bootstrapClusterCreatorAdminPermissions": pulumi.Bool(true),
	}}
	out := b.transform(t.Context(), &pulumi.ResourceTransformArgs{
		Custom: true, Type: controlPlaneType, Props: given, Opts: pulumi.ResourceOptions{IgnoreChanges: []string{creatorPermissions}, Protect: true},
	})
	found, err := internals.UnsafeAwaitOutput(t.Context(), out.Props.ToMapOutput())
	assert.NilError(t, err)
	assert.Check(t, out.Opts.Protect)
	assert.Check(t, is.Equal(given["version"], pulumi.String("1.35")))
	return found.Value.(map[string]any), out.Opts.IgnoreChanges
}

func TestTransform(t *testing.T) {
	made, ignored := transformed(t, ClusterArgs{})
	assert.Check(t, is.Equal(made["version"], "1.35"))
	_, shift := made["zonalShiftConfig"]
	assert.Check(t, !shift, "the file does not say it")
	// A live cluster keeps what it has of these, and a new one gets what is here.
	assert.DeepEqual(t, ignored, []string{creatorPermissions, upgradePolicy})

	made, ignored = transformed(t, ClusterArgs{Support: extendedSupport, ZonalShift: new(true)})
	assert.DeepEqual(t, ignored, []string{creatorPermissions})
	assert.Check(t, made["zonalShiftConfig"] != nil && made["upgradePolicy"] != nil)
}

// TestAutoModeIsWhole: EKS takes compute, load balancing and block storage together, and no
// addons of its own beside them.
func TestAutoModeIsWhole(t *testing.T) {
	r := built(t, func(a *ClusterArgs) { a.AutoMode, a.NodeGroups, a.Addons = true, nil, nil })
	attached := func(role string) (names []string) {
		for _, a := range r.OfType("aws:iam/rolePolicyAttachment:RolePolicyAttachment") {
			if name, of := strings.CutPrefix(a.Name, "demo-"+role+"-"); of {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	assert.Check(t, is.DeepEqual(attached("cluster"), []string{
		"AmazonEKSBlockStoragePolicy", "AmazonEKSClusterPolicy", "AmazonEKSComputePolicy", "AmazonEKSLoadBalancingPolicy", "AmazonEKSNetworkingPolicy",
	}))
	assert.Check(t, is.DeepEqual(attached("node"), []string{"AmazonEC2ContainerRegistryPullOnly", "AmazonEKSWorkerNodeMinimalPolicy"}))
	for _, role := range r.OfType("aws:iam/role:Role") {
		tags := strings.Contains(role.String("assumeRolePolicy"), "sts:TagSession")
		assert.Check(t, is.Equal(tags, role.Name == "demo-cluster-role"), role.Name)
	}
	assert.Check(t, is.Len(r.OfType("aws:eks/nodeGroup:NodeGroup"), 0))

	args := clusterArgs()
	args.AutoMode = true
	_, err := run(t, args)
	assert.Check(t, is.ErrorContains(err, "EKS Auto Mode makes the nodes, and there are node groups"))
}

// TestGivenRoles: of roles that others own nothing is made; the control plane's is read.
func TestGivenRoles(t *testing.T) {
	const cluster, nodes = "arn:aws:iam::111122223333:role/team/eks", "arn:aws:iam::111122223333:role/team/nodes"
	r := built(t, func(a *ClusterArgs) { a.ClusterRoleARN, a.NodeRoleARN = cluster, nodes })
	for _, role := range r.OfType("aws:iam/role:Role") {
		assert.Check(t, role.Name == "demo-cni" || strings.HasSuffix(role.Name, "-cni-role") || role.Name == "demo-"+GivenClusterRole, "the role %s", role.Name)
	}
	for _, g := range r.OfType("aws:eks/nodeGroup:NodeGroup") {
		g.Expect(t, map[string]string{"nodeRoleArn": nodes})
	}
	for _, a := range r.OfType("aws:iam/rolePolicyAttachment:RolePolicyAttachment") {
		assert.Check(t, !strings.HasPrefix(a.Name, "demo-cluster-") && !strings.HasPrefix(a.Name, "demo-node-"), a.Name)
	}
}

// TestTransformsAutoMode: what the component of EKS has no argument for.
func TestTransformsAutoMode(t *testing.T) {
	role := pulumi.String("arn:aws:iam::111122223333:role/demo-node").ToStringOutput()
	props, _ := transformedBy(t, &builder{args: &ClusterArgs{AutoMode: true, ServiceCIDR: "172.20.0.0/16"}, nodeRoleARN: role})
	assert.Check(t, is.Equal(props["bootstrapSelfManagedAddons"], false))
	for _, key := range []string{"computeConfig", "kubernetesNetworkConfig", "storageConfig"} {
		assert.Check(t, props[key] != nil, key)
	}
	props, _ = transformed(t, ClusterArgs{})
	for _, key := range []string{"computeConfig", "kubernetesNetworkConfig", "storageConfig", "bootstrapSelfManagedAddons"} {
		assert.Check(t, props[key] == nil, key)
	}
}

// TestTransformsTheControlPlaneAlone: the component has other children.
func TestTransformsTheControlPlaneAlone(t *testing.T) {
	b := &builder{args: clusterArgs()}
	assert.Check(t, b.transform(t.Context(), &pulumi.ResourceTransformArgs{Type: "aws:ec2/securityGroup:SecurityGroup"}) == nil)
}

func TestCreatorHasOneEntry(t *testing.T) {
	const entry = "aws:eks/accessEntry:AccessEntry"
	r := built(t, func(a *ClusterArgs) { a.Creator = &Creator{"arn:aws:iam::111122223333:role/ci/maker"} })
	var names []string
	for _, e := range r.OfType(entry) {
		names = append(names, e.Name+" "+e.String("principalArn"))
	}
	slices.Sort(names)
	assert.DeepEqual(t, names, []string{
		"demo-admin-ops arn:aws:iam::111122223333:role/ops", "demo-creator arn:aws:iam::111122223333:role/ci/maker",
	})
	r = built(t, func(a *ClusterArgs) { a.Creator = &Creator{a.Admins[0].PrincipalARN} })
	assert.Check(t, is.Len(r.OfType(entry), 1))
	policies := r.OfType("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
	assert.Check(t, len(policies) == 1 && policies[0].Name == "demo-creator", "the policies are %v", policies)
}

const (
	theirIssuer   = "https://oidc.example/id/ABC"
	theirProvider = "arn:aws:iam::111122223333:oidc-provider/oidc.example/id/ABC"
)

// account is what AWS says of an existing cluster.
type account struct {
	cluster         map[string]any
	provider, agent bool
	groups          []any
}

func (a account) recorder() *recorder.Recorder {
	cluster := map[string]any{
		"name": "main", "arn": "arn:aws:eks:eu-central-1:111122223333:cluster/main", "endpoint": "https://k8s.example", "version": "1.34", "status": "ACTIVE",
		"certificateAuthorities": []any{map[string]any{"data": "Q0E="}},
		"identities":             []any{map[string]any{"oidcs": []any{map[string]any{"issuer": theirIssuer}}}},
		"accessConfigs":          []any{map[string]any{"authenticationMode": "API_AND_CONFIG_MAP"}},
		"upgradePolicies":        []any{map[string]any{"supportType": "EXTENDED"}},
		"vpcConfig":              map[string]any{"clusterSecurityGroupId": "sg-1", "vpcId": "vpc-1", "subnetIds": []any{"subnet-2", "subnet-1"}},
		"tags":                   map[string]any{"team": "shop"},
	}
	maps.Copy(cluster, a.cluster)
	found := func(there bool, as map[string]any) func(resource.PropertyMap) (resource.PropertyMap, error) {
		return func(resource.PropertyMap) (resource.PropertyMap, error) {
			if !there {
				return nil, errors.New("couldn't find resource")
			}
			return resource.NewPropertyMapFromMap(as), nil
		}
	}
	return &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"aws:eks/getCluster:getCluster":                             found(true, cluster),
		"aws:iam/getOpenIdConnectProvider:getOpenIdConnectProvider": found(a.provider, map[string]any{"arn": theirProvider}),
		"aws:eks/getAddon:getAddon":                                 found(a.agent, map[string]any{"addonName": agentAddon}),
		"aws:eks/getNodeGroups:getNodeGroups":                       found(true, map[string]any{"names": a.groups}),
		"aws:eks/getNodeGroup:getNodeGroup": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			return resource.PropertyMap{"nodeRoleArn": resource.NewProperty("role of " + args["nodeGroupName"].StringValue())}, nil
		},
	}}
}

// adopt runs NewExisting, and returns its outputs.
func (a account) adopt(t *testing.T, args *ExistingArgs) (*recorder.Recorder, *Existing, error) {
	t.Helper()
	r := a.recorder()
	var found *Existing
	err := r.Run("shop-core", func(ctx *pulumi.Context) error {
		var err error
		if found, err = NewExisting(ctx, "shop", args); err != nil {
			return err
		}
		for f, output := range reflect.ValueOf(found.Cluster).Elem().Fields() {
			assert.Check(t, f.Type != reflect.TypeFor[pulumi.StringOutput]() || !output.IsZero(), "an existing cluster has no %s, which core exports", f.Name)
		}
		return recorder.Probe(ctx, pulumi.Map{
			"name": found.Name, "arn": found.ARN, "version": found.Cluster.Version, "endpoint": found.Endpoint, "ca": found.CA, "issuer": found.OIDCIssuer,
			"provider": found.OIDCProviderARN, "group": found.SecurityGroupID, "role": found.NodeRoleARN,
		})
	})
	return r, found, err
}

// custom are the types of what a program makes in the cloud.
func custom(r *recorder.Recorder) []string {
	var out []string
	for _, res := range r.All() {
		if res.Custom && res.Type != "test:index:Probe" {
			out = append(out, res.Type+" "+res.Name)
		}
	}
	slices.Sort(out)
	return out
}

func TestExistingClusterIsOnlyRead(t *testing.T) {
	r, found, err := account{provider: true, groups: []any{"b", "a"}}.adopt(t, &ExistingArgs{Name: "main", Partition: "aws", NeedsOIDC: true})
	assert.NilError(t, err)
	assert.Check(t, is.Len(custom(r), 0))
	assert.Check(t, is.Len(r.Problems(), 0))
	r.Probed().Expect(t, map[string]string{
		"name": "main", "arn": "arn:aws:eks:eu-central-1:111122223333:cluster/main", "version": "1.34", "endpoint": "https://k8s.example", "ca": "Q0E=",
		"issuer": theirIssuer, "provider": theirProvider, "group": "sg-1", "role": "role of a",
	})
	assert.Check(t, is.Equal(found.Version+" "+found.Support+" "+found.VPCID, "1.34 EXTENDED vpc-1"))
	assert.Check(t, is.DeepEqual(found.SubnetIDs, []string{"subnet-1", "subnet-2"}))
}

// TestExistingClusterGetsWhatIsAskedFor: entries and a provider, named as for a cluster of
// our own, and nothing else.
func TestExistingClusterGetsWhatIsAskedFor(t *testing.T) {
	ops := []Principal{{Name: "ops", PrincipalARN: "arn:aws:iam::111122223333:role/ops"}}
	ci := []Principal{{Name: "ci", PrincipalARN: "arn:aws:iam::111122223333:role/ci"}}
	devs := []Access{{Name: "devs", PrincipalARN: "arn:aws:iam::111122223333:role/devs", Groups: []string{"devs"}}}
	r, _, err := account{}.adopt(t, &ExistingArgs{Name: "main", Partition: "aws", CreateOIDC: true, NeedsOIDC: true, Admins: ops, Previewers: ci, Access: devs})
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(custom(r), []string{
		"aws:eks/accessEntry:AccessEntry shop-access-devs", "aws:eks/accessEntry:AccessEntry shop-admin-ops", "aws:eks/accessEntry:AccessEntry shop-previewer-ci",
		"aws:eks/accessPolicyAssociation:AccessPolicyAssociation shop-admin-ops",
		"aws:iam/openIdConnectProvider:OpenIdConnectProvider shop-oidc",
	}))
	entry, _ := r.Named("aws:eks/accessEntry:AccessEntry", "shop-admin-ops")
	entry.Expect(t, map[string]string{"clusterName": "main", "principalArn": ops[0].PrincipalARN})
	provider, _ := r.Named("aws:iam/openIdConnectProvider:OpenIdConnectProvider", "shop-oidc")
	provider.Expect(t, map[string]string{"url": theirIssuer, "clientIdLists[0]": "sts.amazonaws.com"})
	r.Probed().ExpectAfter(t, "endpoint", "shop-access-devs", "shop-admin-ops", "shop-previewer-ci")

	// A provider that an earlier run made stays, though the account has it now.
	r, _, err = account{provider: true}.adopt(t, &ExistingArgs{Name: "main", Partition: "aws", CreateOIDC: true, MadeOIDC: true})
	assert.NilError(t, err)
	assert.Check(t, is.Len(custom(r), 1))
	// Nobody needs it: it is not looked for.
	_, _, err = account{}.adopt(t, &ExistingArgs{Name: "main", Partition: "aws"})
	assert.NilError(t, err)
}

func TestExistingClusterThatWillNotDo(t *testing.T) {
	ops := []Principal{{Name: "ops", PrincipalARN: "arn:aws:iam::111122223333:role/ops"}}
	configMap := map[string]any{"accessConfigs": []any{map[string]any{"authenticationMode": "CONFIG_MAP"}}}
	for _, test := range []struct {
		account account
		args    ExistingArgs
		want    string
	}{
		{args: ExistingArgs{Partition: "aws"}, want: "name and partition are required"},
		{account: account{cluster: map[string]any{"status": "DELETING"}}, want: "it is DELETING: wait until it is ACTIVE"},
		{account: account{cluster: map[string]any{"tags": map[string]any{"tombolo:owner": "abc"}}}, want: "it is a cluster that Tombolo made (tombolo:owner is abc): use its own cluster file and backend"},
		{account: account{cluster: map[string]any{"identities": []any{}}}, want: "without OIDC issuer"},
		{account: account{cluster: configMap}, args: ExistingArgs{Admins: ops, Entries: []string{"the addon karpenter"}}, want: "its authentication mode is CONFIG_MAP, and the addon karpenter and kubernetes.admins needs access entries"},
		{account: account{cluster: map[string]any{"accessConfigs": []any{}}}, args: ExistingArgs{Previewers: ops}, want: "kubernetes.previewers needs access entries"},
		{args: ExistingArgs{PodIdentity: true}, want: "have the cluster's owner add the addon, or use irsa"},
		{args: ExistingArgs{NeedsOIDC: true}, want: "if the account has none, set kubernetes.existing.createOidcProvider: true"},
		{account: account{provider: true}, args: ExistingArgs{CreateOIDC: true}, want: "has the IAM OIDC provider " + theirProvider + " of its issuer already"},
	} {
		if test.args.Partition == "" {
			test.args.Name, test.args.Partition = "main", "aws"
		}
		r, _, err := test.account.adopt(t, &test.args)
		assert.Check(t, is.ErrorContains(err, test.want))
		assert.Check(t, is.Len(custom(r), 0))
	}
	// The agent is part of EKS Auto Mode; and who needs no entries needs no mode for them.
	auto := map[string]any{"computeConfigs": []any{map[string]any{"enabled": true, "nodePools": []any{}, "nodeRoleArn": "role of auto"}}}
	r, _, err := account{cluster: auto}.adopt(t, &ExistingArgs{Name: "main", Partition: "aws", PodIdentity: true})
	assert.NilError(t, err)
	r.Probed().Expect(t, map[string]string{"role": "role of auto"})
	_, _, err = account{cluster: configMap, agent: true}.adopt(t, &ExistingArgs{Name: "main", Partition: "aws", PodIdentity: true})
	assert.NilError(t, err)
}

// nodesBuilt are the launch template and the group of a changed node group.
func nodesBuilt(t *testing.T, change func(*NodeGroup)) (template, group recorder.Resource) {
	t.Helper()
	r := built(t, func(a *ClusterArgs) { change(&a.NodeGroups[0]) })
	return r.OfType("aws:ec2/launchTemplate:LaunchTemplate")[0], r.OfType("aws:eks/nodeGroup:NodeGroup")[0]
}

func decoded(t *testing.T, template recorder.Resource) string {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(template.String("userData"))
	assert.NilError(t, err)
	return string(data)
}

// TestTemplateSaysNoMoreThanItMust: what a group does not ask for stays EKS's to decide, and
// no node of an older group is rolled by it.
func TestTemplateSaysNoMoreThanItMust(t *testing.T) {
	template, group := nodesBuilt(t, func(*NodeGroup) {})
	for _, key := range []string{"userData", "imageId", "vpcSecurityGroupIds", "blockDeviceMappings[0].ebs.iops", "blockDeviceMappings[0].ebs.throughput", "blockDeviceMappings[0].ebs.kmsKeyId", "blockDeviceMappings[1]"} {
		_, given := template.Value(key)
		assert.Check(t, !given, "%s is given", key)
	}
	for _, key := range []string{"releaseVersion", "forceUpdateVersion"} {
		_, given := group.Value(key)
		assert.Check(t, !given, "%s is given", key)
	}
	group.Expect(t, map[string]string{"amiType": "AL2023_x86_64_STANDARD", "version": "1.35"})
}

func TestAMIType(t *testing.T) {
	for want, g := range map[string]NodeGroup{
		"AL2023_x86_64_STANDARD":     {},
		"AL2023_ARM_64_STANDARD":     {ARM64: true},
		"AL2023_x86_64_NVIDIA":       {Image: Image{NVIDIA: true}},
		"AL2023_ARM_64_NVIDIA":       {Image: Image{NVIDIA: true}, ARM64: true},
		"BOTTLEROCKET_x86_64":        {Image: Image{Bottlerocket: true}},
		"BOTTLEROCKET_ARM_64":        {Image: Image{Bottlerocket: true}, ARM64: true},
		"BOTTLEROCKET_x86_64_NVIDIA": {Image: Image{Bottlerocket: true, NVIDIA: true}},
		"BOTTLEROCKET_ARM_64_NVIDIA": {Image: Image{Bottlerocket: true, NVIDIA: true}, ARM64: true},
		"CUSTOM":                     {Image: Image{Bottlerocket: true, ID: "ami-1"}},
	} {
		assert.Check(t, is.Equal(g.amiType(), want))
	}
}

// TestBottlerocketWritesOnItsSecondVolume: the size and the speed go to the data.
func TestBottlerocketWritesOnItsSecondVolume(t *testing.T) {
	const key = "arn:aws:kms:eu-central-1:111122223333:key/1"
	template, group := nodesBuilt(t, func(g *NodeGroup) {
		g.Image, g.MaxPods, g.DiskGiB = Image{Bottlerocket: true, Release: "1.50.0-1a2b3c4d"}, 60, 80
		g.Volume = Volume{Type: "gp3", IOPS: 6000, Throughput: 500, KeyARN: key}
	})
	template.Expect(t, map[string]string{
		"blockDeviceMappings[0].deviceName": "/dev/xvda", "blockDeviceMappings[0].ebs.encrypted": "true", "blockDeviceMappings[0].ebs.kmsKeyId": key,
		"blockDeviceMappings[1].deviceName": "/dev/xvdb", "blockDeviceMappings[1].ebs.encrypted": "true", "blockDeviceMappings[1].ebs.kmsKeyId": key,
		"blockDeviceMappings[1].ebs.volumeSize": "80", "blockDeviceMappings[1].ebs.iops": "6000", "blockDeviceMappings[1].ebs.throughput": "500",
	})
	for _, left := range []string{"volumeSize", "iops", "throughput"} {
		_, given := template.Value("blockDeviceMappings[0].ebs." + left)
		assert.Check(t, !given, "the system's volume is given its %s", left)
	}
	assert.Check(t, is.Contains(decoded(t, template), "max-pods = 60"))
	group.Expect(t, map[string]string{"amiType": "BOTTLEROCKET_x86_64", "releaseVersion": "1.50.0-1a2b3c4d"})
}

// TestImageOfOnesOwn joins by what the component writes, and EKS is told of no type.
func TestImageOfOnesOwn(t *testing.T) {
	template, group := nodesBuilt(t, func(g *NodeGroup) { g.Image.ID, g.UserData = "ami-0123456789abcdef0", "#!/bin/sh\necho hello" })
	assert.Equal(t, template.String("imageId"), "ami-0123456789abcdef0")
	for _, want := range []string{"name: demo", "apiServerEndpoint: https://k8s.example", "certificateAuthority: Q0E=", "cidr: 172.20.0.0/16", "echo hello"} {
		assert.Check(t, is.Contains(decoded(t, template), want))
	}
	for _, key := range []string{"amiType", "version", "releaseVersion"} {
		_, given := group.Value(key)
		assert.Check(t, !given, "%s is given", key)
	}
}

// TestFurtherSecurityGroups: EKS adds the cluster's to a template without any only.
func TestFurtherSecurityGroups(t *testing.T) {
	template, _ := nodesBuilt(t, func(g *NodeGroup) { g.SecurityGroupIDs = []string{"sg-2"} })
	template.Expect(t, map[string]string{"vpcSecurityGroupIds[0]": "sg-1", "vpcSecurityGroupIds[1]": "sg-2"})
}

func TestPlaceAndUpdateOfAGroup(t *testing.T) {
	_, group := nodesBuilt(t, func(g *NodeGroup) {
		g.SubnetIDs, g.Update = pulumi.ToStringArray([]string{"subnet-2"}), Update{MaxUnavailable: 2, Force: true}
	})
	group.Expect(t, map[string]string{"subnetIds[0]": "subnet-2", "subnetIds[1]": "", "updateConfig.maxUnavailable": "2", "updateConfig.maxUnavailablePercentage": "", "forceUpdateVersion": "true"})
}

// TestUserDataIsRefused before anything is made.
func TestUserDataIsRefused(t *testing.T) {
	args := clusterArgs()
	args.NodeGroups[0].UserData = "#!/bin/sh\n" + strings.Repeat("x", 17*1024)
	_, err := run(t, args)
	assert.Check(t, is.ErrorContains(err, "user data of node group default: has "))
}
