package flux

import (
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"gopkg.in/yaml.v3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"tombolo/check/definition"
	"tombolo/check/finding"
	"tombolo/check/tree"
)

// isDefined says whether the definitions are those of the cluster's Flux, or have all fields of an earlier one's.
func (w *Walk) isDefined() bool {
	release := semver.MajorMinor(w.Published.Distribution)
	return release != "" && semver.Compare(release, lastKnown) <= 0
}

// holds holds a value to its definition, and says whether it fits. Server-side apply refuses fields that are not in the
// definition ("field not declared in schema") and values of other types; then the API refuses what lacks or breaks a rule.
// Text for which there is something else has findings of its own.
func (t typing) holds(n, before *yaml.Node, at []string, schema *spec.Schema) bool {
	fits := true
	for _, p := range definition.Problems(n, schema) {
		if !p.IsText {
			t.refuses(p, n, before, at)
			fits = fits && p.Field != ""
		}
	}
	return fits
}

func (t typing) refuses(p definition.Problem, n, before *yaml.Node, at []string) {
	if p.Field != "" {
		n, before, at = tree.Child(n, p.Field), tree.Child(before, p.Field), append(slices.Clip(at), p.Field)
	}
	what := tree.Wanted{Object: t.object, Path: []string{"metadata", "name"}, Value: t.object.Metadata.Name}
	if !p.IsMissing {
		what, _ = t.wanted(n, before, at)
	}
	t.Refer(t.s.origin, what, finding.Errorf("%s: %s %s: the API refuses it", t.object.Identity(), strings.Join(at, "."), p.Message).WithRemedy(p.Remedy))
}
