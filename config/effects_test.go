package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/config/addon"
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

// TestEffects: every key says what its change does to a live cluster, on each cloud.
func TestEffects(t *testing.T) {
	declared := map[Provider][]string{AWS: append(EffectFields(), addon.EffectFields()...), Azure: AzureEffectFields()}
	for _, p := range providers() {
		t.Run(string(p), func(t *testing.T) { checkEffects(t, p, declared[p]) })
	}
}

func checkEffects(t *testing.T, p Provider, declared []string) {
	fields := fieldsToDeclare(p)
	for _, field := range fields {
		cases := EffectsOn(p, field)
		if len(cases) == 0 {
			t.Errorf("%s has no declared effect: say in effects_table.go, effects_azure.go or addon/effects.go what its change does to a live cluster", field)
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
			case p == Azure && awsWords.MatchString(c.Words):
				t.Errorf("%s: the words are about AWS: say in effects_azure.go what happens on Azure: %s", field, c.Words)
			case strings.HasSuffix(c.Words, "."):
				t.Errorf("%s: the words are part of a sentence, and end with a dot: %s", field, c.Words)
			}
		}
	}
	for _, field := range declared {
		if !slices.Contains(fields, field) {
			t.Errorf("%s has an effect, and is no key", field)
		}
	}
	if len(fields) < 100 {
		t.Errorf("only %d keys were looked at", len(fields))
	}
}

// awsWords are about AWS.
var awsWords = regexp.MustCompile(`\b(AWS|EKS|EC2|IAM|VPC|launch template|role's|access entry|Karpenter|CloudWatch)\b`)

func TestEffectsAreOrdered(t *testing.T) {
	assert.Assert(t, Impossible.worse(InPlace) && ReplacesNodeGroup.worse(RollsNodes) && !InPlace.worse(InPlace))
	assert.Assert(t, Impossible.Refused() && NeedsRebuild.Refused() && !ReplacesNodeGroup.Refused())
}
