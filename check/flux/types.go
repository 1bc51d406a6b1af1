package flux

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"tombolo/check/definition"
	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/tree"
)

// kustomize writes text without quotes before Flux substitutes, and Flux reads the result as YAML 1.1:
// digits, yes and 1e3 are text no longer. The API refuses them where it wants text.
// Source: SubstituteVariables in kustomize/kustomize_varsub.go of fluxcd/pkg, and
// https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-substitution-of-numbers-and-booleans

// typing looks at the types of an object's values before and after the substitution.
type typing struct {
	*Walk
	s      *sync
	object manifest.Object
	// defined says that the schema is that of the cluster's definition.
	defined bool
}

// checkTypes looks for text that is none to the API, or that Helm and others are given as something else.
func (w *Walk) checkTypes(s *sync, o manifest.Object, text, before string) {
	var after, other yaml.Node
	source := &after
	if text != before { // most objects have no variables
		source = &other
	}
	if yaml.Unmarshal([]byte(text), &after) != nil || source == &other && yaml.Unmarshal([]byte(before), source) != nil {
		return
	}
	schema, same := definition.Flux().Of(o)
	t := typing{w, s, o, same && w.isDefined()}
	if known := openapi.SchemaForResourceType(kyaml.TypeMeta{APIVersion: o.APIVersion, Kind: o.Kind}); known != nil {
		schema = known.Schema
	}
	t.each(child(&after), child(source), nil, schema)
}

func child(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		return n.Content[0]
	}
	return n
}

func (t typing) each(n, before *yaml.Node, at []string, schema *spec.Schema) {
	if t.defined && !t.holds(n, before, at, schema) {
		return
	}
	if isText(at, schema) {
		if got := definition.TypeOf(n); got != definition.Text && got != definition.Null {
			t.refused(n, before, at, got)
		}
		return
	}
	switch {
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			t.each(n.Content[i+1], tree.Child(before, key), append(slices.Clip(at), key), resolved(definition.Field(schema, key)))
		}
	case n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			var was *yaml.Node
			if before != nil && before.Kind == yaml.SequenceNode && i < len(before.Content) {
				was = before.Content[i]
			}
			t.each(item, was, append(slices.Clip(at), "[]"), itemOf(schema))
		}
	case schema == nil || len(schema.Type) == 0:
		t.changed(n, before, at)
	}
}

// isText says whether the API wants text at a path: every kind's labels, annotations and names, and fields of
// known kinds.
func isText(at []string, schema *spec.Schema) bool {
	switch {
	case len(at) == 3 && at[0] == "metadata" && (at[1] == "labels" || at[1] == "annotations"):
		return true
	case len(at) == 2 && at[0] == "metadata" && (at[1] == "name" || at[1] == "namespace"):
		return true
	case schema != nil:
		return schema.Type.Contains("string") && schema.Format != "int-or-string"
	}
	return false
}

// quantity is a definition that says string, and that the API reads from numbers too.
const quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity"

func itemOf(schema *spec.Schema) *spec.Schema {
	if schema == nil || schema.Items == nil {
		return nil
	}
	return resolved(schema.Items.Schema)
}

func resolved(schema *spec.Schema) *spec.Schema {
	if schema == nil || schema.Ref.String() == "" {
		return schema
	}
	if strings.HasSuffix(schema.Ref.String(), quantity) {
		return &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"number"}}}
	}
	out, err := openapi.Resolve(&schema.Ref, openapi.Schema())
	if err != nil {
		return nil
	}
	return out
}

// wanted is where a value is in the files, and what it was substituted from.
func (t typing) wanted(n, before *yaml.Node, at []string) (what tree.Wanted, variable string) {
	if before != nil && before.Kind == yaml.ScalarNode {
		n = &yaml.Node{Kind: yaml.ScalarNode, Value: t.s.plain(before.Value)}
		if strings.Contains(before.Value, "$") {
			variable = before.Value
		}
	}
	return t.Locate(t.s.origin, t.object, at, n), variable
}

const quoteRemedy = `write ${quote}%[1]s${quote} with a variable quote: '"' of postBuild.substitute or of the cluster file's values, or put text beside it`

func (t typing) refused(n, before *yaml.Node, at []string, got string) {
	what, variable := t.wanted(n, before, at)
	field := strings.Join(at, ".")
	follows := "the API refuses it"
	switch {
	case len(at) == 3 && at[1] == "labels": // seen with kustomize-controller v1.9.4
		follows = "Flux loses all labels of the object, and does not say so"
	case field == "metadata.name":
		follows = "Flux leaves out the object, and does not say so"
	}
	if variable == "" {
		t.Refer(t.s.origin, what, finding.Errorf("%s: %s is %s, and has to be text: %s", t.object.Identity(), field, got, follows).
			WithRemedy("put it into quotes"))
		return
	}
	t.Refer(t.s.origin, what, finding.Errorf("%s: %s is %s once %s is substituted, and has to be text: %s", t.object.Identity(), field, got, variable, follows).
		WithRemedy(fmt.Sprintf(quoteRemedy, variable)))
}

// changed warns of a whole value that becomes another one than the variable has, or that has quotes in
// its file: 012 becomes 10, 1.40 becomes 1.4, and Helm prints 111122223333 as 1.11122223333e+11.
func (t typing) changed(n, before *yaml.Node, at []string) {
	got := definition.TypeOf(n)
	if before == nil || !wholeVariable.MatchString(before.Value) || got != definition.Number && got != definition.Boolean {
		return
	}
	what, variable := t.wanted(n, before, at)
	if !t.quoted(what) && plainly(n.Value) {
		return
	}
	value, _ := sigsyaml.YAMLToJSON([]byte(n.Value)) // it was decoded just now
	t.Refer(t.s.origin, what, finding.Warningf("%s: %s is %s once %s is substituted, %s: quotes around it in the file do not keep it text",
		t.object.Identity(), strings.Join(at, "."), got, variable, strings.TrimSpace(string(value))).WithRemedy(fmt.Sprintf(quoteRemedy, variable)))
}

// wholeVariable is a value that is nothing but a variable.
var wholeVariable = regexp.MustCompile(`^\$\{[^{}]*\}$`)

// plainly says whether a number or boolean is written in the one way that keeps it whatever reads it: up to six digits,
// true or false.
func plainly(text string) bool {
	return text == "true" || text == "false" || len(text) <= 6 && json.Valid([]byte(text)) && !strings.ContainsAny(text, ".eE")
}

// quoted says whether a value has quotes in its file.
func (t typing) quoted(what tree.Wanted) bool {
	at, ok := t.Find(t.s.origin, what)
	text, err := t.Files.Read(at.File)
	if !ok || err != nil {
		return false
	}
	lines := strings.Split(string(text), "\n")
	if at.Line < 1 || at.Line > len(lines) {
		return false
	}
	line := []rune(lines[at.Line-1])
	return at.Column <= len(line) && strings.ContainsRune(`"'`, line[at.Column-1])
}
