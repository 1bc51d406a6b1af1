// Package definition has the definitions of Flux's kinds.
package definition

import (
	_ "embed" // the definitions
	"encoding/json"
	"strings"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"tombolo/check/manifest"
)

// The definitions without descriptions and status, one a line, by API version and kind: those of the controllers that
// install.yaml of flux2 v2.9.3 has, of image-reflector-controller v1.2.0, image-automation-controller v1.2.1 and
// source-watcher v2.2.1.
//
//go:embed definitions.json
var text []byte

var all = sync.OnceValue(func() map[string]*spec.Schema {
	out := map[string]*spec.Schema{}
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err) // it is part of the program
	}
	return out
})

// Of is the definition of an object's kind; nil when it is none of Flux's. same says that it is that of the API version,
// too: in others, the kinds have the same fields, but for some.
func Of(o manifest.Object) (schema *spec.Schema, same bool) {
	if found := all()[o.APIVersion+"/"+o.Kind]; found != nil {
		return found, true
	}
	for key, found := range all() {
		if strings.HasPrefix(key, o.Group()+"/") && strings.HasSuffix(key, "/"+o.Kind) {
			return found, false
		}
	}
	return nil, false
}
