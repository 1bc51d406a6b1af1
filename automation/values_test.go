package automation

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/backend"
	"tombolo/config"
)

// dataStack is a stack of another project, with these outputs.
func dataStack(b *bench, outputs map[string]any) {
	b.cli.states["organization/data/prod"] = apitype.DeploymentV3{Resources: []apitype.ResourceV3{{
		URN: "urn:pulumi:prod::data::pulumi:pulumi:Stack::data-prod", Type: backend.RootType, Outputs: outputs,
	}}}
}

func readsData() *config.Cluster {
	c := demo()
	c.Values = map[string]config.Value{"host": {FromStack: "data/prod", Output: "db.host"}, "zone": {FromSSM: "/shop/zone"}}
	return c
}

// TestUpRefusesValuesThatAreNotThere: before core is made.
func TestUpRefusesValuesThatAreNotThere(t *testing.T) {
	b := newBench(t)
	secret := map[string]any{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:abc"}
	for _, tc := range []struct {
		outputs map[string]any
		want    string
	}{
		{nil, "there is no stack organization/data/prod in this state backend; deploy it first, or correct fromStack"},
		{map[string]any{"queue": "q"}, "stack data/prod has no output db.host; deploy it with that output"},
		{map[string]any{"db": secret}, "output db.host of stack data/prod is secret, or holds a secret"},
		{map[string]any{"db": map[string]any{"host": []any{"a"}}}, "is a list, and a key of the infra ConfigMap holds one text"},
	} {
		if tc.outputs != nil {
			dataStack(b, tc.outputs)
		}
		_, err := b.Up(t.Context(), readsData(), UpOptions{})
		assert.Check(t, is.ErrorContains(err, "up demo: read the values of other stacks and sources: "))
		assert.Check(t, is.ErrorContains(err, "values.host: "))
		assert.Check(t, is.ErrorContains(err, tc.want))
		assert.Check(t, is.ErrorContains(err, "nothing was started"))
	}
	assert.Check(t, is.Len(b.cli.outputs("demo-core"), 0), "core was made")
	dataStack(b, map[string]any{"db": map[string]any{"host": "a"}})
	b.mustUp(t, readsData(), UpOptions{})
}

// TestPreviewAsideIsToldOfStacks: a backend that is thrown away does not have them.
func TestPreviewAsideIsToldOfStacks(t *testing.T) {
	b := newBench(t)
	dataStack(b, map[string]any{"db": map[string]any{"host": "a"}, "key": map[string]any{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:abc"}})
	b.mustPreview(t, readsData(), PreviewOptions{})
	assert.Check(t, is.DeepEqual(b.toldStacks, map[string]map[string]any{
		"organization/data/prod": {"db": map[string]any{"host": "a"}, "key": "[secret]"},
	}))
	b.mustUp(t, readsData(), UpOptions{})
	b.mustPreview(t, readsData(), PreviewOptions{})
	assert.Check(t, b.toldStacks == nil, "a stack that exists reads the others itself")
}
