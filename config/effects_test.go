package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/config/addon"
	"tombolo/config/field"
)

// fieldsToDeclare are the fields that need an effect on a cloud: all keys but sections, whose
// own keys have theirs, and the names of addons, which Cluster.Addons stands for.
func fieldsToDeclare(p Provider) []string {
	var out []string
	for typ := range typesOf(reflect.TypeFor[Cluster](), formatOf(p)) {
		for _, f := range formatOf(p).Fields(typ) {
			if f.Type.Kind() != reflect.Struct {
				out = append(out, typ.Name()+"."+typ.Field(f.Index).Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// ofAddons are the options of addons with declared effects.
func ofAddons() []string {
	return fieldsWith(func(name string, d field.Descriptor) bool {
		_, ofAddon := addon.Fields()[name]
		return ofAddon && len(d.Change) == 1 && d.Cloud != Azure
	})
}

// TestEffects: every key says what its change does to a live cluster, on each cloud.
func TestEffects(t *testing.T) {
	declared := map[Provider][]string{AWS: append(EffectFields(), ofAddons()...), Azure: AzureEffectFields()}
	for _, p := range field.Providers() {
		t.Run(string(p), func(t *testing.T) { checkEffects(t, p, declared[p]) })
	}
}

func checkEffects(t *testing.T, p Provider, declared []string) {
	fields := fieldsToDeclare(p)
	for _, name := range fields {
		cases := EffectsOn(p, name)
		if len(cases) == 0 {
			t.Errorf("%s has no declared effect: say in its descriptor what its change does to a live cluster", name)
			continue
		}
		for i, c := range cases {
			last := i == len(cases)-1
			switch {
			case !slices.Contains(field.Effects(), c.Effect) || c.Words == "":
				t.Errorf("%s: case %q has the effect %q and the words %q", name, c.When, c.Effect, c.Words)
			case (c.Applies == nil) != last:
				t.Errorf("%s: case %q is reached by no change, or some change has no case", name, c.When)
			case c.When == "" && !last:
				t.Errorf("%s: a case does not say which changes are meant", name)
			case c.Effect.Refused() != (c.Remedy != ""):
				t.Errorf("%s: case %q: the remedy is %q", name, c.When, c.Remedy)
			case p == Azure && awsWords.MatchString(c.Words):
				t.Errorf("%s: the words are about AWS: say in AzureChange what happens on Azure: %s", name, c.Words)
			case strings.HasSuffix(c.Words, "."):
				t.Errorf("%s: the words are part of a sentence, and end with a dot: %s", name, c.Words)
			}
		}
	}
	for _, name := range declared {
		assert.Check(t, slices.Contains(fields, name), "%s has an effect, and is no key", name)
	}
	assert.Check(t, len(fields) >= 100, "only %d keys were looked at", len(fields))
}

// awsWords are about AWS.
var awsWords = regexp.MustCompile(`\b(AWS|EKS|EC2|IAM|VPC|launch template|role's|access entry|Karpenter|CloudWatch)\b`)

func TestEffectsAreOrdered(t *testing.T) {
	assert.Assert(t, Impossible.Worse(InPlace) && ReplacesNodeGroup.Worse(RollsNodes) && !InPlace.Worse(InPlace))
	assert.Assert(t, Impossible.Refused() && NeedsRebuild.Refused() && !ReplacesNodeGroup.Refused())
}
