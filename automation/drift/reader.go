package drift

import (
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/value"
)

// Reader gathers the differences of one stack from the events of a refresh that
// is only previewed.
type Reader struct {
	// Stack is the stack's name.
	Stack string
	// SetByOthers is Cloud's. The state has such a property among those that are
	// ignored, but not after an up that has set it.
	SetByOthers func(typ, property string) bool

	compared int
	found    []Difference
}

// Read takes an event. The end of a resource's refresh tells what came of it:
// nothing, an update of the state, or the resource's removal from it.
func (r *Reader) Read(e events.EngineEvent) {
	if e.ResOutputsEvent == nil {
		return
	}
	m := e.ResOutputsEvent.Metadata
	if !compares(m) {
		return
	}
	r.compared++
	d := Difference{Stack: r.Stack, Type: m.Type, Name: value.NameOf(m.URN), URN: m.URN, ID: m.Old.ID}
	switch m.Op {
	case apitype.OpDelete:
		d.Class = Missing
	case apitype.OpUpdate:
		d.Class = Changed
		all := properties(m)
		for _, p := range all {
			if !r.SetByOthers(m.Type, p.Path) {
				d.Properties = append(d.Properties, p)
			}
		}
		if len(all) > 0 && len(d.Properties) == 0 {
			return
		}
	default:
		return
	}
	r.found = append(r.found, d)
}

// Compared is how many resources were looked at.
func (r *Reader) Compared() int { return r.compared }

// Differences that were found.
func (r *Reader) Differences() []Difference { return r.found }

// compares says whether a step is about something that the stack made and
// wants to keep: no component, no provider, nothing that is only read, and no
// old resource that waits for its deletion.
func compares(m apitype.StepEventMetadata) bool {
	return m.Old != nil && m.Old.Custom && !m.Old.External && !m.Old.Delete &&
		!strings.HasPrefix(m.Type, "pulumi:")
}

// properties that differ. Where the provider does not tell them one by one,
// the top-level ones that it names are shown.
func properties(m apitype.StepEventMetadata) []Property {
	paths := slices.Sorted(maps.Keys(m.DetailedDiff))
	if len(paths) == 0 {
		paths = slices.Sorted(slices.Values(m.Diffs))
	}
	out := make([]Property, 0, len(paths))
	for _, path := range paths {
		if strings.HasPrefix(path, "__") {
			continue // the provider's own bookkeeping
		}
		out = append(out, property(m, path))
	}
	return out
}
