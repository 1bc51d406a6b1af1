package flux

import (
	"fmt"
	"regexp"

	"tombolo/check/finding"
	"tombolo/check/substitution"
)

var variableName = regexp.MustCompile(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)

// variables are those of a Kustomization's postBuild; inline ones come last.
func (w *Walk) variables(s *sync) substitution.Variables {
	v := substitution.Variables{Values: map[string]string{}}
	for _, from := range s.sources() {
		found, ok := w.find(from.Kind, s.Metadata.Namespace, from.Name)
		if !ok {
			v.Open = w.missingSource(s, from) || v.Open
			continue
		}
		v.Open = v.Open || found.Open
		for _, key := range found.Keys {
			if !variableName.MatchString(key) {
				w.wrongKey(s, from, key)
				v.Open = true
				continue
			}
			v.Set(key, found.Values[key])
		}
	}
	if s.Spec.PostBuild != nil {
		for key, value := range s.Spec.PostBuild.Substitute {
			v.Set(key, value)
		}
	}
	v.Substituting = len(v.Values) > 0 || v.Open
	return v
}

// missingSource reports a source of variables that nothing makes, and says
// whether it did: then no variable of the Kustomization can be judged.
func (w *Walk) missingSource(s *sync, from variablesFrom) bool {
	a := w.absent(reference{Kind: from.Kind, Name: from.Name}, s.Metadata.Namespace)
	if w.Incomplete {
		return !from.Optional
	}
	w.referOptional(s.origin.Parent, a.suspect(s.Object, "spec", "postBuild", "substituteFrom", "[]"), from.Optional, a.misspelt(), finding.Finding{
		Severity: a.gravity(),
		Message:  fmt.Sprintf("%s: substituteFrom refers to %s %s, which neither bootstrap nor the tree makes in namespace %s", s.Identity(), a.Kind, a.Name, a.Namespace),
		Remedy:   a.remedy("make it in the tree, or mark the reference optional: true"),
	})
	return !from.Optional
}

func (w *Walk) wrongKey(s *sync, from variablesFrom, key string) {
	at := s.wanted(from.Name, "spec", "postBuild", "substituteFrom", "[]", "name")
	at.Besides = map[string]string{"kind": from.Kind}
	w.Refer(s.origin.Parent, at, finding.Finding{
		Severity: finding.Error,
		Message:  fmt.Sprintf("%s: substituteFrom refers to %s %s, whose key %q cannot be a variable", s.Identity(), from.Kind, from.Name, key),
		Remedy:   "refer to one whose keys have only letters, digits and _; Helm values belong in a HelmRelease's valuesFrom",
	})
}
