package flux

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"tombolo/components/distribution"
)

// Substitution is what kustomize-controller does with a variable that has no value.
type Substitution int

// The choices.
const (
	// SubstituteAsReleased leaves it to the release: Flux 2.9 and later refuse the
	// manifest, those before put an empty string in its place.
	SubstituteAsReleased Substitution = iota
	// SubstituteStrictly refuses the manifest.
	SubstituteStrictly
	// SubstituteLeniently puts an empty string in its place.
	SubstituteLeniently
)

const (
	gateFlag    = "--feature-gates="
	strictGate  = "StrictPostBuildSubstitutions=true"
	lenientGate = "StrictPostBuildSubstitutions=false"
)

// strictSince is the first kustomize-controller that refuses by itself what strictGate
// refuses. https://github.com/fluxcd/kustomize-controller/blob/v1.9.0/CHANGELOG.md
const strictSince = "v1.9.0"

// apply has kustomize-controller substitute so. A release that does it by itself is left as
// it is.
func (s Substitution) apply(objects []distribution.Object) error {
	if s == SubstituteAsReleased {
		return nil
	}
	for _, o := range objects {
		if !isKustomizeController(o) {
			continue
		}
		container, err := manager(o)
		if err != nil {
			return err
		}
		if gate := s.gate(container); gate != "" {
			container["args"] = withGate(container["args"], gate)
		}
		return nil
	}
	return errNoKustomizeController
}

// gate is what a container of kustomize-controller has to be told; "" when its release
// does it by itself.
func (s Substitution) gate(container map[string]any) string {
	image, _ := container["image"].(string)
	strict := semver.Compare(tag(image), strictSince) >= 0
	switch {
	case s == SubstituteStrictly && !strict:
		return strictGate
	case s == SubstituteLeniently && strict:
		return lenientGate
	}
	return ""
}

var errNoKustomizeController = errors.New("the distribution has no kustomize-controller, which the platform tree needs")

func isKustomizeController(o distribution.Object) bool {
	return o.Is("Deployment", "kustomize-controller")
}

func withGate(args any, gate string) []any {
	list, _ := args.([]any)
	list = slices.Clone(list)
	for i, a := range list {
		if s, ok := a.(string); ok && strings.HasPrefix(s, gateFlag) {
			list[i] = s + "," + gate
			return list
		}
	}
	return append(list, gateFlag+gate)
}

// tag of an image, such as v1.9.4; "" when it has none.
func tag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(path.Base(image), ":")
	return tag
}

func manager(deployment distribution.Object) (map[string]any, error) {
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
