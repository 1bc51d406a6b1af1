package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/config/addon"
)

// fieldsToDeclare are the fields that need an effect: all keys but sections, whose own
// keys have theirs, and the names of addons, which Cluster.Addons stands for.
func fieldsToDeclare() []string {
	var out []string
	for typ := range clusterTypes(reflect.TypeFor[Cluster]()) {
		for _, f := range clusterFormat.Fields(typ) {
			if f.Type.Kind() != reflect.Struct {
				out = append(out, typ.Name()+"."+typ.Field(f.Index).Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestEffects: every key says what its change does to a live cluster.
func TestEffects(t *testing.T) {
	fields := fieldsToDeclare()
	for _, field := range fields {
		cases := EffectsOf(field)
		if len(cases) == 0 {
			t.Errorf("%s has no declared effect: say in effects_table.go, or in addon/effects.go, what its change does to a live cluster", field)
			continue
		}
		for i, c := range cases {
			last := i == len(cases)-1
			switch {
			case !slices.Contains(Effects(), c.Effect) || c.Words == "":
				t.Errorf("%s: case %q has the effect %q and the words %q", field, c.When, c.Effect, c.Words)
			case (c.applies == nil) != last:
				t.Errorf("%s: case %q is reached by no change, or some change has no case", field, c.When)
			case c.When == "" && !last:
				t.Errorf("%s: a case does not say which changes are meant", field)
			case c.Effect.Refused() != (c.Remedy != ""):
				t.Errorf("%s: case %q: the remedy is %q", field, c.When, c.Remedy)
			case strings.HasSuffix(c.Words, "."):
				t.Errorf("%s: the words are part of a sentence, and end with a dot: %s", field, c.Words)
			}
		}
	}
	for _, field := range append(EffectFields(), addon.EffectFields()...) {
		if !slices.Contains(fields, field) {
			t.Errorf("%s has an effect, and is no key", field)
		}
	}
	if len(fields) < 100 {
		t.Errorf("only %d keys were looked at", len(fields))
	}
}

func TestEffectsAreOrdered(t *testing.T) {
	assert.Assert(t, Impossible.worse(InPlace) && ReplacesNodeGroup.worse(RollsNodes) && !InPlace.worse(InPlace))
	assert.Assert(t, Impossible.Refused() && NeedsRebuild.Refused() && !ReplacesNodeGroup.Refused())
}
