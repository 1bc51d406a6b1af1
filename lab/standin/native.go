package standin

import (
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Native is in what a provider that was made for Pulumi, such as azure-native, differs from
// one that is bridged from Terraform. The zero value differs in nothing.
type Native struct {
	// SameID says that two texts are one id, of a cloud that does not tell cases of letters
	// apart. Default: they are equal.
	SameID func(a, b string) bool
	// Alike says that two values of an input are one, pattern being its path as in
	// Type.ForceNew, with [] for the place in a list. Default: lists are sets. With Alike,
	// differences within lists are told one by one.
	Alike func(pattern string, a, b any) bool
	// DeletesFirst: a resource is deleted before its replacement is made, except for one
	// that the provider has named itself.
	DeletesFirst bool
	// PlainErrors are printed as they are, and not as Terraform's lists of errors.
	PlainErrors bool
	// ImportsOutputs: the inputs of what is imported are all of its outputs that are inputs
	// too, with all that the cloud has filled in.
	ImportsOutputs bool
	// PreviewsInputs: in a preview an output is known only where it is an input, within
	// objects too. Stable outputs are known in the preview of an update, too.
	PreviewsInputs bool
	Stable         []string
	// Plain is a token without what people leave out of it, such as the version of an API.
	// Default: all of it.
	Plain func(token string) string
}

// plain is a token as Plain has it.
func (n Native) plain(token string) string {
	if n.Plain == nil {
		return token
	}
	return n.Plain(token)
}

// sameID compares ids as the cloud does.
func (n Native) sameID(a, b string) bool {
	if n.SameID == nil {
		return a == b
	}
	return n.SameID(a, b)
}

// imported are the inputs that a provider without them takes from outputs: all of these that
// are inputs too, and what names the resource.
func (t *Type) imported(in, out Props) Props {
	projected := t.schema.inputs.project(out)
	for name := range in {
		if !t.HasOutput(name) {
			projected[name] = in[name]
		}
	}
	return projected
}

// project keeps what the shape has of an object, within its objects and lists too.
func (s *shape) project(value Props) Props {
	kept := Props{}
	for name, t := range s.fields {
		if inner, is := value[name]; is {
			kept[name] = projected(inner, t)
		}
	}
	return kept
}

func projected(value any, t reflect.Type) any {
	t = pointedTo(t)
	switch v := value.(type) {
	case map[string]any:
		if t.Kind() == reflect.Struct {
			return map[string]any(shapeOf(t).project(v))
		}
		if t.Kind() == reflect.Slice { // a set of names, which the cloud returns with what it knows of each
			return Values(SortedKeys(v)...)
		}
	case []any:
		if t.Kind() == reflect.Slice {
			list := make([]any, len(v))
			for i, element := range v {
				list[i] = projected(element, t.Elem())
			}
			return list
		}
	}
	return cloneValue(value)
}

// foresee is what is known of outputs by the inputs alone.
func (s *shape) foresee(in Props) Props {
	out := Props{}
	for name, t := range s.fields {
		out[name] = Unknown{}
		if value, given := in[name]; given {
			out[name] = foreseen(value, elementOf(t))
		}
	}
	return out
}

func foreseen(value any, t reflect.Type) any {
	t = pointedTo(t)
	object, is := value.(map[string]any)
	list, isList := value.([]any)
	switch {
	case isList && t.Kind() == reflect.Slice:
		items := make([]any, len(list))
		for i, e := range list {
			items[i] = foreseen(e, t.Elem())
		}
		return items
	case is && t.Kind() == reflect.Struct:
		return map[string]any(shapeOf(t).foresee(object))
	case !is && t.Kind() == reflect.Map:
		return Unknown{} // names, of which the cloud will tell more
	}
	return cloneValue(value)
}

// elementOf is the type of an output's value.
func elementOf(t reflect.Type) reflect.Type {
	if output, is := reflect.Zero(t).Interface().(pulumi.Output); is {
		return output.ElementType()
	}
	return t
}

func pointedTo(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
