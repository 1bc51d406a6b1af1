package flux

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"gopkg.in/yaml.v3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/tree"
	"tombolo/internal/gitaddress"
)

// isDefined says whether the definitions are those of the cluster's Flux, or have all fields of an earlier one's.
func (w *Walk) isDefined() bool {
	release := semver.MajorMinor(w.Published.Distribution)
	return release != "" && semver.Compare(release, lastKnown) <= 0
}

// holds holds a value to its definition, and says whether it fits. Server-side apply refuses fields that are not in the
// definition ("field not declared in schema") and values of other types; then the API refuses what lacks or breaks a rule.
// Text for which there is something else has findings of its own.
func (t typing) holds(n, before *yaml.Node, at []string, schema *spec.Schema) bool {
	if schema == nil || n.Kind == yaml.ScalarNode && typeOf(n) == "null" {
		return true
	}
	if wanted, got := kindOf(schema), typeOf(n); wanted != "" && wanted != "text" && wanted != got {
		return t.breaks(n, before, at, fmt.Sprintf("is %s, and has to be %s", got, wanted), "give it that type")
	}
	switch {
	case n.Kind == yaml.MappingNode:
		return t.holdsFields(n, before, at, schema)
	case len(schema.Enum) > 0 && !slices.ContainsFunc(schema.Enum, func(v any) bool { return fmt.Sprint(v) == n.Value }):
		var all []string
		for _, v := range schema.Enum {
			all = append(all, fmt.Sprint(v))
		}
		return t.breaks(n, before, at, fmt.Sprintf("is %q, and has to be one of %s", n.Value, strings.Join(all, ", ")), near.DidYouMean(n.Value, all, "write one of them"))
	case schema.Pattern != "" && n.Kind == yaml.ScalarNode && !matchesPattern(schema.Pattern, n.Value):
		remedy := "correct it"
		if gitaddress.IsSCP(n.Value) {
			remedy = "write " + gitaddress.URL(n.Value)
		}
		return t.breaks(n, before, at, fmt.Sprintf("is %q, which is not of the form %s", n.Value, schema.Pattern), remedy)
	}
	return true
}

// kindOf is the type of a schema, in the words of typeOf; "" when it takes several.
func kindOf(schema *spec.Schema) string {
	if len(schema.Type) != 1 {
		return ""
	}
	return map[string]string{
		"string": "text", "integer": "a number", "number": "a number", "boolean": "a boolean", "array": "a list", "object": "a mapping",
	}[schema.Type[0]]
}

func matchesPattern(pattern, text string) bool {
	form, err := regexp.Compile(pattern)
	return err != nil || strings.Contains(text, manifest.Unset) || form.MatchString(text)
}

// holdsFields holds a mapping to the fields of its definition. Its fields are looked at one by one later.
func (t typing) holdsFields(n, before *yaml.Node, at []string, schema *spec.Schema) bool {
	open, _ := schema.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
	var known []string
	for name := range schema.Properties {
		known = append(known, name)
	}
	for i := 0; i+1 < len(n.Content) && !open && schema.AdditionalProperties == nil && len(known) > 0; i += 2 {
		key := n.Content[i].Value
		if !slices.Contains(known, key) && key != "status" {
			t.breaks(n.Content[i+1], tree.Child(before, key), append(slices.Clip(at), key), "is no field of its definition",
				near.DidYouMean(key, known, "correct or remove it"))
		}
	}
	if of := schema.AdditionalProperties; of != nil && of.Schema != nil && of.Schema.Type.Contains("string") {
		t.holdsTexts(n, before, at)
	}
	for _, name := range schema.Required {
		if tree.Child(n, name) == nil {
			what := tree.Wanted{Object: t.object, Path: []string{"metadata", "name"}, Value: t.object.Metadata.Name}
			t.Refer(t.s.origin, what, finding.Errorf("%s: %s is missing: the API refuses it", t.object.Identity(), strings.Join(append(slices.Clip(at), name), ".")).
				WithRemedy("add it"))
		}
	}
	return true
}

func (t typing) breaks(n, before *yaml.Node, at []string, message, remedy string) bool {
	what, _ := t.wanted(n, before, at)
	t.Refer(t.s.origin, what, finding.Errorf("%s: %s %s: the API refuses it", t.object.Identity(), strings.Join(at, "."), message).WithRemedy(remedy))
	return false
}

// holdsTexts reports a text of a mapping that is not there: elsewhere the API leaves out what is empty.
func (t typing) holdsTexts(n, before *yaml.Node, at []string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if typeOf(n.Content[i+1]) == "null" {
			key := n.Content[i].Value
			t.breaks(n.Content[i+1], tree.Child(before, key), append(slices.Clip(at), key), "is empty, and has to be text", `write "" for an empty text`)
		}
	}
}
