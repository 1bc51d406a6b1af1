package walk

import (
	"slices"
	"strconv"
	"strings"

	"tombolo/check/finding"
	"tombolo/check/inventory"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/tree"
)

// needed is a key that an object needs of a Secret or ConfigMap.
type needed struct {
	in *Origin
	o  manifest.Object
	inventory.Use
}

// written is what Azure Service Operator writes for an object.
type written struct {
	in *Origin
	o  manifest.Object
	inventory.Destination
}

// TakeNeeded takes note of the keys that an object needs. It reports what an object asks Azure Service Operator to
// write that the operator has not.
func (w *Walk) TakeNeeded(in *Origin, o manifest.Object, text string) {
	if !inventory.Needs(o) || strings.Contains(text, manifest.Unset) {
		return
	}
	content, err := manifest.Decode[map[string]any](text)
	if err != nil {
		return // its own finding
	}
	for _, use := range inventory.Uses(o, content) {
		w.needing = append(w.needing, needed{in, o, use})
	}
	for _, d := range inventory.Destinations(o, content) {
		if !d.Unknown {
			w.writing = append(w.writing, written{in, o, d})
			continue
		}
		w.Refer(in, tree.Wanted{Object: o, Path: append(slices.Clone(d.Path), "name"), Value: d.To.Name}, finding.Errorf(
			"%s: %s is nothing that Azure Service Operator writes of this kind", o.Identity(), strings.Join(d.Path[1:], ".")).
			WithRemedy(near.DidYouMean(d.Field, d.Fields, fields(d.Fields))))
	}
}

func fields(all []string) string {
	if len(all) == 0 {
		return "remove it: of this kind it writes none"
	}
	return "it has " + strings.Join(all, ", ")
}

// CheckNeeded reports keys that are needed of what one controller writes, and that it does not write. It reports what
// that controller does not write, too, because others make it: the operator overwrites nothing that is not the
// object's own. Source: v2/pkg/genruntime/owner.go of https://github.com/Azure/azure-service-operator
func (w *Walk) CheckNeeded(made inventory.Inventory) {
	owners := map[inventory.ID]string{}
	for _, d := range w.writing {
		owner, taken := owners[d.To]
		switch {
		case !taken:
			owners[d.To], owner = d.o.Identity(), "something else in the tree"
		case owner == d.o.Identity():
			continue
		}
		if e := made[d.To]; !taken && (e.Exact || e.Published) {
			continue
		}
		w.Refer(d.in, tree.Wanted{Object: d.o, Path: append(slices.Clone(d.Path), "name"), Value: d.To.Name}, finding.Errorf(
			"%s: %s has %s %s written, which %s makes: Azure Service Operator does not overwrite it", d.o.Identity(), strings.Join(d.Path[1:], "."), d.To.Kind, d.To.Name, owner).
			WithRemedy("give it a name of its own"))
	}
	for _, n := range w.needing {
		e, ok := made.Find(n.Of)
		if !ok || !e.Exact || e.Has(n.Key) {
			continue
		}
		keys := slices.Sorted(slices.Values(e.Keys))
		for i, key := range keys {
			keys[i] = strconv.Quote(key)
		}
		w.Refer(n.in, tree.Wanted{Object: n.o, Path: n.Path, Value: n.Key, Besides: n.Besides}, finding.Errorf(
			"%s refers to key %q of %s %s, into which Azure Service Operator writes %s", n.o.Identity(), n.Key, n.Of.Kind, n.Of.Name, strings.Join(keys, ", ")).
			WithRemedy(near.DidYouMean(n.Key, e.Keys, "refer to a key that is written, or have it written by operatorSpec")))
	}
}
