package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// freeReference checks a reference in free values, whose keys the decoder does not
// know: as strictly as the decoder checks a Value.
func (v *validator) freeReference(at strict.Path, keys map[string]any) {
	known := v.c.referenceKeys()
	sound := true
	report := func(p strict.Path, remedy, format string, args ...any) {
		v.problem(p, remedy, format, args...)
		sound = false
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		p := at.Key(key)
		text, isText := keys[key].(string)
		field := map[string]string{"fromStack": "Value.FromStack", "output": "Value.Output", "fromSsm": "Value.FromSSM"}[key]
		switch {
		case v.c.format().Omission(reflect.TypeFor[Value](), key) != nil:
			o := v.c.format().Omission(reflect.TypeFor[Value](), key)
			v.keyProblem(p, o.Remedy, "%s", o.Message)
			sound = false
		case field == "":
			remedy := "a value that is read from elsewhere has no keys but " + wording.And(known)
			if near := wording.Nearest(key, known); near != "" {
				remedy = fmt.Sprintf("did you mean %s?", wording.Quote(near))
			}
			v.keyProblem(p, remedy, "is not a known key")
			sound = false
		case !isText:
			report(p, "write it in quotes", "must be a string")
		default:
			if message, remedy := ruleOf(field).CheckText(text); message != "" {
				report(p, remedy, "%s", message)
			}
		}
	}
	if sound {
		v.source(at, sourceOf(keys))
	}
}

// referenceKeys are the keys of a value that is read from elsewhere.
func (c *Cluster) referenceKeys() []string {
	var keys []string
	for _, f := range c.format().Fields(reflect.TypeFor[Value]()) {
		keys = append(keys, f.Name)
	}
	return keys
}

// source checks that a value is read from one place, which is not the cluster's own.
func (v *validator) source(at strict.Path, s Source) {
	if !v.doc.Sound(at, at.Field("fromStack"), at.Field("output"), at.Field("fromSsm")) {
		return
	}
	switch {
	case s.Parameter != "" && (s.Stack != "" || s.Output != ""):
		v.problem(at, "keep fromStack with output, or fromSsm", "is read from two places")
	case s.Parameter != "":
	case s.Output == "":
		v.problem(at, "add output, such as output: db_host", "does not say which output of stack %s", s.Stack)
	case s.Stack == "":
		v.problem(at, "add fromStack, such as fromStack: data/prod", "does not say whose output %s is", s.Output)
	case slices.Contains(v.ownStacks(), s.StackName("organization", project)):
		v.problem(at, "use a key of the infra ConfigMap, which has what core tells: docs/reference/infra-config.md",
			"%s is this cluster's own stack", s.Stack)
	}
}

// project is the Pulumi project of the clusters' stacks.
const project = "tombolo"

func (v *validator) ownStacks() []string {
	own := "organization/" + project + "/" + v.c.Name
	return []string{own + "-core", own + "-bootstrap"}
}
