package eks

import (
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// transformed is the control plane as the transform leaves it, and what of it is ignored.
func transformed(t *testing.T, args ClusterArgs) (props map[string]any, ignored []string) {
	t.Helper()
	b := &builder{args: &args}
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
