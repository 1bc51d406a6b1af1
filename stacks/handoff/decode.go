package handoff

import (
	"fmt"
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// plain is the Go type of an output's value.
func plain(output reflect.Type) reflect.Type {
	switch output {
	case reflect.TypeFor[pulumi.StringArrayOutput]():
		return reflect.TypeFor[[]string]()
	case reflect.TypeFor[pulumi.StringMapOutput]():
		return reflect.TypeFor[map[string]string]()
	default:
		return reflect.TypeFor[string]()
	}
}

// convert is an output of type t with f applied. Whether a value is unknown or
// secret survives.
func convert(o pulumi.Output, t reflect.Type, f func(any) (any, error)) pulumi.Output {
	switch t {
	case reflect.TypeFor[pulumi.StringArrayOutput]():
		return o.ApplyT(func(v any) ([]string, error) { return as[[]string](f(v)) })
	case reflect.TypeFor[pulumi.StringMapOutput]():
		return o.ApplyT(func(v any) (map[string]string, error) { return as[map[string]string](f(v)) })
	default:
		return o.ApplyT(func(v any) (string, error) { return as[string](f(v)) })
	}
}

func as[T any](v any, err error) (T, error) {
	t, _ := v.(T)
	return t, err
}

// decode turns a stack output, as JSON has it, into the type of a field.
func decode(stack, key string, v any, output reflect.Type) (any, error) {
	want := plain(output)
	wrong := fmt.Errorf("output %s of stack %s is %T, expected %s: run up for core again", key, stack, v, want)
	switch want.Kind() {
	case reflect.Slice:
		list, ok := v.([]any)
		if !ok {
			return nil, wrong
		}
		out := make([]string, len(list))
		for i, e := range list {
			if out[i], ok = e.(string); !ok {
				return nil, wrong
			}
		}
		return out, nil
	case reflect.Map:
		m, ok := v.(map[string]any)
		if !ok {
			return nil, wrong
		}
		out := make(map[string]string, len(m))
		for k, e := range m {
			if out[k], ok = e.(string); !ok {
				return nil, wrong
			}
		}
		return out, nil
	default:
		s, ok := v.(string)
		if !ok {
			return nil, wrong
		}
		return s, nil
	}
}
