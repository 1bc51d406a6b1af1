package flux

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tombolo/components/distribution"
)

// object is one Kubernetes object of the manifest.
type object = distribution.Object

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
	return o.Is("Deployment", "kustomize-controller")
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
	return nil, fmt.Errorf("deployment %s has no container named manager", deployment.Meta("name"))
}
