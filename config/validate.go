package config

import "fmt"

// validator checks what one value alone does not show: how values fit together,
// and what Kubernetes and AWS ask of them. It reports every problem.
type validator struct {
	doc *document
	c   *Cluster
}

// validate reports into doc.
func validate(doc *document, c *Cluster) {
	v := &validator{doc: doc, c: c}
	v.names()
	v.tags()
	v.metadata()
	v.network()
	v.kubernetes()
	v.namespaces()
	v.addons()
	v.services()
	v.gitops()
}

// problem reports something wrong with the value at p. When p could not even be
// read, that has been said already.
func (v *validator) problem(p path, remedy, format string, args ...any) {
	if v.sound(p) {
		v.doc.add(v.doc.position(p), p, fmt.Sprintf(format, args...), remedy)
	}
}

// keyProblem reports something wrong with a key that the user chose.
func (v *validator) keyProblem(p path, remedy, format string, args ...any) {
	at, ok := v.doc.keys[p]
	if !ok {
		at = v.doc.position(p)
	}
	v.doc.add(at, p, fmt.Sprintf(format, args...), remedy)
}

// sound says whether all of the values could be read, so that a rule about
// several of them makes sense.
func (v *validator) sound(paths ...path) bool {
	for _, p := range paths {
		if !v.doc.sound(p) {
			return false
		}
	}
	return true
}

// line of the value at p, for a problem elsewhere that refers to it.
func (v *validator) line(p path) int { return v.doc.position(p).line }

// unique reports the items of a list that have the name of an earlier one.
func unique[T any](v *validator, list path, key string, items []T, name func(T) string, remedy string) {
	at := func(i int) path {
		if key == "" {
			return list.index(i)
		}
		return list.index(i).field(key)
	}
	repeated(items, name, func(i, first int) {
		v.problem(at(i), remedy, "%s is already used at line %d", quote(name(items[i])), v.line(at(first)))
	})
}

// misspelt reports a word that is not known but close to one that is.
func (v *validator) misspelt(p path, what, word string, known []string) {
	for _, k := range known {
		if k == word {
			return
		}
	}
	near := nearest(word, known)
	if near == "" || !isTypo(word, near) {
		return
	}
	v.problem(p, fmt.Sprintf("did you mean %s?", near), "%s is not the name of %s", quote(word), what)
}
