package programs

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/stacks"
)

// entries are the access entries that core makes: principals by the resource's name.
func entries(t *testing.T, c *config.Cluster, had map[string]any) map[string]string {
	t.Helper()
	r := account(c.Cloud.Account)
	r.Invokes[recorder.ReadResources] = func(resource.PropertyMap) (resource.PropertyMap, error) {
		return resource.NewPropertyMapFromMap(map[string]any{"outputs": had}), nil
	}
	assert.NilError(t, run(t, r, c, stacks.Core, Options{}, recorder.Preview))
	assert.Check(t, is.Len(r.Problems(), 0))
	out := map[string]string{}
	for _, entry := range r.OfType("aws:eks/accessEntry:AccessEntry") {
		if entry.String("type") == "STANDARD" {
			out[entry.Name] = entry.String("principalArn")
		}
	}
	return out
}

func TestCreatorHasAnEntry(t *testing.T) {
	c := load(t, "full")
	c.Addons = nil
	c.Kubernetes.Previewers = nil
	c.Kubernetes.Admins = []config.Principal{{Name: "platform", PrincipalARN: "arn:aws:iam::111122223333:role/platform"}}
	const platform = "arn:aws:iam::111122223333:role/platform"
	controlPlane := func(byEKS bool) map[string]any {
		return map[string]any{"type": "aws:eks/cluster:Cluster", "outputs": map[string]any{
			"accessConfig": map[string]any{"bootstrapClusterCreatorAdminPermissions": byEKS},
		}}
	}
	madeBy := func(principal string) map[string]any {
		return map[string]any{
			"urn:pulumi:s::p::aws:eks/cluster:Cluster::full": controlPlane(false),
			"urn:pulumi:s::p::aws:eks/accessEntry:AccessEntry::full-creator": map[string]any{
				"type": "aws:eks/accessEntry:AccessEntry", "outputs": map[string]any{"principalArn": principal},
			},
		}
	}
	for name, test := range map[string]struct {
		had  map[string]any
		want map[string]string
	}{
		// Who previews a cluster that is not made may be another one than who makes it, and
		// the plan is the same for both.
		"a new cluster":          {nil, map[string]string{"full-creator": "", "full-admin-platform": platform}},
		"made by another caller": {madeBy("arn:other"), map[string]string{"full-creator": "arn:other", "full-admin-platform": platform}},
		"made by an admin":       {madeBy(platform), map[string]string{"full-creator": platform}},
		"made by an older core": {
			map[string]any{"urn:pulumi:s::p::aws:eks/cluster:Cluster::full": controlPlane(true)},
			map[string]string{"full-admin-platform": platform},
		},
	} {
		t.Run(name, func(t *testing.T) { assert.DeepEqual(t, entries(t, c, test.had), test.want) })
	}
}
