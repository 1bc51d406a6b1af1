package definition

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/tree"
	"tombolo/internal/gitaddress"
)

// Problem is what a definition does not allow of a value.
type Problem struct {
	// Field is the key of a field of the value; "" for the value itself.
	Field string
	// IsUnknown says that the definition does not have the field, IsMissing that the value does not, and IsText that the
	// value has to be text.
	IsUnknown, IsMissing, IsText bool
	// Message says what is wrong after the name of the field; Remedy what to do.
	Message, Remedy string
}

// Problems are those of one value, without what is in its fields and items. Values that are null are left out by the API,
// but for texts of a mapping.
func Problems(n *yaml.Node, schema *spec.Schema) []Problem {
	got := TypeOf(n)
	if schema == nil || got == Null {
		return nil
	}
	if wanted := typeOf(schema); wanted != "" && wanted != got {
		remedy := "give it that type"
		if wanted == Text && n.Kind == yaml.ScalarNode {
			remedy = "put it into quotes"
		}
		return []Problem{{IsText: wanted == Text, Message: fmt.Sprintf("is %s, and has to be %s", got, wanted), Remedy: remedy}}
	}
	switch got {
	case Mapping:
		return slices.Concat(unknown(n, schema), empty(n, schema), missing(n, schema), broken(n, schema))
	case List:
		return short(len(n.Content), schema.MinItems, "item")
	case Text:
		if strings.Contains(n.Value, manifest.Unset) {
			return nil
		}
		return slices.Concat(otherValue(n.Value, schema), otherForm(n.Value, schema), short(utf8.RuneCountInString(n.Value), schema.MinLength, "character"),
			long(n.Value, schema))
	}
	return nil
}

// typeOf is the type of a schema; "" when it takes several.
func typeOf(schema *spec.Schema) string {
	if len(schema.Type) != 1 {
		return ""
	}
	return Word(schema.Type[0])
}

// unknown are fields that the definition does not have.
func unknown(n *yaml.Node, schema *spec.Schema) (out []Problem) {
	open, _ := schema.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
	if open || schema.AdditionalProperties != nil || len(schema.Properties) == 0 {
		return nil
	}
	known := slices.Sorted(maps.Keys(schema.Properties))
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i].Value; !slices.Contains(known, key) && key != "status" {
			out = append(out, Problem{Field: key, IsUnknown: true, Message: "is no field of its definition", Remedy: near.DidYouMean(key, known, "correct or remove it")})
		}
	}
	return out
}

// empty are texts of a mapping that are null: elsewhere the API leaves out what is empty.
func empty(n *yaml.Node, schema *spec.Schema) (out []Problem) {
	if of := schema.AdditionalProperties; of == nil || of.Schema == nil || !of.Schema.Type.Contains("string") {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if TypeOf(n.Content[i+1]) == Null {
			out = append(out, Problem{Field: n.Content[i].Value, Message: "is empty, and has to be text", Remedy: `write "" for an empty text`})
		}
	}
	return out
}

// missing are required fields; those with a default get it before.
func missing(n *yaml.Node, schema *spec.Schema) (out []Problem) {
	for _, name := range schema.Required {
		if tree.Child(n, name) == nil && schema.Properties[name].Default == nil {
			out = append(out, Problem{Field: name, IsMissing: true, Message: "is missing", Remedy: "add it"})
		}
	}
	return out
}

// broken are the rules of the definition that a mapping breaks. One that needs what is not known is not judged.
func broken(n *yaml.Node, schema *spec.Schema) (out []Problem) {
	for _, rule := range rulesOf(schema) {
		if holds, err := rule.holds(n, schema); err == nil && !holds {
			out = append(out, Problem{Message: "breaks a rule of its definition: " + rule.Message, Remedy: "correct its fields"})
		}
	}
	return out
}

// otherValue is a text that is none of an enumeration.
func otherValue(value string, schema *spec.Schema) []Problem {
	if len(schema.Enum) == 0 || slices.ContainsFunc(schema.Enum, func(v any) bool { return fmt.Sprint(v) == value }) {
		return nil
	}
	var all []string
	for _, v := range schema.Enum {
		all = append(all, fmt.Sprint(v))
	}
	return []Problem{{Message: fmt.Sprintf("is %q, and has to be one of %s", value, strings.Join(all, ", ")), Remedy: near.DidYouMean(value, all, "write one of them")}}
}

// otherForm is a text that a pattern does not take.
func otherForm(value string, schema *spec.Schema) []Problem {
	form := formOf(schema)
	if form == nil || form.MatchString(value) {
		return nil
	}
	remedy := "correct it"
	if gitaddress.IsSCP(value) {
		remedy = "write " + gitaddress.URL(value)
	}
	return []Problem{{Message: fmt.Sprintf("is %q, which is not of the form %s", value, schema.Pattern), Remedy: remedy}}
}

func short(has int, least *int64, what string) []Problem {
	if least == nil || int64(has) >= *least {
		return nil
	}
	return []Problem{{Message: fmt.Sprintf("has %d %ss, and has to have %d at least", has, what, *least), Remedy: "add what is missing, or remove the field"}}
}

func long(value string, schema *spec.Schema) []Problem {
	has := utf8.RuneCountInString(value)
	if schema.MaxLength == nil || int64(has) <= *schema.MaxLength {
		return nil
	}
	return []Problem{{Message: fmt.Sprintf("has %d characters, and may have %d", has, *schema.MaxLength), Remedy: "shorten it"}}
}
