// Package live reads the resources of a core stack that is deployed, for the clouds to
// say which cluster file they were made from.
package live

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/internal/sleep"
)

// Resource is a resource of a stack's state.
type Resource struct {
	// Type is Pulumi's token, Name the name in the program.
	Type, Name string
	// Outputs as the state has them. What is secret among them is of no use here.
	Outputs Props
}

// Props are properties of a resource.
type Props map[string]any

// New makes a resource of what a state has.
func New(urn, token string, outputs map[string]any) Resource {
	return Resource{Type: token, Name: urn[strings.LastIndex(urn, "::")+len("::"):], Outputs: outputs}
}

// Text is a property, "" for none.
func (p Props) Text(key string) string {
	text, _ := p[key].(string)
	return text
}

// Number is a property, 0 for none.
func (p Props) Number(key string) int {
	number, _ := p[key].(float64)
	return int(number)
}

// Truth is a property, false for none.
func (p Props) Truth(key string) bool {
	truth, _ := p[key].(bool)
	return truth
}

// In is an object within, empty for none.
func (p Props) In(key string) Props {
	inner, _ := p[key].(map[string]any)
	return inner
}

// Items are the objects of a list.
func (p Props) Items(key string) []Props {
	list, _ := p[key].([]any)
	var out []Props
	for _, item := range list {
		if object, ok := item.(map[string]any); ok {
			out = append(out, object)
		}
	}
	return out
}

// Texts are the texts of a list.
func (p Props) Texts(key string) []string {
	list, _ := p[key].([]any)
	var out []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// Map is the object as a map of texts.
func (p Props) Map() map[string]string {
	out := make(map[string]string, len(p))
	for key := range p {
		out[key] = p.Text(key)
	}
	return out
}

// Resources of a stack.
type Resources []Resource

// OfType are the resources of a type.
func (rs Resources) OfType(token string) Resources {
	return slices.DeleteFunc(slices.Clone(rs), func(r Resource) bool { return r.Type != token })
}

// First is the first resource of a type, for types of which a stack has one.
func (rs Resources) First(token string) (r Resource, there bool) {
	if i := slices.IndexFunc(rs, func(r Resource) bool { return r.Type == token }); i >= 0 {
		return rs[i], true
	}
	return Resource{}, false
}

// Named is the resource of a type and a name; the zero Resource when there is none.
func (rs Resources) Named(token, name string) Resource {
	for _, r := range rs {
		if r.Type == token && r.Name == name {
			return r
		}
	}
	return Resource{}
}

// readFunction is the engine's function that reads the resources of a stack.
const readFunction = "pulumi:pulumi:readStackResourceOutputs"

// beingWritten is of the error of a state that the CLI writes at the same moment: in a
// directory, it writes the attributes of the state's file in more than one step. Source:
// https://pkg.go.dev/gocloud.dev/blob/fileblob#Options
const beingWritten = "failed to load checkpoint"

// pauses are those before such a state is read again.
var pauses = []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second}

// Read reads the resources of the stack that the program is run for, as they were
// before, with the outputs of these keys. It leaves no trace in the state; a stack that
// does not exist has none. Outputs of other keys are not looked at: some are secrets, and
// some are references, which the engine cannot resolve before the program has registered
// the resource.
func Read(ctx *pulumi.Context, keys []string) (Resources, error) {
	state := reflect.New(stateType(keys))
	args := struct {
		Stack string `pulumi:"stackName"`
	}{ctx.Stack()}
	ask := func() error {
		_, err := ctx.InvokePackageRaw(readFunction, args, state.Interface(), "")
		return err
	}
	err := ask()
	for _, pause := range pauses {
		if err == nil || !strings.Contains(err.Error(), beingWritten) || sleep.For(ctx.Context(), pause) != nil {
			break
		}
		err = ask()
	}
	if err != nil {
		return nil, fmt.Errorf("read the resources of stack %s from the state: %w", ctx.Stack(), err)
	}
	var out Resources
	for urn, r := range state.Elem().Field(0).Seq2() {
		outputs := Props{}
		for i, key := range keys {
			if value := r.Field(1).Field(i); !value.IsNil() {
				outputs[key] = value.Interface()
			}
		}
		out = append(out, New(urn.String(), r.Field(0).String(), outputs))
	}
	slices.SortFunc(out, func(a, b Resource) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// stateType is the type that the SDK reads the resources into: a struct has only the
// fields that are asked for.
func stateType(keys []string) reflect.Type {
	var outputs []reflect.StructField
	for i, key := range keys {
		outputs = append(outputs, field(fmt.Sprintf("Output%d", i), key, reflect.TypeFor[any]()))
	}
	resource := reflect.StructOf([]reflect.StructField{
		field("Type", "type", reflect.TypeFor[string]()), field("Outputs", "outputs", reflect.StructOf(outputs)),
	})
	return reflect.StructOf([]reflect.StructField{field("Outputs", "outputs", reflect.MapOf(reflect.TypeFor[string](), resource))})
}

func field(name, key string, typ reflect.Type) reflect.StructField {
	return reflect.StructField{Name: name, Type: typ, Tag: reflect.StructTag(fmt.Sprintf("pulumi:%q", key))}
}
