package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
)

// making is the event of a resource that would be made, or replaced where it was
// something before.
func making(token, name string, was, now map[string]any) events.EngineEvent {
	m := apitype.StepEventMetadata{
		Op: apitype.OpCreate, Type: token, URN: "urn:pulumi:s::tombolo::" + token + "::" + name,
		New: &apitype.StepEventStateMetadata{Custom: true, Inputs: now},
	}
	if was != nil {
		m.Op, m.Diffs = apitype.OpReplace, []string{"name"}
		m.Old = &apitype.StepEventStateMetadata{Custom: true, ID: "id", Inputs: was}
	}
	return events.EngineEvent{EngineEvent: apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: m}}}
}

// previewOf is what a preview says in which names end with these digits.
func previewOf(digits string) Cluster {
	var core, bootstrap Reader
	core.Read(making("aws:ec2/securityGroup:SecurityGroup", "demo-nodes", nil, map[string]any{"name": "demo-nodes-" + digits}))
	core.Read(making("aws:sqs/queue:Queue", "events", nil, map[string]any{"name": "events-" + digits + ".fifo"}))
	core.Read(making("aws:iam/role:Role", "reader", map[string]any{"name": "reader-0123456"}, map[string]any{"name": "reader-" + digits}))
	core.Read(making("aws:iam/rolePolicy:RolePolicy", "policy", nil, map[string]any{
		"role": "reader-" + digits, "policy": `{"Resource":["arn:aws:sqs:::events-` + digits + `.fifo"]}`,
	}))
	core.Read(events.EngineEvent{EngineEvent: apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: apitype.StepEventMetadata{
		Type: stackType, New: &apitype.StepEventStateMetadata{Outputs: map[string]any{"addonOutputs": map[string]any{"reader": "reader-" + digits}}},
	}}}})
	bootstrap.Read(making(configMapType, "settings", nil, map[string]any{
		"metadata": map[string]any{"name": "settings-" + digits + "0"}, "data": map[string]any{"role": "arn:aws:iam::1:role/reader-" + digits},
	}))
	c := Cluster{Name: "demo", Stacks: []Stack{core.Stack(clusters{}, "demo-core", "core"), bootstrap.Stack(clusters{}, "demo-bootstrap", "bootstrap")}}
	c.Settle()
	if err := c.Trace(func(_, _ map[string]any) (Contents, error) { return Contents{}, nil }); err != nil {
		panic(err) // nothing is worked out
	}
	return c
}

// Names that providers make up are others in each preview: they make no other
// comment.
func TestNamesThatAreMadeUp(t *testing.T) {
	got := map[string]any{}
	once := previewOf("abcdef0")
	for _, s := range once.Stacks {
		for _, r := range s.Resources {
			for _, d := range r.Diffs {
				got[r.Name+" "+d.Path] = d.After
			}
		}
	}
	assert.DeepEqual(t, got, map[string]any{
		"demo-nodes name":             "demo-nodes-(random)",
		"events name":                 "events-(random).fifo",
		"reader name":                 "reader-(random)",
		"policy role":                 "reader-(random)",
		"policy policy → Resource[0]": "arn:aws:sqs:::events-(random).fifo",
		"settings metadata.name":      "settings-(random)",
		"settings data.role":          "arn:aws:iam::1:role/reader-(random)",
	})
	output := once.Stacks[0].Outputs
	assert.Check(t, len(output) == 1 && output[0].After == "reader-(random)", "the outputs are %v", output)
	again := previewOf("1234567")
	if diff := cmp.Diff(once, again, cmp.AllowUnexported(Stack{}), cmp.FilterPath(
		func(p cmp.Path) bool { return p.Last().String() == ".madeUp" }, cmp.Ignore(),
	)); diff != "" {
		t.Errorf("the same change differs (-once +again):\n%s", diff)
	}
}

// Names that somebody has chosen, or that stay, are told as they are.
func TestNamesThatAreNotMadeUp(t *testing.T) {
	for _, test := range []struct{ was, now map[string]any }{
		{nil, map[string]any{"name": "nodes"}},
		{nil, map[string]any{"name": "nodes-abcdefg"}},
		{nil, map[string]any{"name": "other-abcdef0"}},
		{nil, map[string]any{"name": "nodes-abc"}},
		{map[string]any{"name": "nodes-abcdef0"}, map[string]any{"name": "nodes-abcdef0"}},
	} {
		e := making("aws:iam/role:Role", "nodes", test.was, test.now)
		got := MadeUp(e.ResourcePreEvent.Metadata)
		assert.Check(t, got == nil, "%v is taken for one that was made up: %v", test.now, got)
	}
}
