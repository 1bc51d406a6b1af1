package recorder

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/golden"
)

// registration is what a golden file shows of a registration.
type registration struct {
	Resource string `json:"resource"`
	Inputs   any    `json:"inputs"`
	// Unknown are the inputs that the run does not know.
	Unknown       []string `json:"unknown,omitempty"`
	After         []string `json:"after,omitempty"`
	Protect       bool     `json:"protect,omitempty"`
	IgnoreChanges []string `json:"ignoreChanges,omitempty"`
}

// GoldenRegistrations compares the resources whose type begins with the prefix, in the order of
// their types and names, with a file in testdata: their inputs, what they wait for, and how
// the engine is to treat them.
func (r *Recorder) GoldenRegistrations(t testing.TB, prefix, name string) {
	t.Helper()
	var all []registration
	for _, res := range r.All() {
		if res.Custom && strings.HasPrefix(res.Type, prefix) {
			all = append(all, registered(res))
		}
	}
	slices.SortFunc(all, func(a, b registration) int { return strings.Compare(a.Resource, b.Resource) })
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, string(text)+"\n", name)
}

func registered(res Resource) registration {
	out := registration{
		Resource: res.Type + " " + res.Name, Inputs: plain(res.Inputs),
		Protect: res.Protect, IgnoreChanges: res.IgnoreChanges,
	}
	for _, urn := range res.DependsOn {
		out.After = append(out.After, urn[strings.LastIndex(urn, "::")+len("::"):])
	}
	slices.Sort(out.After)
	out.After = slices.Compact(out.After)
	for property := range res.Waits {
		if _, known := res.Inputs[resource.PropertyKey(property)]; !known {
			out.Unknown = append(out.Unknown, property)
		}
	}
	slices.Sort(out.Unknown)
	return out
}

// plain are inputs as JSON has them, without secrets.
func plain(inputs resource.PropertyMap) any {
	return inputs.MapRepl(nil, func(v resource.PropertyValue) (any, bool) {
		if v.IsSecret() {
			return "[secret]", true
		}
		return nil, false
	})
}
