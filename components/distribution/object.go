package distribution

import (
	"fmt"
	"slices"
	"strings"
)

// Object is one Kubernetes object of a manifest.
type Object map[string]any

// Text is a field of the object's own that holds text, such as apiVersion.
func (o Object) Text(key string) string { s, _ := o[key].(string); return s }

// Kind of the object.
func (o Object) Kind() string { return o.Text("kind") }

// Meta is a field of the object's metadata that holds text, such as name.
func (o Object) Meta(key string) string {
	m, _ := o["metadata"].(map[string]any)
	s, _ := m[key].(string)
	return s
}

// Is tells the object of a kind and a name.
func (o Object) Is(kind, name string) bool { return o.Kind() == kind && o.Meta("name") == name }

// resourceName is unique within a manifest; home is the product's namespace.
func (o Object) resourceName(home string) string {
	name := strings.ToLower(o.Kind()) + "-" + o.Meta("name")
	if ns := o.Meta("namespace"); ns != "" && ns != home {
		name += "-" + ns
	}
	return name
}

// Identity names the object for people and for the record of what was made:
// "apps/v1 Deployment flux-system/source-controller".
func (o Object) Identity() string {
	name := o.Meta("name")
	if ns := o.Meta("namespace"); ns != "" {
		name = ns + "/" + name
	}
	return o.Text("apiVersion") + " " + o.Kind() + " " + name
}

// identified is an object with nothing but its identity.
func identified(identity string) (Object, error) {
	fields := strings.Fields(identity)
	if len(fields) != 3 {
		return nil, fmt.Errorf("%q is not the identity of an object: expected apiVersion, kind and name", identity)
	}
	meta := map[string]any{"name": fields[2]}
	if namespace, name, ok := strings.Cut(fields[2], "/"); ok {
		meta["namespace"], meta["name"] = namespace, name
	}
	return Object{"apiVersion": fields[0], "kind": fields[1], "metadata": meta}, nil
}

// Annotate sets an annotation.
func (o Object) Annotate(key, value string) {
	meta, _ := o["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		meta["annotations"] = annotations
	}
	annotations[key] = value
}

// Kept are exactly the objects with the identities. One that the manifest no
// longer has is known by its identity alone: enough to leave it as it is.
func Kept(objects []Object, identities []string) ([]Object, error) {
	known := map[string]Object{}
	for _, o := range objects {
		known[o.Identity()] = o
	}
	out := make([]Object, 0, len(identities))
	for _, identity := range identities {
		o, ok := known[identity]
		if !ok {
			var err error
			if o, err = identified(identity); err != nil {
				return nil, err
			}
		}
		out = append(out, o)
	}
	return out, nil
}

// isController tells the kinds that run pods for good.
func (o Object) isController() bool {
	return slices.Contains([]string{"Deployment", "StatefulSet"}, o.Kind())
}

// outlive keeps a Job that would be deleted some time after its end: a refresh
// would find it missing, and the next up would run it again.
func (o Object) outlive() {
	if o.Kind() != "Job" {
		return
	}
	if spec, ok := o["spec"].(map[string]any); ok {
		delete(spec, "ttlSecondsAfterFinished")
	}
}
