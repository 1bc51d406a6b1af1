package aws

import (
	"reflect"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/eks"
	"tombolo/config"
)

// TestKeysAreGiven: the component gets each key.
func TestKeysAreGiven(t *testing.T) {
	for _, key := range keys() {
		var k config.Kubernetes
		field := reflect.ValueOf(&k).Elem()
		for i, name := range strings.Split(key.field, ".") {
			if i > 0 || name != "Kubernetes" {
				field = field.FieldByName(name)
			}
			assert.Assert(t, field.IsValid(), key.field)
		}
		switch field.Kind() {
		case reflect.String:
			field.SetString("given")
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Int:
			field.SetInt(7)
		default:
			field.Set(reflect.ValueOf([]string{"given"}))
		}
		var got eks.ClusterArgs
		key.give(k, &got)
		assert.Check(t, !is.DeepEqual(got, eks.ClusterArgs{})().Success(), "the component does not get %s", key.field)
	}
}
