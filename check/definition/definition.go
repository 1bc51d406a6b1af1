// Package definition holds objects to the definitions of their kinds: the
// CustomResourceDefinitions of Flux and of Argo CD.
package definition

import (
	_ "embed" // the definitions
	"encoding/json"
	"strings"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"tombolo/check/manifest"
)

// Definitions are by API version and kind, such as argoproj.io/v1alpha1/Application.
type Definitions map[string]*spec.Schema

// The definitions have no descriptions and no status, one is a line, and what several have is below #/definitions.
// TestDefinitionsOfFlux and TestDefinitionsOfArgoCD in tests/engines hold them to the manifests that the lab installs, and
// write them anew.
var (
	//go:embed flux.json
	fluxText []byte
	//go:embed argocd.json
	argocdText []byte
)

// Flux has the definitions of the controllers in install.yaml of flux2 v2.9.3, of image-reflector-controller v1.2.0,
// image-automation-controller v1.2.1 and source-watcher v2.2.1.
var Flux = sync.OnceValue(func() Definitions { return read(fluxText) })

// ArgoCD has those of manifests/crds of argoproj/argo-cd v3.5.7.
var ArgoCD = sync.OnceValue(func() Definitions { return read(argocdText) })

// shared is where references lead to.
const shared = "#/definitions/"

func read(text []byte) Definitions {
	var file struct {
		Definitions, Kinds map[string]*spec.Schema
	}
	if err := json.Unmarshal(text, &file); err != nil {
		panic(err) // it is part of the program
	}
	r := references{file.Definitions, map[string]bool{}}
	for _, schema := range file.Kinds {
		r.replace(schema)
	}
	return file.Kinds
}

// references replace what refers to a shared definition by that, and read what definitions say as text.
type references struct {
	shared map[string]*spec.Schema
	ready  map[string]bool
}

func (r references) replace(schema *spec.Schema) {
	if schema == nil {
		return
	}
	if name, ok := strings.CutPrefix(schema.Ref.String(), shared); ok {
		if !r.ready[name] {
			r.ready[name] = true
			r.replace(r.shared[name])
		}
		*schema = *r.shared[name]
		return
	}
	prepare(schema)
	for name, property := range schema.Properties {
		r.replace(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil {
		r.replace(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil {
		r.replace(schema.AdditionalProperties.Schema)
	}
}

// Of is the definition of an object's kind; nil when there is none. same says that it is that of the API version, too: in
// others, the kinds have the same fields, but for some.
func (d Definitions) Of(o manifest.Object) (schema *spec.Schema, same bool) {
	if found := d[o.APIVersion+"/"+o.Kind]; found != nil {
		return found, true
	}
	for key, found := range d {
		if strings.HasPrefix(key, o.Group()+"/") && strings.HasSuffix(key, "/"+o.Kind) {
			return found, false
		}
	}
	return nil, false
}

// Field is the schema of a field; nil when it is not known.
func Field(schema *spec.Schema, key string) *spec.Schema {
	if schema == nil {
		return nil
	}
	if p, ok := schema.Properties[key]; ok {
		return &p
	}
	if schema.AdditionalProperties != nil {
		return schema.AdditionalProperties.Schema
	}
	return nil
}
