package flux

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"tombolo/components/distribution"
)

// The files by which Flux manages itself, under the names that Flux's own
// bootstrap gives them.
const (
	ComponentsFile = "gotk-components.yaml"
	SyncFile       = "gotk-sync.yaml"
)

const (
	// DigestAnnotation is on the Deployments in Files: the Digest of the
	// distribution that Git has.
	DigestAnnotation = "tombolo/distribution"
)

// Directions to kustomize-controller about one object, and their values.
const (
	pruneAnnotation      = "kustomize.toolkit.fluxcd.io/prune"
	substituteAnnotation = "kustomize.toolkit.fluxcd.io/substitute"
	applyAnnotation      = "kustomize.toolkit.fluxcd.io/ssa"

	disabled     = "disabled"
	ifNotPresent = "IfNotPresent"
)

// FilesArgs are the arguments of Files.
type FilesArgs struct {
	// Manifest is Flux's install manifest, as Product().Load returns it.
	Manifest []byte
	// Substitution is what Flux does with variables that have no value. Default:
	// SubstituteAsReleased.
	Substitution Substitution
	// Follow says what Flux follows.
	Follow
	// Private says that Flux needs the Secret names.PlatformAuth for the repository. It
	// is in no file: bootstrap makes it.
	Private bool
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
	var sync bytes.Buffer
	encoder := newEncoder(&sync)
	for _, o := range args.syncObjects(args.Private) {
		o.Annotate(applyAnnotation, ifNotPresent)
		o.Annotate(substituteAnnotation, disabled)
		if err := encoder.Encode(map[string]any(o)); err != nil {
			return nil, fmt.Errorf("files for Flux: write %s: %w", o.Identity(), err)
		}
	}
	return map[string][]byte{ComponentsFile: components, SyncFile: sync.Bytes()}, encoder.Close()
}

func newEncoder(w io.Writer) *yaml.Encoder {
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	return encoder
}

// components is the manifest with our directions in it; order and comments
// stay, so that a reader can compare it with the release.
func (a *FilesArgs) components() ([]byte, error) {
	if _, err := Product().Parse(a.Manifest); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := newEncoder(&out)
	decoder := yaml.NewDecoder(bytes.NewReader(a.Manifest))
	substituted := a.Substitution == SubstituteAsReleased
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
			continue
		}
		changed, err := a.edit(document.Content[0])
		if err != nil {
			return nil, err
		}
		substituted = substituted || changed
		if err := encoder.Encode(&document); err != nil {
			return nil, err
		}
	}
	if !substituted {
		return nil, errNoKustomizeController
	}
	return out.Bytes(), encoder.Close()
}

// edit annotates one object, and says whether it was the one that substitutes.
func (a *FilesArgs) edit(n *yaml.Node) (substitutes bool, err error) {
	var decoded map[string]any
	if err := n.Decode(&decoded); err != nil {
		return false, err
	}
	o := distribution.Object(decoded)
	annotations := map[string]string{pruneAnnotation: disabled, substituteAnnotation: disabled}
	switch o.Kind() {
	case "Namespace":
		annotations[applyAnnotation] = ifNotPresent
	case "Deployment":
		annotations[DigestAnnotation] = Digest(a.Manifest, a.Substitution)
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		distribution.SetText(distribution.Member(distribution.Member(n, "metadata"), "annotations"), key, annotations[key])
	}
	if !isKustomizeController(o) {
		return false, nil
	}
	container, err := manager(o)
	if err != nil {
		return false, err
	}
	gate := a.Substitution.gate(container)
	if gate == "" {
		return true, nil
	}
	var list yaml.Node
	if err := list.Encode(withGate(container["args"], gate)); err != nil {
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
