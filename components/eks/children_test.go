package eks

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
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
	if policies := r.OfType("aws:eks/accessPolicyAssociation:AccessPolicyAssociation"); len(policies) != 1 || policies[0].Name != "demo-creator" {
		t.Errorf("the policies are %v", policies)
	}
}
