package value

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func secret(v any) map[string]any {
	return map[string]any{resource.SigKey: resource.SecretSig, "value": v}
}

func TestShown(t *testing.T) {
	object := map[string]any{"a": []any{secret("hunter2"), plugin.UnknownBoolValue, 1.0}, "__defaults": []any{"name"}}
	for _, test := range []struct {
		name   string
		v      any
		hidden bool
		want   any
	}{
		{"a text", "a", false, "a"},
		{"nothing", nil, true, nil},
		{"a secret", secret("hunter2"), false, Masked},
		{"what hides a text", "hunter2", true, Masked},
		{"what hides an object", map[string]any{"password": "hunter2"}, true, Masked},
		{"an unknown text", plugin.UnknownStringValue, false, Unknown{}},
		{"an unknown number that is hidden", plugin.UnknownNumberValue, true, Unknown{}},
		{"an object", object, false, map[string]any{"a": []any{Masked, Unknown{}, 1.0}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.DeepEqual(t, Shown(test.v, test.hidden), test.want)
		})
	}
}

func TestAt(t *testing.T) {
	in := map[string]any{"list": []any{"zero", map[string]any{"key": "one"}}, "locked": secret(map[string]any{"key": "hunter2"}), "masked": Masked}
	for _, test := range []struct {
		path   string
		want   any
		secret bool
	}{
		{"list[0]", "zero", false},
		{"list[1].key", "one", false},
		{"list[2]", nil, false},
		{"list.key", nil, false},
		{"missing.key", nil, false},
		{"locked", Masked, true},
		{"locked.key", Masked, true},
		{"masked", Masked, true},
	} {
		path, err := resource.ParsePropertyPath(test.path)
		assert.NilError(t, err)
		if got, hidden := At(in, path); got != test.want || hidden != test.secret {
			t.Errorf("at %s is %v, secret %t; want %v, %t", test.path, got, hidden, test.want, test.secret)
		}
	}
}

func TestHidesContent(t *testing.T) {
	for _, test := range []struct {
		token, path string
		want        bool
	}{
		{"kubernetes:core/v1:Secret", "data.token", true},
		{"kubernetes:core/v1:Secret", "stringData", true},
		{"kubernetes:core/v1:Secret", "metadata.name", false},
		{"kubernetes:core/v1:ConfigMap", "data.token", false},
	} {
		path, err := resource.ParsePropertyPath(test.path)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(HidesContent(test.token, path), test.want), "%s of %s is hidden", test.path, test.token)
	}
}
