package azure

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/azure/apimodel"
	"tombolo/lab/standin"
)

// TestInputsAreInTheAPI: every input of azure-native's types is in the description of the API,
// so that no value goes unchecked.
func TestInputsAreInTheAPI(t *testing.T) {
	for token, typ := range allTypes() {
		args := reflect.TypeOf(typ.Constructor).In(2).Elem()
		in := reflect.New(args).Elem().Interface().(pulumi.Input).ElementType()
		unmapped := apimodel.Unmapped(token, standin.Props(sample(in, 0).(map[string]any)))
		assert.Check(t, is.Len(unmapped, 0), "%s: see apimodel/types.json", token)
		names := apimodel.Parameters(token)
		assert.Check(t, is.Equal(names[len(names)-1], typ.Autoname.Property), token)
		assert.Check(t, is.DeepEqual(typ.ForceNew[:len(names)], names), token)
	}
}

// sample is a value of a type that has everything in it, as deep as azure-native's types are
// not within themselves.
func sample(t reflect.Type, depth int) any {
	switch t.Kind() {
	case reflect.Pointer:
		return sample(t.Elem(), depth)
	case reflect.Slice:
		return []any{sample(t.Elem(), depth)}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return nil // its keys are not known
		}
		return map[string]any{"key": sample(t.Elem(), depth)}
	case reflect.Struct:
		return object(t, depth+1)
	}
	return nil // a value that no limit is for
}

func object(t reflect.Type, depth int) map[string]any {
	in := map[string]any{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("pulumi"), ",")
		if name != "" && depth < 8 {
			in[name] = sample(field.Type, depth)
		}
	}
	return in
}
