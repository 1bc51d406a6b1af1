package plan

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/value"
)

type object = map[string]any

// core is a stack whose preview has told these outputs.
func core(was, has object) Stack {
	var r Reader
	r.Read(events.EngineEvent{EngineEvent: apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: apitype.StepEventMetadata{
		Type: stackType, Old: &apitype.StepEventStateMetadata{Outputs: was}, New: &apitype.StepEventStateMetadata{Outputs: has},
	}}}})
	return r.Stack(clusters{}, "demo-core", "core")
}

// settings is what GitOps reads here: some keys that follow an output each, one that
// follows two, one that follows none.
func settings(outputs, read map[string]any) (Contents, error) {
	made, _ := outputs["addonOutputs"].(object)
	subnets := fmt.Sprint(outputs["privateSubnetIds"])
	return Contents{
		Data: map[string]map[string]string{
			"flux-system/infra-config": {
				"version": fmt.Sprint(outputs["clusterVersion"]), "subnets": subnets, "limit": "1000",
				"both": fmt.Sprintf("%v in %v", outputs["clusterVersion"], outputs["vpcId"]),
			},
			"karpenter/karpenter-values": {
				"values.yaml": fmt.Sprintf("endpoint: %v\nname: blue\nrole: %v\nversion: v%v\n", outputs["clusterEndpoint"], made["karpenter/role_arn"], outputs["clusterVersion"]),
			},
		},
		Annotations: map[string]map[string]string{
			"argocd/cluster-demo": {"version": fmt.Sprint(outputs["clusterVersion"]), "values": fmt.Sprintf(`{"subnets":%q,"limit":"1000"}`, subnets)},
		},
	}, nil
}

// traced are the differences after it: by path, the new value and what it follows.
func traced(t *testing.T, core Stack, diffs ...Diff) map[string][]any {
	t.Helper()
	c := Cluster{Stacks: []Stack{core, {Kind: "bootstrap", Resources: []Resource{{Diffs: diffs}}}}}
	assert.NilError(t, c.Trace(settings))
	out := map[string][]any{}
	for _, d := range c.Stacks[1].Resources[0].Diffs {
		out[d.Path] = []any{d.After, d.From}
		if d.Published != nil {
			out[d.Path] = append(out[d.Path], d.Published.Key)
		}
	}
	return out
}

func data(key string, before, after any) Diff {
	return Diff{Path: "data." + key, Before: before, After: after, Published: &Published{Object: "flux-system/infra-config", Key: key}}
}

// With other subnets, a key follows the subnets only when it has them.
func TestTrace(t *testing.T) {
	unknown, secret := plugin.UnknownStringValue, object{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
	stack := core(
		object{"clusterVersion": "1.34", "privateSubnetIds": []any{"subnet-1", "subnet-2", "subnet-3"}, "vpcId": "vpc-1", "clusterEndpoint": "https://api", "password": secret},
		object{"clusterVersion": "1.35", "privateSubnetIds": []any{"subnet-1", unknown}, "vpcId": unknown, "clusterEndpoint": "https://api", "password": secret, "addonOutputs": object{"karpenter/role_arn": unknown}},
	)
	valuesYAML := &Published{Object: "karpenter/karpenter-values", Key: "values.yaml"}
	annotation := func(key string) *Published {
		return &Published{Annotation: true, Object: "argocd/cluster-demo", Key: key}
	}
	got := traced(t, stack,
		data("version", "1.34", "1.35"),
		data("subnets", "subnet-1,subnet-2,subnet-3", value.Unknown{}),
		data("both", "1.34 in vpc-1", value.Unknown{}),
		data("limit", "999", "1000"),
		data("gone", "1.34", nil),
		Diff{Path: `data["values.yaml"]`, Before: "endpoint: https://api\nname: green\nrole: arn:old\nversion: v1.34\n", After: value.Unknown{}, Published: valuesYAML},
		Diff{Path: "metadata.annotations.version", Before: "1.34", After: "1.35", Published: annotation("version")},
		Diff{Path: "metadata.annotations.values", Before: `{"subnets":"subnet-1","limit":"1000"}`, After: value.Unknown{}, Published: annotation("values")},
		Diff{Path: "metadata.labels.version", Before: "1.34", After: "1.35", Published: annotation("version")},
		Diff{Path: "data.config", Before: value.Masked, After: value.Masked},
	)
	none := []string(nil)
	want := map[string][]any{
		"data.version":                          {"1.35", []string{"clusterVersion"}, "version"},
		"data.subnets":                          {value.Unknown{}, []string{"privateSubnetIds"}, "subnets"},
		"data.both":                             {value.Unknown{}, []string{"clusterVersion", "vpcId"}, "both"},
		"data.limit":                            {"1000", none, "limit"},
		"data.gone":                             {nil, none, "gone"},
		`data["values.yaml"] → name`:            {"blue", none, "name"},
		`data["values.yaml"] → role`:            {value.Unknown{}, []string{"addonOutputs.karpenter/role_arn"}, "role"},
		`data["values.yaml"] → version`:         {"v1.35", []string{"clusterVersion"}, "version"},
		"metadata.annotations.version":          {"1.35", []string{"clusterVersion"}, "version"},
		"metadata.annotations.values → subnets": {value.Unknown{}, []string{"privateSubnetIds"}, "values"},
		"metadata.labels.version":               {"1.35", none, "version"},
		"data.config":                           {value.Masked, none},
	}
	assert.Check(t, is.DeepEqual(got, want))
}

// Within a text that is known, each part follows what is in it.
func TestTraceWithinATextThatIsKnown(t *testing.T) {
	stack := core(object{"clusterVersion": "1.34", "clusterEndpoint": "https://old"}, object{"clusterVersion": "1.35", "clusterEndpoint": "https://new"})
	part := func(key string) Diff {
		return Diff{Path: `data["values.yaml"] → ` + key, Before: "a", After: "b", Published: &Published{Object: "karpenter/karpenter-values", Key: key}}
	}
	got := traced(t, stack, part("endpoint"), part("version"), part("name"))
	assert.Check(t, is.DeepEqual(got, map[string][]any{
		`data["values.yaml"] → endpoint`: {"b", []string{"clusterEndpoint"}, "endpoint"},
		`data["values.yaml"] → version`:  {"b", []string{"clusterVersion"}, "version"},
		`data["values.yaml"] → name`:     {"b", []string(nil), "name"},
	}))
}

// A list of core's is one output, whichever of its elements changes.
func TestAListIsOneOutput(t *testing.T) {
	same := []any{"subnet-1", "subnet-2"}
	stack := core(object{"privateSubnetIds": append(same, "subnet-3"), "publicSubnetIds": same}, object{"privateSubnetIds": same, "publicSubnetIds": same})
	assert.DeepEqual(t, stack.Outputs, []Output{{Name: "privateSubnetIds", Before: append(same, "subnet-3"), After: any(same)}})
	got := traced(t, stack, data("subnets", "subnet-1,subnet-2,subnet-3", "subnet-1,subnet-2"))
	assert.DeepEqual(t, got["data.subnets"], []any{"subnet-1,subnet-2", []string{"privateSubnetIds"}, "subnets"})
}

func TestTraceSaysWhatItCannotFollow(t *testing.T) {
	c := Cluster{Stacks: []Stack{core(object{"vpcId": "vpc-1"}, object{"vpcId": "vpc-2"})}}
	failed := errors.New("the hub has no file")
	assert.ErrorIs(t, c.Trace(func(_, _ map[string]any) (Contents, error) { return Contents{}, failed }), failed)
	// Where no output changes, nothing is to be followed.
	c.Stacks[0] = core(object{"vpcId": "vpc-1"}, object{"vpcId": "vpc-1"})
	assert.NilError(t, c.Trace(func(_, _ map[string]any) (Contents, error) { return Contents{}, failed }))
}
