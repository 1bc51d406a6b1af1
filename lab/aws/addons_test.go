package aws

import (
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/eks"
)

func TestAddonVersions(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct{ addon, kubernetes, byDefault, mostRecent string }{
		{"coredns", "1.32", "v1.11.4-eksbuild.22", "v1.11.4-eksbuild.24"},
		{"coredns", "1.34", "v1.12.3-eksbuild.1", "v1.12.4-eksbuild.1"},
		{"coredns", "1.35", "v1.12.4-eksbuild.1", "v1.13.2-eksbuild.4"},
		{"vpc-cni", "1.31", "v1.19.0-eksbuild.1", "v1.20.5-eksbuild.1"},
		{"vpc-cni", "1.34", "v1.20.1-eksbuild.3", "v1.20.5-eksbuild.1"},
		{"vpc-cni", "1.35", "v1.20.4-eksbuild.2", "v1.20.5-eksbuild.1"},
		{"kube-proxy", "1.35", "v1.35.0-eksbuild.2", "v1.35.0-eksbuild.2"},
	} {
		for mostRecent, want := range map[bool]string{false: test.byDefault, true: test.mostRecent} {
			got, err := w.Invoke("aws:eks/getAddonVersion:getAddonVersion", props{
				"addonName": test.addon, "kubernetesVersion": test.kubernetes, "mostRecent": mostRecent,
			})
			assert.NilError(t, err)
			assert.Check(t, is.Equal(got["version"], want), "%s for %s, most recent: %t", test.addon, test.kubernetes, mostRecent)
		}
	}
	for _, args := range []props{{"addonName": "nothing", "kubernetesVersion": "1.34"}, {"addonName": "coredns", "kubernetesVersion": "1.99"}} {
		w.unanswered("aws:eks/getAddonVersion:getAddonVersion", args, "empty result")
	}
}

// TestAddonFollows: an addon made without a version has the default one. To write that
// down is no change; another version is an update in place, that its outputs show.
func TestAddonFollows(t *testing.T) {
	w := newWorld(t)
	addon := w.Make(eks.AddonType, "cni", props{"clusterName": "demo", "addonName": "vpc-cni"})
	version := func() any { _, out := w.read(addon); return out["addonVersion"] }
	assert.Check(t, is.Equal(version(), "v1.20.1-eksbuild.3"))

	same := w.Diff(addon, props{"addonVersion": "v1.20.1-eksbuild.3"})
	assert.Check(t, is.Equal(same.Changes, pulumirpc.DiffResponse_DIFF_NONE), "%v", same)
	other := w.Diff(addon, props{"addonVersion": "v1.20.4-eksbuild.2"})
	assert.Check(t, is.DeepEqual(other.Diffs, []string{"addonVersion"}))
	assert.Check(t, is.Len(other.Replaces, 0))

	assert.NilError(t, w.Update(addon, props{"addonVersion": "v1.20.4-eksbuild.2"}))
	assert.Check(t, is.Equal(version(), "v1.20.4-eksbuild.2"))
}
