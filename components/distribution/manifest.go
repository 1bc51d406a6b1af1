package distribution

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"gopkg.in/yaml.v3"
)

// clusterScoped are the kinds in install manifests that are in no namespace.
func clusterScoped() []string {
	return []string{
		"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "MutatingWebhookConfiguration",
		"Namespace", "PriorityClass", "ValidatingWebhookConfiguration",
	}
}

// Parse reads the objects of a manifest, except for the product's Namespace,
// which is made before it. An object without a namespace is put into the
// product's, as kubectl -n would do.
func (p Product) Parse(manifest []byte) ([]Object, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(manifest))
	var objects []Object
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
		o := Object(decoded)
		if len(o) == 0 || o.Is("Namespace", p.Namespace) {
			continue
		}
		if o.Kind() == "" || o.Text("apiVersion") == "" || o.Meta("name") == "" {
			return nil, fmt.Errorf("document %d of the distribution is no Kubernetes object: it needs apiVersion, kind and metadata.name", n)
		}
		if o.Meta("namespace") == "" && !slices.Contains(clusterScoped(), o.Kind()) {
			o["metadata"].(map[string]any)["namespace"] = p.Namespace
		}
		delete(o, "status")
		o.outlive()
		objects = append(objects, o)
	}
	if !slices.ContainsFunc(objects, func(o Object) bool { return o.Kind() == "Deployment" }) {
		return nil, fmt.Errorf("the distribution has no Deployment; is it %s's install manifest?", p.Name)
	}
	return objects, nil
}

// Controllers are the names of the manifest's controllers, Deployments and
// StatefulSets, in the product's namespace.
func (p Product) Controllers(manifest []byte) ([]string, error) {
	objects, err := p.Parse(manifest)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range objects {
		if o.isController() && o.Meta("namespace") == p.Namespace {
			names = append(names, o.Meta("name"))
		}
	}
	return names, nil
}

// Digest identifies a manifest together with the changes that are made to it.
func Digest(manifest []byte, changes ...string) string {
	sum := sha256.New()
	sum.Write(manifest)
	for _, change := range changes {
		sum.Write([]byte(change))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// The stages of a distribution.
const (
	definitions = iota
	needed      // by controllers
	controllers
	stageCount
)

// stages orders objects: definitions, then what controllers need, then the
// controllers.
func stages(objects []Object) [stageCount][]Object {
	var out [stageCount][]Object
	for _, o := range objects {
		stage := needed
		switch {
		case o.Kind() == "CustomResourceDefinition":
			stage = definitions
		case o.isController():
			stage = controllers
		}
		out[stage] = append(out[stage], o)
	}
	return out
}
