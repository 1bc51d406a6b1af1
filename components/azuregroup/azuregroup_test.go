package azuregroup

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

// TestGroup: the name is known before the group is there, and waits for it.
func TestGroup(t *testing.T) {
	r := &recorder.Recorder{Unborn: true}
	args := &GroupArgs{Name: "demo", Location: "germanywestcentral", Tags: map[string]string{"tombolo:cluster": "demo"}, Protect: true}
	r.Sound(t, r.Run("demo-core", recorder.Probing("demo", NewGroup, args, func(g *Group) pulumi.Map {
		return pulumi.Map{"name": g.Name}
	}), recorder.Preview))
	r.Probed().Expect(t, map[string]string{"name": "demo"})
	r.Probed().ExpectAfter(t, "name", "demo-group")
	made := r.OfType("azure-native:resources:ResourceGroup")[0]
	made.Expect(t, map[string]string{"resourceGroupName": "demo", "location": "germanywestcentral", `tags["tombolo:cluster"]`: "demo"})
	assert.Check(t, made.Protect)
}

func TestGroupRefuses(t *testing.T) {
	for _, args := range []*GroupArgs{{Name: "demo"}, {Location: "germanywestcentral"}} {
		_, err := recorder.Make("demo-core", "demo", NewGroup, args)
		assert.Check(t, is.ErrorContains(err, "resource group demo: name and location are required"))
	}
}
