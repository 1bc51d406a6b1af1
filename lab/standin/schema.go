package standin

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"github.com/agext/levenshtein"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// schema is what a type or function of the provider accepts and returns. It
// comes from the Go SDK by reflection, so that no list of properties is kept.
type schema struct {
	inputs   *shape
	outputs  *shape
	required map[string]bool
}

// shape is an object type: its properties and their Go types.
type shape struct {
	fields map[string]reflect.Type
}

// schemas are remembered by constructor: reflection on large types takes
// milliseconds, and every Check needs it.
var schemas sync.Map

// resourceSchema derives a schema from an SDK constructor such as ec2.NewVpc.
func resourceSchema(constructor any) (*schema, error) {
	f := reflect.ValueOf(constructor)
	if s, ok := schemas.Load(f.Pointer()); ok {
		return s.(*schema), nil
	}
	args := f.Type().In(2).Elem() // func(ctx, name string, args *XArgs, opts...) (*X, error)
	input, ok := reflect.New(args).Elem().Interface().(pulumi.Input)
	if !ok {
		return nil, fmt.Errorf("%s is no input type", args)
	}
	required, err := requiredArguments(f, args)
	if err != nil {
		return nil, err
	}
	s := &schema{
		inputs: shapeOf(input.ElementType()), outputs: shapeOf(f.Type().Out(0).Elem()), required: required,
	}
	schemas.Store(f.Pointer(), s)
	return s, nil
}

// functionSchema derives a schema from an SDK function such as ec2.LookupVpc.
func functionSchema(function any) *schema {
	f := reflect.ValueOf(function).Type()
	s := &schema{outputs: shapeOf(f.Out(0).Elem()), inputs: &shape{}, required: map[string]bool{}}
	if f.NumIn() > 1 && f.In(1).Kind() == reflect.Pointer {
		args := f.In(1).Elem()
		s.inputs = shapeOf(args)
		for name, t := range s.inputs.fields {
			s.required[name] = mandatory(t)
		}
	}
	return s
}

func shapeOf(t reflect.Type) *shape {
	s := &shape{fields: map[string]reflect.Type{}}
	for field := range t.Fields() {
		if name := field.Tag.Get("pulumi"); name != "" {
			name, _, _ = strings.Cut(name, ",")
			s.fields[name] = field.Type
		}
	}
	return s
}

// mandatory reports whether a plain argument type has no room for absence.
// Lists and maps have: which of them are required, only a constructor knows.
func mandatory(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return false
	default:
		return true
	}
}

var missingArgument = regexp.MustCompile(`^invalid value for required argument '(\w+)'$`)

// requiredArguments asks the constructor itself: it names the first argument
// that is missing, gets that one, and is asked again. The empty name keeps it
// from registering anything in the end.
func requiredArguments(constructor reflect.Value, args reflect.Type) (map[string]bool, error) {
	required := map[string]bool{}
	given := reflect.New(args)
	elem := reflect.New(args).Elem().Interface().(pulumi.Input).ElementType()
	for range args.NumField() + 1 {
		out := constructor.Call([]reflect.Value{
			reflect.Zero(constructor.Type().In(0)), reflect.ValueOf(""), given,
		})
		err, _ := out[1].Interface().(error)
		if err == nil {
			return nil, fmt.Errorf("%s accepted an empty name", constructor.Type())
		}
		m := missingArgument.FindStringSubmatch(err.Error())
		if m == nil {
			return required, nil
		}
		field, _ := elem.FieldByName(m[1])
		required[field.Tag.Get("pulumi")] = true
		value, err := anyValue(given.Elem().FieldByName(m[1]).Type())
		if err != nil {
			return nil, err
		}
		given.Elem().FieldByName(m[1]).Set(value)
	}
	return nil, fmt.Errorf("%s asks for more arguments than %s has", constructor.Type(), args)
}

// someOutput is some value of a type of outputs. It is a resolved one where the SDK knows the
// type: a constructor with defaults, as of azure-native's vaults, applies them to it.
func someOutput(t reflect.Type) reflect.Value {
	none := reflect.Zero(t)
	if output, ok := none.Interface().(pulumi.Output); ok && output.ElementType().Kind() == reflect.Struct {
		if resolved := reflect.ValueOf(pulumi.ToOutput(reflect.Zero(output.ElementType()).Interface())); resolved.Type() == t {
			return resolved
		}
	}
	return none
}

// anyValue makes some value of an input type such as pulumi.StringInput. Each
// has a method ToXOutput, and the output type that it returns is an input too.
func anyValue(t reflect.Type) (reflect.Value, error) {
	if s := reflect.ValueOf(pulumi.String("")); s.Type().AssignableTo(t) {
		return s, nil
	}
	for m := range t.Methods() {
		if m.Type.NumIn() == 0 && m.Type.NumOut() == 1 && m.Type.Out(0).AssignableTo(t) {
			return someOutput(m.Type.Out(0)), nil
		}
	}
	return reflect.Value{}, fmt.Errorf("no value of %s is known", t)
}

// Problem is a property that a type does not accept.
type Problem struct {
	// Path of the property, such as vpcConfig.subnetIds[0].
	Path string
	// Reason is a sentence, in the words of the real provider.
	Reason string
}

// check finds all properties that the schema does not accept. It also brings
// values to the type they are meant to have, as the provider does.
func (s *schema) check(in Props) []Problem {
	var problems []Problem
	for _, name := range SortedKeys(s.required) {
		if s.required[name] && !in.Has(name) {
			problems = append(problems, Missing(name, name))
		}
	}
	return append(problems, s.inputs.check("", in)...)
}

func (s *shape) check(path string, in Props) []Problem {
	var problems []Problem
	for _, name := range SortedKeys(in) {
		t, known := s.fields[name]
		if !known {
			problems = append(problems, s.unexpected(path, name))
			continue
		}
		value, more := coerce(join(path, name), in[name], t)
		in[name] = value
		problems = append(problems, more...)
	}
	return problems
}

// checkNested also looks for what is missing: nested types have no
// constructor, but scalars that are no pointers are required.
func (s *shape) checkNested(path string, in Props) []Problem {
	var problems []Problem
	for _, name := range SortedKeys(s.fields) {
		if mandatory(s.fields[name]) && !in.Has(name) {
			problems = append(problems, Missing(join(path, name), name))
		}
	}
	return append(problems, s.check(path, in)...)
}

func (s *shape) unexpected(path, name string) Problem {
	p := Problem{Path: join(path, name), Reason: "Invalid or unknown key"}
	best := 0.6
	for _, candidate := range SortedKeys(s.fields) {
		if score := levenshtein.Similarity(name, candidate, nil); score > best {
			best, p.Reason = score, fmt.Sprintf("Invalid or unknown key; did you mean %q?", candidate)
		}
	}
	return p
}

// Missing is the problem of a required input that is not given.
func Missing(path, name string) Problem {
	return Problem{Path: path, Reason: fmt.Sprintf(
		"Missing required argument. The argument %q is required, but no definition was found.", name)}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// coerce checks a value against its Go type.
func coerce(path string, value any, t reflect.Type) (any, []Problem) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if _, isUnknown := value.(Unknown); isUnknown || t.Kind() == reflect.Interface {
		return value, nil
	}
	switch t.Kind() {
	case reflect.Slice:
		return coerceList(path, value, t.Elem())
	case reflect.Map:
		return coerceMap(path, value, t.Elem())
	case reflect.Struct:
		m, ok := value.(map[string]any)
		if !ok {
			return value, wrongType(path, "an object", value)
		}
		return m, shapeOf(t).checkNested(path, m)
	default:
		return coerceScalar(path, value, t)
	}
}

func coerceList(path string, value any, t reflect.Type) (any, []Problem) {
	list, ok := value.([]any)
	if !ok {
		return value, wrongType(path, "a list", value)
	}
	var problems []Problem
	for i := range list {
		v, more := coerce(fmt.Sprintf("%s[%d]", path, i), list[i], t)
		list[i] = v
		problems = append(problems, more...)
	}
	return list, problems
}

func coerceMap(path string, value any, t reflect.Type) (any, []Problem) {
	m, ok := value.(map[string]any)
	if !ok {
		return value, wrongType(path, "a map", value)
	}
	var problems []Problem
	for _, k := range SortedKeys(m) {
		v, more := coerce(fmt.Sprintf("%s[%q]", path, k), m[k], t)
		m[k] = v
		problems = append(problems, more...)
	}
	return m, problems
}

func coerceScalar(path string, value any, t reflect.Type) (any, []Problem) {
	switch t.Kind() {
	case reflect.String:
		switch v := value.(type) {
		case string:
			return v, nil
		case bool, float64:
			return fmt.Sprint(v), nil
		}
		return value, wrongType(path, "a string", value)
	case reflect.Bool:
		if s, ok := value.(string); ok && (s == "true" || s == "false") {
			return s == "true", nil
		}
		if _, ok := value.(bool); ok {
			return value, nil
		}
		return value, wrongType(path, "a boolean", value)
	default:
		if s, ok := value.(string); ok {
			if f, ok := Number(s); ok {
				return f, nil
			}
		}
		if f, ok := value.(float64); ok && (t.Kind() == reflect.Float64 || f == float64(int(f))) {
			return f, nil
		}
		return value, wrongType(path, "a number", value)
	}
}

func wrongType(path, want string, value any) []Problem {
	got := map[reflect.Kind]string{
		reflect.String: "a string", reflect.Bool: "a boolean", reflect.Float64: "a number",
		reflect.Slice: "a list", reflect.Map: "an object",
	}[reflect.ValueOf(value).Kind()]
	return []Problem{{Path: path, Reason: fmt.Sprintf("expected %s, received %s", want, got)}}
}
