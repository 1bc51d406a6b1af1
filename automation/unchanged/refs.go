package unchanged

import (
	"reflect"
	"strings"

	"tombolo/config"
)

// Content is what of a cluster file decides what an up makes: all of it but where the file is,
// and what is told of it.
func Content(c *config.Cluster) any {
	out := *c
	out.File, out.Warnings = "", nil
	return out
}

// SecretRefs are the references to secrets in a cluster, by the keys of the file that have them.
// They are found by their type, so that none can be forgotten.
func SecretRefs(c *config.Cluster) map[string]*config.SecretRef {
	out := map[string]*config.SecretRef{}
	walk(reflect.ValueOf(c), "", out)
	return out
}

func walk(v reflect.Value, at string, out map[string]*config.SecretRef) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		if v.CanInterface() {
			if ref, ok := v.Interface().(*config.SecretRef); ok {
				out[at] = ref
				return
			}
		}
		walk(v.Elem(), at, out)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
				walk(v.Field(i), strings.TrimPrefix(at+"."+name, "."), out)
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			walk(v.MapIndex(key), at+"."+key.String(), out)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), at, out)
		}
	}
}
