package plan

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/value"
)

// stackType is the type of the resource that stands for the stack itself.
const stackType = "pulumi:pulumi:Stack"

// Reader gathers what a preview of one stack says.
type Reader struct {
	resources map[string]Resource
	outputs   []Output
	told      map[string]any
	madeUp    map[string][]string
}

// Read takes an event.
func (r *Reader) Read(e events.EngineEvent) {
	switch {
	case e.ResourcePreEvent != nil:
		r.step(e.ResourcePreEvent.Metadata)
	case e.ResOutputsEvent != nil && e.ResOutputsEvent.Metadata.Type == stackType:
		r.stack(e.ResOutputsEvent.Metadata)
	}
}

// Stack is what was gathered; the cloud says what of it is dangerous.
func (r *Reader) Stack(cloud Cloud, name, kind string) Stack {
	s := Stack{Name: name, Kind: kind, Outputs: r.outputs, told: r.told}
	for _, urn := range slices.Sorted(maps.Keys(r.resources)) {
		resource := r.resources[urn]
		resource.Danger = dangerOf(cloud, resource)
		s.Resources = append(s.Resources, resource)
		s.madeUp = append(s.madeUp, r.madeUp[urn]...)
	}
	return s
}

// telling are components whose inputs say what no other resource shows: what stands in a Secret beside
// a secret.
var telling = []string{"tombolo:argocd:Engine", "tombolo:flux:Engine", "tombolo:registration:Registration"}

// step takes a step on something that exists outside the state: no provider, and nothing that is only
// read; no component, but for an update of those that tell something.
func (r *Reader) step(m apitype.StepEventMetadata) {
	op, ok := opOf(m.Op)
	state := cmp.Or(m.New, m.Old)
	if !ok || state == nil || !state.Custom && (op != Update || !slices.Contains(telling, m.Type)) || state.External || strings.HasPrefix(m.Type, "pulumi:") {
		return
	}
	resource := Resource{Type: m.Type, Name: value.NameOf(m.URN), URN: m.URN, Op: op}
	if m.Old != nil {
		resource.ID = m.Old.ID
	}
	if resource.Diffs = diffs(m, op); !state.Custom && len(resource.Diffs) == 0 {
		return
	}
	if r.resources == nil {
		r.resources, r.madeUp = map[string]Resource{}, map[string][]string{}
	}
	r.resources[m.URN], r.madeUp[m.URN] = resource, MadeUp(m)
}

// opOf leaves out what a replacement consists of: it is one change.
func opOf(op apitype.OpType) (Op, bool) {
	switch op {
	case apitype.OpCreate:
		return Create, true
	case apitype.OpUpdate:
		return Update, true
	case apitype.OpReplace:
		return Replace, true
	case apitype.OpDelete:
		return Delete, true
	case apitype.OpImport, apitype.OpImportReplacement:
		return Import, true
	}
	return "", false
}

// stack takes what the stack put out, and would put out.
func (r *Reader) stack(m apitype.StepEventMetadata) {
	var before, after map[string]any
	if m.Old != nil {
		before = m.Old.Outputs
	}
	if m.New != nil {
		after = m.New.Outputs
	}
	r.outputs, r.told = nil, after
	for _, name := range keysOf(before, after) {
		was, has := value.Shown(before[name], false), value.Shown(after[name], false)
		if name == readOutput {
			r.outputs = append(r.outputs, readValues(was, has)...)
			continue
		}
		for _, d := range entries(name, was, has) {
			r.outputs = append(r.outputs, Output{Name: d.Path, Before: d.Before, After: d.After})
		}
	}
	slices.SortFunc(r.outputs, func(a, b Output) int { return cmp.Compare(a.Name, b.Name) })
}

// readOutput is the output of bootstrap with the values that it has read of other stacks
// and of Parameter Store: programs.ValuesOutput.
const readOutput = "values"

// readValues are the values that are not what they were, each as a whole.
func readValues(before, after any) []Output {
	was, _ := before.(map[string]any)
	has, _ := after.(map[string]any)
	var out []Output
	for _, source := range keysOf(was, has) {
		if !reflect.DeepEqual(was[source], has[source]) {
			out = append(out, Output{Name: readOutput + "." + source, Before: was[source], After: has[source]})
		}
	}
	return out
}

// source of a value that was read, in words; false for another output.
func (o Output) source() (string, bool) { return strings.CutPrefix(o.Name, readOutput+".") }

// entries are the differences of an output, where each entry of a map is one: its name
// follows after a dot. A list is one value.
func entries(name string, before, after any) []Diff {
	was, isMap := before.(map[string]any)
	has, stays := after.(map[string]any)
	if areMaps := isMap && stays || isMap && after == nil || stays && before == nil; !areMaps {
		return whole(name, before, after)
	}
	var out []Diff
	for _, key := range keysOf(was, has) {
		out = append(out, entries(name+"."+key, was[key], has[key])...)
	}
	return out
}

// whole is the difference of an output that is no map.
func whole(name string, before, after any) []Diff {
	_, was := before.([]any)
	_, has := after.([]any)
	if !was && !has {
		return compare(name, before, after)
	}
	if reflect.DeepEqual(before, after) {
		return nil
	}
	return []Diff{{Path: name, Before: before, After: after}}
}
