// Package values has values that bootstrap reads from elsewhere each time it runs.
package values

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tombolo/config/field"
	"tombolo/config/strict"
)

// Value is a text, or it says where the value is read from each time that bootstrap
// runs: an output of another stack (fromStack, output) or of a state of Terraform
// (fromTerraform, output), or a parameter of Parameter Store (fromSsm). A mapping with these keys may also stand for any value inside a
// service's values. What is secret where it comes from is refused.
type Value struct {
	// Text of the value; "" where it is read from elsewhere.
	Text string `yaml:"-"`
	// FromStack is a stack in the same state backend, which another Pulumi program
	// may have made: stack, of the project tombolo, project/stack or
	// organization/project/stack.
	FromStack string `yaml:"fromStack,omitempty"`
	// FromTerraform is a state that Terraform or OpenTofu keeps, which is only read: a
	// file's path from the cluster file's directory, such as ../network.tfstate,
	// s3://<bucket>/<key>?region=<region>, or the address of the backend http,
	// https://<host>/<path>.
	FromTerraform string `yaml:"fromTerraform,omitempty"`
	// Output of the stack that FromStack names or of the state of FromTerraform, or
	// the path of a value in it, such as db_host, db.host or subnets[0]. Required with
	// both.
	Output string `yaml:"output,omitempty"`
	// FromSSM is the name of a parameter in the cluster's account and region, such as
	// /shop/zone. A String is a text and a StringList a list.
	FromSSM string `yaml:"fromSsm,omitempty" cloud:"aws"`
}

var valueFields = field.Of[Value](map[string]field.Descriptor{
	"FromStack": {Rule: strict.Rule{What: "the name of a stack", Example: "data/prod", Pattern: regexp.MustCompile(`^([A-Za-z0-9_.-]+/){0,2}[A-Za-z0-9_.-]+$`)}, Change: field.Changes(readWords)},
	"FromTerraform": {
		Rule: strict.Rule{
			What: "a state of Terraform: a file's path, s3://<bucket>/<key>?region=<region>, azblob://<container>/<key>?storage_account=<account>, or an address with https", Example: "s3://acme-states/network.tfstate?region=eu-central-1",
			// The first characters of the file's path are none of an address.
			Pattern:   regexp.MustCompile(`^(s3://[a-z0-9.-]+/[^?#\s]+\?(\w+=[^&\s]+&)*region=[a-z0-9-]+(&\w+=[^&\s]+)*|azblob://[a-z0-9-]+/[^?#\s]+\?storage_account=[a-z0-9]{3,24}|https://[^@\s]+|[A-Za-z0-9_.][A-Za-z0-9_./ -]*)$`),
			MaxLength: 2048,
		},
		Change: field.Changes(readWords),
	},
	"Output": {
		Rule: strict.Rule{
			What: "an output of a stack or state, or the path of a value in one", Example: "db.host",
			Pattern: regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+|\[[0-9]+\]|\["[^"\\]+"\])*$`),
		},
		Change: field.Changes(readWords),
	},
	"FromSSM": {
		Rule: strict.Rule{
			// Letters, digits and ._- in at most 15 levels, the whole of at most 1011
			// characters with the ARN before it:
			// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html
			What: "the name of a parameter", Example: "/shop/zone",
			Pattern: regexp.MustCompile(`^(/[A-Za-z0-9_.-]+){1,15}$|^[A-Za-z0-9_.-]+$`), MaxLength: 1011,
		},
		Change: field.Changes(readWords), Instead: "fromStack", Remedy: "use fromStack with output, or a secret of Key Vault by the platform tree",
	},
})

// SetText makes the value a text: a cluster file may write one in its place.
func (v *Value) SetText(text string) { *v = Value{Text: text} }

// Source is where the value is read from; false for a text.
func (v Value) Source() (Source, bool) {
	s := Source{Stack: v.FromStack, State: v.FromTerraform, Output: v.Output, Parameter: v.FromSSM}
	return s, s != Source{}
}

// MarshalYAML writes the value as a cluster file has it.
func (v Value) MarshalYAML() (any, error) {
	if _, ok := v.Source(); !ok {
		return v.Text, nil
	}
	type keys Value // without this method
	return keys(v), nil
}

// Source is where a value is read from when bootstrap runs: an output of a stack or of a state of
// Terraform, or a parameter of Parameter Store. One of Stack, State and Parameter is set.
type Source struct {
	// Stack as the file names it.
	Stack string
	// State is the address of a state of Terraform.
	State string
	// Output of the stack or the state.
	Output string
	// Parameter is the name of one.
	Parameter string
}

// String is the source in words, such as "db.host of stack data/prod".
func (s Source) String() string {
	switch {
	case s.Parameter != "":
		return "parameter " + s.Parameter
	case s.State != "":
		return s.Output + " of " + s.StateName()
	}
	return fmt.Sprintf("%s of stack %s", s.Output, s.Stack)
}

// Later stands for the value, in a preview, where the stack is made first.
func (s Source) Later() string { return "(" + s.String() + ", known after its up)" }

// StateName is the state of Terraform in words, without what is behind the key or path in its address.
func (s Source) StateName() string {
	address, _, _ := strings.Cut(s.State, "?")
	return "Terraform's state " + address
}

// StackName is the whole name of the stack, where one that the file leaves a part of is
// of this organization and this project. State backends in directories and buckets
// take organization/stack or organization/project/stack, with "organization" for the
// organization, and never project/stack (ParseReference in pkg/backend/diy/store.go of
// pulumi/pulumi).
func (s Source) StackName(organization, project string) string {
	switch strings.Count(s.Stack, "/") {
	case 0:
		return organization + "/" + project + "/" + s.Stack
	case 1:
		return organization + "/" + s.Stack
	}
	return s.Stack
}

// Reference is a place in the cluster file whose value is read from elsewhere.
type Reference struct {
	Source Source
	// Path of the place, such as services[0].values.db.host.
	Path strict.Path
	// Service whose Helm values take it; "" for a key of the infra ConfigMap.
	Service string
}

// IsReference says that a mapping in free values stands for a value that is read from
// elsewhere: no chart has values of these names.
func IsReference(keys map[string]any) bool {
	_, stack := keys["fromStack"]
	_, state := keys["fromTerraform"]
	_, parameter := keys["fromSsm"]
	return stack || state || parameter
}

// SourceOf a mapping that isReference; what is no text in it is "".
func SourceOf(keys map[string]any) Source {
	text := func(key string) string {
		s, _ := keys[key].(string)
		return s
	}
	return Source{Stack: text("fromStack"), State: text("fromTerraform"), Output: text("output"), Parameter: text("fromSsm")}
}

// EachReference visits the references in free values, by their keys' order.
func EachReference(at strict.Path, value any, visit func(at strict.Path, keys map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		if IsReference(v) {
			visit(at, v)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			EachReference(at.Key(key), v[key], visit)
		}
	case []any:
		for i, item := range v {
			EachReference(at.Index(i), item, visit)
		}
	}
}

// Replaced is a value with what was read in the place of each reference.
func Replaced(value any, read map[Source]any) any {
	switch v := value.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		if IsReference(v) {
			return read[SourceOf(v)]
		}
		out := make(map[string]any, len(v))
		for key, child := range v {
			out[key] = Replaced(child, read)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			out[i] = Replaced(child, read)
		}
		return out
	}
	return value
}

// Texts are the keys that a file adds to the infra ConfigMap, with what was read
// in the place of each reference: numbers and booleans as YAML writes them.
func Texts(values map[string]Value, read map[Source]any) map[string]string {
	if values == nil {
		return nil
	}
	out := map[string]string{}
	for key, v := range values {
		out[key] = v.Text
		if s, ok := v.Source(); ok && read[s] != nil {
			out[key] = scalarText(read[s])
		}
	}
	return out
}

// example begins what stands for values that nothing has read.
const example = "example-"

// IsExample says that a text stands for a value that nothing has read.
func IsExample(text string) bool { return strings.HasPrefix(text, example) }

// Example stands for the value where nothing is read.
func (v Value) Example() string {
	s, ok := v.Source()
	if !ok {
		return v.Text
	}
	path := cmp.Or(s.Parameter, s.Output)
	return example + path[strings.LastIndexAny(path, "/.")+1:]
}

// scalarText is a text, a number or a boolean as YAML writes it without quotes.
func scalarText(v any) string {
	if number, ok := v.(float64); ok {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// ValueKey is the form of a key that is a variable in manifests.
var ValueKey = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// What a change does that several keys share.
const (
	readWords = "the value is read from there; the ConfigMap changes with it, and the engine follows it"
)

// Fields are the descriptors of the package.
var Fields = field.Join(valueFields)
