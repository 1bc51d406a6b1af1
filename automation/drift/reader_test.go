package drift

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"
)

const (
	vpcType = "aws:ec2/vpc:Vpc"
	vpcURN  = "urn:pulumi:demo-core::tombolo::tombolo:network:Network$aws:ec2/vpc:Vpc::demo"
)

// refreshed is the end of a resource's refresh.
func refreshed(op apitype.OpType, typ string, old, now *apitype.StepEventStateMetadata, paths ...string) events.EngineEvent {
	diff := map[string]apitype.PropertyDiff{}
	for _, path := range paths {
		diff[path] = apitype.PropertyDiff{Kind: apitype.DiffUpdate}
	}
	return events.EngineEvent{EngineEvent: apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{
		Planning: true, Metadata: apitype.StepEventMetadata{
			Op: op, Type: typ, URN: vpcURN, Old: old, New: now, DetailedDiff: diff,
		},
	}}}
}

func custom(inputs map[string]any) *apitype.StepEventStateMetadata {
	return &apitype.StepEventStateMetadata{Custom: true, ID: "vpc-1", Inputs: inputs, Outputs: inputs}
}

func read(all ...events.EngineEvent) *Reader {
	r := &Reader{Stack: "demo-core", SetByOthers: func(_, property string) bool { return property == "size" }}
	for _, e := range all {
		r.Read(e)
	}
	return r
}

func TestReadChanged(t *testing.T) {
	old := custom(map[string]any{"cidrBlock": "10.0.0.0/16", "tags": map[string]any{"team": "a", "a.b": "x"}, "ports": []any{1.0, 2.0}})
	now := custom(map[string]any{"cidrBlock": "10.0.0.0/16", "tags": map[string]any{"team": "b", "new": "y"}, "ports": []any{1.0, 3.0}})
	r := read(refreshed(apitype.OpUpdate, vpcType, old, now, "tags.team", `tags["a.b"]`, "tags.new", "ports[1]", "__defaults"))
	want := []Difference{{
		Class: Changed, Stack: "demo-core", Type: vpcType, Name: "demo", URN: vpcURN, ID: "vpc-1",
		Properties: []Property{
			{Path: "ports[1]", Expected: 2.0, Actual: 3.0},
			{Path: "tags.new", Actual: "y"},
			{Path: "tags.team", Expected: "a", Actual: "b"},
			{Path: `tags["a.b"]`, Expected: "x"},
		},
	}}
	assert.DeepEqual(t, r.Differences(), want)
}

// What others set is no difference, and hides none.
func TestReadWhatOthersSet(t *testing.T) {
	old, now := custom(map[string]any{"size": 1.0, "max": 2.0}), custom(map[string]any{"size": 3.0, "max": 4.0})
	assert.Equal(t, len(read(refreshed(apitype.OpUpdate, vpcType, old, now, "size")).Differences()), 0)
	both := read(refreshed(apitype.OpUpdate, vpcType, old, now, "size", "max")).Differences()
	assert.DeepEqual(t, both[0].Properties, []Property{{Path: "max", Expected: 2.0, Actual: 4.0}})
}

// A provider that tells only which properties differ has its word passed on.
func TestReadChangedWithoutDetails(t *testing.T) {
	e := refreshed(apitype.OpUpdate, vpcType, custom(map[string]any{"a": 1.0}), custom(map[string]any{"a": 2.0}))
	e.ResOutputsEvent.Metadata.Diffs = []string{"a"}
	want := []Property{{Path: "a", Expected: 1.0, Actual: 2.0}}
	assert.DeepEqual(t, read(e).Differences()[0].Properties, want)
}

func TestReadMissing(t *testing.T) {
	r := read(
		refreshed(apitype.OpDelete, vpcType, custom(nil), nil),
		refreshed(apitype.OpSame, vpcType, custom(nil), custom(nil)),
	)
	want := []Difference{{Class: Missing, Stack: "demo-core", Type: vpcType, Name: "demo", URN: vpcURN, ID: "vpc-1"}}
	assert.DeepEqual(t, r.Differences(), want)
	assert.Check(t, r.Compared() == 2, "compared %d resources, want 2", r.Compared())
}

// What the stack does not keep is not compared.
func TestReadLeavesAlone(t *testing.T) {
	for name, e := range map[string]events.EngineEvent{
		"a component":              refreshed(apitype.OpUpdate, "tombolo:network:Network", &apitype.StepEventStateMetadata{}, custom(nil)),
		"a provider":               refreshed(apitype.OpUpdate, "pulumi:providers:aws", custom(nil), custom(nil)),
		"another stack's outputs":  refreshed(apitype.OpUpdate, "pulumi:pulumi:StackReference", custom(nil), custom(nil)),
		"what is only read":        refreshed(apitype.OpUpdate, vpcType, &apitype.StepEventStateMetadata{Custom: true, External: true}, custom(nil)),
		"what waits to be deleted": refreshed(apitype.OpDelete, vpcType, &apitype.StepEventStateMetadata{Custom: true, Delete: true}, nil),
		"a message":                {EngineEvent: apitype.EngineEvent{DiagnosticEvent: &apitype.DiagnosticEvent{}}},
	} {
		r := read(e)
		assert.Check(t, r.Compared() == 0 && len(r.Differences()) == 0, "%s: %d compared, found %v", name, r.Compared(), r.Differences())
	}
}

func TestSecretsAreMasked(t *testing.T) {
	mark := map[string]any{resource.SigKey: resource.SecretSig, "ciphertext": "x"}
	plain := map[string]any{"password": "hunter2", "nested": map[string]any{"key": "hunter2"}}
	for _, test := range []struct {
		name     string
		typ      string
		old, now map[string]any
		path     string
		want     Property
	}{
		{"marked before", vpcType, map[string]any{"password": mark}, plain, "password", Property{Expected: Masked, Actual: Masked}},
		{"marked now", vpcType, plain, map[string]any{"password": "[secret]"}, "password", Property{Expected: Masked, Actual: Masked}},
		{"within a secret", vpcType, map[string]any{"nested": mark}, plain, "nested.key", Property{Expected: Masked, Actual: Masked}},
		{"a secret within", vpcType, map[string]any{"nested": map[string]any{"key": mark}}, map[string]any{"nested": "shown"}, "nested", Property{
			Expected: map[string]any{"key": Masked}, Actual: "shown",
		}},
		{"a Kubernetes Secret's data", "kubernetes:core/v1:Secret", map[string]any{"data": map[string]any{"a": "1"}}, map[string]any{"data": map[string]any{"a": "2"}}, "data.a", Property{Expected: Masked, Actual: Masked}},
		{"a Kubernetes Secret's label", "kubernetes:core/v1:Secret", map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "1"}}}, nil, "metadata.labels.a", Property{Expected: "1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.want.Path = test.path
			found := read(refreshed(apitype.OpUpdate, test.typ, custom(test.old), custom(test.now), test.path)).Differences()
			assert.DeepEqual(t, found[0].Properties, []Property{test.want})
		})
	}
}
