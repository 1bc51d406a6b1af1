package flux

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"gopkg.in/yaml.v3"

	"tombolo/components/distribution"
	"tombolo/internal/names"
)

// The files by which Flux manages itself, below the tree's path, under the names that Flux's own
// bootstrap gives them.
const (
	ComponentsFile = names.FluxNamespace + "/gotk-components.yaml"
	SyncFile       = names.FluxNamespace + "/gotk-sync.yaml"
)

// Directions to kustomize-controller about one object, and their values.
const (
	pruneAnnotation      = "kustomize.toolkit.fluxcd.io/prune"
	substituteAnnotation = "kustomize.toolkit.fluxcd.io/substitute"
	applyAnnotation      = "kustomize.toolkit.fluxcd.io/ssa"

	disabled     = "disabled"
	ifNotPresent = "IfNotPresent"
)

// Staying is what kustomize-controller is told about an object that stays when Git has it no more.
func Staying() map[string]string { return map[string]string{pruneAnnotation: disabled} }

// FilesArgs are the arguments of Files.
type FilesArgs struct {
	// Manifest is Flux's install manifest, as Product().Load returns it.
	Manifest []byte
	// Substitution is what Flux does with variables that have no value. Default:
	// SubstituteAsReleased.
	Substitution Substitution
	// Follow says what Flux follows.
	Follow
	// Provider of the credentials for the repository. They are in no file: bootstrap makes them.
	Provider Provider
}

// Digest identifies what an engine installs: the manifest, and the one change
// that is made to it.
func Digest(manifest []byte, s Substitution) string {
	switch s {
	case SubstituteStrictly:
		return distribution.Digest(manifest, strictGate)
	case SubstituteLeniently:
		return distribution.Digest(manifest, lenientGate)
	}
	return distribution.Digest(manifest)
}

// Files are the distribution and the sync objects as files for the repository
// that Flux follows, by their name.
//
// The distribution is not pruned: Flux would otherwise take itself away when
// its Kustomization is deleted, and never finish. It is not substituted either:
// the descriptions in it hold variables that are examples. The namespace and
// the sync objects are applied only where they are missing: bootstrap makes
// them, and goes on to decide about them.
func Files(args *FilesArgs) (map[string][]byte, error) {
	if err := errors.Join(append(args.Problems(), args.substituteProblem())...); err != nil {
		return nil, fmt.Errorf("files for Flux: %w", err)
	}
	components, err := args.components()
	if err != nil {
		return nil, fmt.Errorf("files for Flux: %w", err)
	}
	following := args.syncObjects(args.Provider)
	for _, o := range following {
		o.Annotate(applyAnnotation, ifNotPresent)
		o.Annotate(substituteAnnotation, disabled)
	}
	sync, err := distribution.Encode(following...)
	if err != nil {
		return nil, fmt.Errorf("files for Flux: write %s: %w", SyncFile, err)
	}
	return map[string][]byte{ComponentsFile: components, SyncFile: sync}, nil
}

// components is the manifest with our directions in it.
func (a *FilesArgs) components() ([]byte, error) {
	if _, err := Product().Parse(a.Manifest); err != nil {
		return nil, err
	}
	substituted := a.Substitution == SubstituteAsReleased
	out, err := distribution.Rewrite(a.Manifest, func(n *yaml.Node, o distribution.Object) (bool, error) {
		changed, err := a.edit(n, o)
		substituted = substituted || changed
		return true, err
	})
	if err == nil && !substituted {
		err = errNoKustomizeController
	}
	return out, err
}

// edit annotates one object, and says whether it was the one that substitutes.
func (a *FilesArgs) edit(n *yaml.Node, o distribution.Object) (substitutes bool, err error) {
	annotations := map[string]string{pruneAnnotation: disabled, substituteAnnotation: disabled}
	switch o.Kind() {
	case "Namespace":
		annotations[applyAnnotation] = ifNotPresent
	case "Deployment":
		annotations[distribution.DigestAnnotation] = Digest(a.Manifest, a.Substitution)
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		distribution.SetAnnotation(n, key, annotations[key])
	}
	if !isKustomizeController(o) {
		return false, nil
	}
	container, err := manager(o)
	if err != nil {
		return false, err
	}
	gates := a.Substitution.gates(container)
	if len(gates) == 0 {
		return true, nil
	}
	var list yaml.Node
	if err := list.Encode(withGates(container["args"], gates)); err != nil {
		return false, err
	}
	*distribution.Member(managerNode(n), "args") = list
	return true, nil
}

// managerNode is the container that manager finds, as a node.
func managerNode(deployment *yaml.Node) *yaml.Node {
	containers := deployment
	for _, key := range []string{"spec", "template", "spec", "containers"} {
		containers = distribution.Member(containers, key)
	}
	i := slices.IndexFunc(containers.Content, func(c *yaml.Node) bool { return distribution.Member(c, "name").Value == "manager" })
	return containers.Content[i]
}

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
	// cancelGate has the controller end a wait for health when a newer commit is there. Without it a
	// correction is not looked at before the timeout of what it corrects.
	cancelGate = "CancelHealthCheckOnNewRevision="
)

// cancelSince is the first kustomize-controller that knows cancelGate; one that does not know a
// gate does not start. https://github.com/fluxcd/kustomize-controller/blob/v1.10.1/CHANGELOG.md
const cancelSince = "v1.7.0"

// strictSince is the first kustomize-controller that refuses by itself what strictGate
// refuses. https://github.com/fluxcd/kustomize-controller/blob/v1.9.0/CHANGELOG.md
const strictSince = "v1.9.0"

// apply has kustomize-controller substitute so, and end its waits. A release that does it by
// itself is left as it is.
func (s Substitution) apply(objects []distribution.Object) error {
	for _, o := range objects {
		if !isKustomizeController(o) {
			continue
		}
		container, err := manager(o)
		if err != nil {
			return err
		}
		if gates := s.gates(container); len(gates) > 0 {
			container["args"] = withGates(container["args"], gates)
		}
		return nil
	}
	if s == SubstituteAsReleased {
		return nil
	}
	return errNoKustomizeController
}

// gates are what a container of kustomize-controller has to be told; none when its release
// does it by itself, or the manifest says it.
func (s Substitution) gates(container map[string]any) []string {
	var gates []string
	image, _ := container["image"].(string)
	if semver.Compare(tag(image), cancelSince) >= 0 && !strings.Contains(fmt.Sprint(container["args"]), cancelGate) {
		gates = append(gates, cancelGate+"true")
	}
	strict := semver.Compare(tag(image), strictSince) >= 0
	switch {
	case s == SubstituteStrictly && !strict:
		gates = append(gates, strictGate)
	case s == SubstituteLeniently && strict:
		gates = append(gates, lenientGate)
	}
	return gates
}

var errNoKustomizeController = errors.New("the distribution has no kustomize-controller, which the platform tree needs")

func isKustomizeController(o distribution.Object) bool {
	return o.Is("Deployment", "kustomize-controller")
}

func withGates(args any, gates []string) []any {
	gate := strings.Join(gates, ",")
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
