package flux

import (
	"fmt"
	"slices"

	"tombolo/check/finding"
	"tombolo/check/inventory"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/wording"
)

// absent is a reference to an object that is not there.
type absent struct {
	inventory.ID
	// inNamespace says that the reference itself names the namespace.
	inNamespace bool
	// known are the names of the objects that there are of the kind in the
	// namespace.
	known []string
	// otherKind or otherNamespace has an object of the name.
	otherKind, otherNamespace string
	// elsewhere says that what was not followed may have the object.
	elsewhere bool
}

// absent is a reference from a namespace to an object that is not there.
func (w *Walk) absent(ref reference, namespace string) absent {
	a := absent{ID: inventory.ID{Kind: ref.Kind, Namespace: ref.in(namespace), Name: ref.Name}, inNamespace: ref.Namespace != "", elsewhere: w.Elsewhere}
	a.known = w.inventory.In(a.Kind, a.Namespace)
	a.otherKind, a.otherNamespace = w.inventory.Namesake(a.ID)
	return a
}

// CheckSecrets warns of Secrets that the cluster file names and nothing makes.
func (w *Walk) CheckSecrets() { w.Walk.CheckSecrets(w.inventory) }

// misspelt says whether the name is nearly that of what is there.
func (a absent) misspelt() bool { return wording.Nearest(a.Name, a.known) != "" }

// gravity of what is missing: it may be what was not followed that makes it,
// unless its name is nearly that of what is here.
func (a absent) gravity() finding.Severity {
	if a.elsewhere && !a.misspelt() {
		return finding.Warning
	}
	return finding.Error
}

// remedy names the object that was probably meant, or gives other advice.
func (a absent) remedy(otherwise string) string {
	switch {
	case a.otherNamespace != "":
		otherwise = fmt.Sprintf("%s %s is in namespace %s", a.Kind, a.Name, a.otherNamespace)
	case a.otherKind != "":
		otherwise = fmt.Sprintf("there is a %s of that name", a.otherKind)
	}
	return near.DidYouMean(a.Name, a.known, otherwise)
}

// suspect is the field of the reference that is probably wrong: its kind or
// namespace when the same name exists with another one, and else the name.
func (a absent) suspect(o manifest.Object, path ...string) tree.Wanted {
	field, value, besides := "name", a.Name, map[string]string{"kind": a.Kind}
	switch {
	case a.misspelt():
	case a.otherNamespace != "" && a.inNamespace:
		field, value, besides = "namespace", a.Namespace, map[string]string{"name": a.Name}
	case a.otherKind != "":
		field, value, besides = "kind", a.Kind, map[string]string{"name": a.Name}
	}
	return tree.Wanted{Object: o, Path: slices.Concat(path, []string{field}), Value: value, Besides: besides}
}

// referOptional reports something that is not there; if it is optional, only when
// a name was probably misspelt.
func (w *Walk) referOptional(in *walk.Origin, what tree.Wanted, optional, misspelt bool, f finding.Finding) {
	if optional {
		if !misspelt {
			return
		}
		f.Severity = finding.Warning
		f.Message += "; it is optional, so the engine reports no error"
	}
	w.Refer(in, what, f)
}
