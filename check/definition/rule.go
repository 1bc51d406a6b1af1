package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"tombolo/check/manifest"
	"tombolo/check/tree"
)

// rule is a condition that a definition has for a mapping. In the manifest it is in the Common Expression Language: those of
// Flux's kinds compare fields, and ask whether they are there. Whoever writes the definitions anew turns it into lists.
type rule struct {
	Message string `json:"message"`
	Holds   any    `json:"holds"`
}

// Where a schema has its rules, and its pattern once it is compiled.
const (
	rulesKey = "x-kubernetes-validations"
	formKey  = "x-form"
)

// prepare reads the rules of a schema and compiles its pattern once, and not for each value.
func prepare(schema *spec.Schema) {
	if given, ok := schema.Extensions[rulesKey]; ok {
		var rules []rule
		text, err := json.Marshal(given)
		if err = errors.Join(err, json.Unmarshal(text, &rules)); err != nil {
			panic(err) // it is part of the program
		}
		schema.Extensions[rulesKey] = rules
	}
	if schema.Pattern != "" {
		schema.AddExtension(formKey, regexp.MustCompile(schema.Pattern))
	}
}

func rulesOf(schema *spec.Schema) []rule {
	rules, _ := schema.Extensions[rulesKey].([]rule)
	return rules
}

// formOf is nil where any text will do.
func formOf(schema *spec.Schema) *regexp.Regexp {
	form, _ := schema.Extensions[formKey].(*regexp.Regexp)
	return form
}

// holds evaluates the rule for a mapping.
func (r rule) holds(n *yaml.Node, schema *spec.Schema) (bool, error) {
	value, err := scope{n, schema}.evaluate(r.Holds)
	return value == true, err
}

// scope is what a rule is about.
type scope struct {
	self   *yaml.Node
	schema *spec.Schema
}

// evaluate returns a bool, a string or a float64. An expression is a text or a number, or a list of an operator and what it
// is applied to: "has", "size" and "field" to the path of a field.
func (s scope) evaluate(expression any) (any, error) {
	list, ok := expression.([]any)
	if !ok {
		return expression, nil
	}
	switch operator := list[0]; operator {
	case "has", "size", "field":
		return s.ofField(operator.(string), list[1].(string))
	case "!":
		value, err := s.evaluate(list[1])
		return value != true, err
	default:
		return s.compare(operator.(string), list[1], list[2])
	}
}

// compare evaluates the right side only where the left one does not decide.
func (s scope) compare(operator string, a, b any) (any, error) {
	left, err := s.evaluate(a)
	if err != nil || operator == "&&" && left == false || operator == "||" && left == true {
		return left, err
	}
	right, err := s.evaluate(b)
	if err != nil {
		return nil, err
	}
	switch operator {
	case "&&", "||":
		return right, nil
	case "==":
		return left == right, nil
	case "!=":
		return left != right, nil
	case ">":
		return left.(float64) > right.(float64), nil
	}
	return nil, fmt.Errorf("%s cannot be evaluated", operator)
}

// ofField is what is asked of a field, whose default counts where it is not there.
func (s scope) ofField(operator, path string) (any, error) {
	n, fallback := s.field(path)
	switch {
	case operator == "has":
		return n != nil || fallback != nil, nil
	case operator == "size" && n != nil && n.Kind == yaml.SequenceNode:
		return float64(len(n.Content)), nil
	case operator == "field" && n != nil && !strings.Contains(n.Value, manifest.Unset):
		return n.Value, nil
	case operator == "field" && n == nil && fallback != nil:
		return fallback, nil
	}
	return nil, fmt.Errorf("%s of %s is not known", operator, path)
}

// field is what a path leads to, and the default where nothing is there.
func (s scope) field(path string) (n *yaml.Node, fallback any) {
	n, schema := s.self, s.schema
	for name := range strings.SplitSeq(path, ".") {
		if n = tree.Child(n, name); n != nil && TypeOf(n) == Null {
			n = nil
		}
		if schema = Field(schema, name); schema == nil {
			return n, nil
		}
	}
	if n == nil {
		fallback = schema.Default
	}
	return n, fallback
}
