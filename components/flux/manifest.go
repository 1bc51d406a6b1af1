package flux

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// object is one Kubernetes object of a manifest.
type object map[string]any

func (o object) text(key string) string { s, _ := o[key].(string); return s }

func (o object) kind() string { return o.text("kind") }

func (o object) meta(key string) string {
	m, _ := o["metadata"].(map[string]any)
	s, _ := m[key].(string)
	return s
}

// token is the object's Pulumi type: kubernetes:<group/version>:<Kind>, where
// the core group is called core.
func (o object) token() string {
	version := o.text("apiVersion")
	if !strings.Contains(version, "/") {
		version = "core/" + version
	}
	return "kubernetes:" + version + ":" + o.kind()
}

// resourceName is unique within a manifest.
func (o object) resourceName() string {
	name := strings.ToLower(o.kind()) + "-" + o.meta("name")
	if ns := o.meta("namespace"); ns != "" && ns != Namespace {
		name += "-" + ns
	}
	return name
}

// identity names the object for people and for the record of what was made:
// "apps/v1 Deployment flux-system/source-controller".
func (o object) identity() string {
	name := o.meta("name")
	if ns := o.meta("namespace"); ns != "" {
		name = ns + "/" + name
	}
	return o.text("apiVersion") + " " + o.kind() + " " + name
}

// identified is an object of which nothing but its identity is known.
func identified(identity string) (object, error) {
	fields := strings.Fields(identity)
	if len(fields) != 3 {
		return nil, fmt.Errorf("%q is not the identity of an object: expected apiVersion, kind and name", identity)
	}
	meta := map[string]any{"name": fields[2]}
	if namespace, name, ok := strings.Cut(fields[2], "/"); ok {
		meta["namespace"], meta["name"] = namespace, name
	}
	return object{"apiVersion": fields[0], "kind": fields[1], "metadata": meta}, nil
}

// kept are exactly the objects with the identities. One that the manifest no
// longer has is known by its identity alone: enough to leave it as it is.
func kept(objects []object, identities []string) ([]object, error) {
	known := map[string]object{}
	for _, o := range objects {
		known[o.identity()] = o
	}
	out := make([]object, 0, len(identities))
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

// annotate sets an annotation.
func (o object) annotate(key, value string) {
	meta, _ := o["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		meta["annotations"] = annotations
	}
	annotations[key] = value
}

// parse reads the objects of a manifest, except for the engine's Namespace,
// which is made before it.
func parse(manifest []byte) ([]object, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(manifest))
	var objects []object
	for n := 1; ; n++ {
		// A plain map: yaml.v3 would give nested maps the type of the outermost.
		var decoded map[string]any
		err := decoder.Decode(&decoded)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("document %d of the distribution: %w", n, err)
		}
		o := object(decoded)
		if len(o) == 0 || o.kind() == "Namespace" && o.meta("name") == Namespace {
			continue
		}
		if o.kind() == "" || o.text("apiVersion") == "" || o.meta("name") == "" {
			return nil, fmt.Errorf("document %d of the distribution is no Kubernetes object: it needs apiVersion, kind and metadata.name", n)
		}
		delete(o, "status")
		objects = append(objects, o)
	}
	if !slices.ContainsFunc(objects, func(o object) bool { return o.kind() == "Deployment" }) {
		return nil, errors.New("the distribution has no Deployment; is it a Flux install manifest?")
	}
	return objects, nil
}

// stages orders objects: definitions, then what controllers need, then the
// controllers.
func stages(objects []object) [3][]object {
	var out [3][]object
	for _, o := range objects {
		switch o.kind() {
		case "CustomResourceDefinition":
			out[0] = append(out[0], o)
		case "Deployment":
			out[2] = append(out[2], o)
		default:
			out[1] = append(out[1], o)
		}
	}
	return out
}

const (
	gateFlag   = "--feature-gates="
	strictGate = "StrictPostBuildSubstitutions=true"
)

// makeStrict has kustomize-controller refuse a variable that has no value,
// instead of putting an empty string in its place.
func makeStrict(objects []object) error {
	for _, o := range objects {
		if !isKustomizeController(o) {
			continue
		}
		container, err := manager(o)
		if err != nil {
			return err
		}
		container["args"] = withGate(container["args"])
		return nil
	}
	return errNoKustomizeController
}

var errNoKustomizeController = errors.New("the distribution has no kustomize-controller; strict substitution needs it")

func isKustomizeController(o object) bool {
	return o.kind() == "Deployment" && o.meta("name") == "kustomize-controller"
}

func withGate(args any) []any {
	list, _ := args.([]any)
	list = slices.Clone(list)
	for i, a := range list {
		if s, ok := a.(string); ok && strings.HasPrefix(s, gateFlag) {
			list[i] = s + "," + strictGate
			return list
		}
	}
	return append(list, gateFlag+strictGate)
}

func manager(deployment object) (map[string]any, error) {
	var at any = map[string]any(deployment)
	for _, key := range []string{"spec", "template", "spec"} {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	spec, _ := at.(map[string]any)
	containers, _ := spec["containers"].([]any)
	for _, c := range containers {
		if m, ok := c.(map[string]any); ok && m["name"] == "manager" {
			return m, nil
		}
	}
	return nil, fmt.Errorf("deployment %s has no container named manager", deployment.meta("name"))
}
