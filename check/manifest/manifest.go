// Package manifest reads Kubernetes objects out of the YAML that a build makes.
package manifest

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// Substitute is Flux's label, or annotation, that turns the substitution of
// variables off for an object whose value of it is "disabled".
const Substitute = "kustomize.toolkit.fluxcd.io/substitute"

// Unset stands for a value that is missing, so that what it is in can be read
// on. What holds it is not judged: the missing value has its own finding.
const Unset = "unset-variable-of-tombolo-check"

// Object is what the check reads of every object.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
}

// Group is the API group.
func (o Object) Group() string {
	group, _, _ := strings.Cut(o.APIVersion, "/")
	return group
}

// Identity is how findings name an object: Kind namespace/name.
func (o Object) Identity() string {
	if o.Metadata.Namespace == "" {
		return o.Kind + " " + o.Metadata.Name
	}
	return o.Kind + " " + o.Metadata.Namespace + "/" + o.Metadata.Name
}

// Decode reads an object, or a part of one, out of its YAML.
func Decode[T any](text string) (T, error) {
	var out T
	if err := sigsyaml.Unmarshal([]byte(text), &out); err != nil {
		return out, fmt.Errorf("decoding: %w", err)
	}
	return out, nil
}

// Split returns the documents of YAML, as far as they can be read, without
// empty ones.
func Split(text []byte) []string {
	var out []string
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	for {
		var content map[string]any
		err := decoder.Decode(&content)
		if errors.Is(err, io.EOF) {
			return out
		}
		one, failed := yaml.Marshal(content)
		if err != nil || failed != nil {
			return out
		}
		if len(content) > 0 {
			out = append(out, string(one))
		}
	}
}
