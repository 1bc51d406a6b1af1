package values

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"tombolo/config/check"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// CheckFree checks a reference in free values, whose keys the decoder does not
// know: as strictly as the decoder checks a Value.
func CheckFree(v *check.File, at strict.Path, keys map[string]any) {
	known := referenceKeys(v.Format)
	sound := true
	report := func(p strict.Path, remedy, format string, args ...any) {
		v.Problem(p, remedy, format, args...)
		sound = false
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		p := at.Key(key)
		text, isText := keys[key].(string)
		field := map[string]string{"fromStack": "Value.FromStack", "fromTerraform": "Value.FromTerraform", "output": "Value.Output", "fromSsm": "Value.FromSSM"}[key]
		switch {
		case v.Format.Omission(reflect.TypeFor[Value](), key) != nil:
			o := v.Format.Omission(reflect.TypeFor[Value](), key)
			v.KeyProblem(p, o.Remedy, "%s", o.Message)
			sound = false
		case field == "":
			remedy := "a value that is read from elsewhere has no keys but " + wording.And(known)
			if near := wording.Nearest(key, known); near != "" {
				remedy = fmt.Sprintf("did you mean %s?", wording.Quote(near))
			}
			v.KeyProblem(p, remedy, "is not a known key")
			sound = false
		case !isText:
			report(p, "write it in quotes", "must be a string")
		default:
			if message, remedy := valueFields[field].Rule.CheckText(text); message != "" {
				report(p, remedy, "%s", message)
			}
		}
	}
	if sound {
		CheckSource(v, at, SourceOf(keys))
	}
}

// referenceKeys are the keys of a value that is read from elsewhere.
func referenceKeys(f strict.Format) []string {
	var keys []string
	for _, key := range f.Fields(reflect.TypeFor[Value]()) {
		keys = append(keys, key.Name)
	}
	return keys
}

// CheckSource checks that a value is read from one place, which is not the cluster's own.
func CheckSource(v *check.File, at strict.Path, s Source) {
	if !v.Doc.Sound(at, at.Field("fromStack"), at.Field("fromTerraform"), at.Field("output"), at.Field("fromSsm")) {
		return
	}
	places := slices.DeleteFunc([]string{s.Stack, s.State, s.Parameter}, func(place string) bool { return place == "" })
	switch {
	case len(places) > 1 || s.Parameter != "" && s.Output != "":
		v.Problem(at, "keep one of fromStack with output, fromTerraform with output, and fromSsm", "is read from two places")
	case s.Parameter != "":
	case len(places) == 0:
		v.Problem(at, "add fromStack, such as fromStack: data/prod, or fromTerraform", "does not say whose output %s is", s.Output)
	case s.Output == "" && s.State != "":
		v.Problem(at, "add output, such as output: vpc_id", "does not say which output of %s", s.StateName())
	case s.Output == "":
		v.Problem(at, "add output, such as output: db_host", "does not say which output of stack %s", s.Stack)
	case s.State != "":
	case slices.Contains(checkOwnStacks(v), s.StackName("organization", project)):
		v.Problem(at, "use a key of the infra ConfigMap, which has what core tells: docs/reference/infra-config.md",
			"%s is this cluster's own stack", s.Stack)
	}
}

// project is the Pulumi project of the clusters' stacks.
const project = "tombolo"

func checkOwnStacks(v *check.File) []string {
	own := "organization/" + project + "/" + v.Name
	return []string{own + "-core", own + "-bootstrap"}
}
