package argocd

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"gopkg.in/yaml.v3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"tombolo/check/definition"
	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// lastKnown is the release of Argo CD whose definitions these are: a later one may have more.
const lastKnown = "v3.5"

// checkDefinition reports what the API refuses or drops of an object of Argo CD, and says whether it found anything.
func (w *Walk) checkDefinition(in *walk.Origin, o manifest.Object, text string) (found bool) {
	schema, same := definition.ArgoCD().Of(o)
	var document yaml.Node
	if schema == nil || semver.Compare(semver.MajorMinor(w.Published.Distribution), lastKnown) > 0 ||
		strings.Contains(text, manifest.Unset) || yaml.Unmarshal([]byte(text), &document) != nil {
		return false
	}
	h := held{Walk: w, in: in, object: o, before: len(w.Findings)}
	if !same {
		h.report([]string{"apiVersion"}, tree.Child(document.Content[0], "apiVersion"), fmt.Sprintf("Argo CD has no %s in %s: the API refuses it", o.Kind, o.APIVersion), "write "+group+"/v1alpha1")
	}
	h.each(nil, document.Content[0], schema)
	return len(w.Findings) > h.before
}

// held is an object that is held to its definition.
type held struct {
	*Walk
	in     *walk.Origin
	object manifest.Object
	before int
	// tell is told of a problem in place of who reads the findings.
	tell func(p definition.Problem, at []string)
}

func (h held) each(at []string, n *yaml.Node, schema *spec.Schema) {
	for _, p := range definition.Problems(n, schema) {
		if h.tell != nil {
			h.tell(p, at)
			continue
		}
		h.problem(p, at, n)
	}
	switch {
	case schema == nil || at != nil && at[0] == "metadata": // of every object
	case n.Kind == yaml.SequenceNode && schema.Items != nil:
		for _, item := range n.Content {
			h.each(append(slices.Clip(at), "[]"), item, schema.Items.Schema)
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			h.each(append(slices.Clip(at), key), n.Content[i+1], definition.Field(schema, key))
		}
	}
}

// problem reports one. Argo CD does not ask the server for strict validation: newApplyOptions in
// pkg/utils/kube/resource_ops.go of its gitops-engine sets no ValidationDirective. So a field that a kind does not have is
// dropped, and the object is never as it is in Git. A kind of generator that there is not is its own finding.
func (h held) problem(p definition.Problem, at []string, n *yaml.Node) {
	of := n
	if p.Field != "" {
		of, at = tree.Child(n, p.Field), append(slices.Clip(at), p.Field)
	}
	field := strings.Join(at, ".")
	switch {
	case p.IsUnknown && len(at) > 2 && at[len(at)-3] == "generators":
	case p.IsUnknown:
		h.report(at, of, fmt.Sprintf("%s has no field %s: the API drops it, and Argo CD never calls the object synced", h.object.Kind, field), p.Remedy)
	case p.IsMissing:
		h.report(at[:len(at)-1], n, field+" "+p.Message+": the API refuses it", p.Remedy)
	default:
		h.report(at, of, field+" "+p.Message+": the API refuses it", p.Remedy)
	}
}

func (h held) report(at []string, n *yaml.Node, message, remedy string) {
	h.Refer(h.in, h.Locate(h.in, h.object, at, n), finding.Errorf("%s: %s", h.object.Identity(), message).WithRemedy(remedy))
}
