package config

import (
	"fmt"

	"github.com/agext/levenshtein"

	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// validator checks how values fit together, and what Kubernetes and the cloud require
// of them. It reports every problem.
type validator struct {
	doc *strict.Document
	c   *Cluster
}

// validate reports into doc.
func validate(doc *strict.Document, c *Cluster) {
	v := &validator{doc: doc, c: c}
	v.metadata()
	v.changes()
	if c.onAzure() {
		v.azure()
	} else {
		v.aws()
	}
	v.namespaces()
	v.addons()
	v.services()
	v.gitops()
}

// aws checks what only AWS requires.
func (v *validator) aws() {
	v.names()
	v.assumedRole()
	v.roles()
	v.tags()
	v.network()
	v.egress()
	v.kubernetes()
}

// azure checks what only Azure requires.
func (v *validator) azure() {
	v.azureNames()
	v.azureTags()
	v.azureNetwork()
	v.azureEgress()
	v.azureKubernetes()
}

// problem reports a problem with the value at p, unless p could not be read, which
// is reported already.
func (v *validator) problem(p strict.Path, remedy, format string, args ...any) {
	if v.doc.Sound(p) {
		v.doc.Report(p, fmt.Sprintf(format, args...), remedy)
	}
}

// warn gives a warning about the value at p.
func (v *validator) warn(p strict.Path, remedy, format string, args ...any) {
	if v.doc.Sound(p) {
		v.doc.Warn(p, fmt.Sprintf(format, args...), remedy)
	}
}

// keyProblem reports a problem with a key that the user chose.
func (v *validator) keyProblem(p strict.Path, remedy, format string, args ...any) {
	v.doc.ReportAt(v.doc.KeyPosition(p), p, fmt.Sprintf(format, args...), remedy)
}

// line of the value at p, for problems that refer to it.
func (v *validator) line(p strict.Path) int { return v.doc.Position(p).Line }

// unique reports items of a list with the name of an earlier item.
func unique[T any](v *validator, list strict.Path, key string, items []T, name func(T) string, remedy string) {
	at := func(i int) strict.Path {
		if key == "" {
			return list.Index(i)
		}
		return list.Index(i).Field(key)
	}
	repeated(items, name, func(i, first int) {
		v.problem(at(i), remedy, "%s is already used at line %d", wording.Quote(name(items[i])), v.line(at(first)))
	})
}

// misspelt reports a word that is unknown but similar to a known one.
func (v *validator) misspelt(p strict.Path, what, word string, known []string) {
	for _, k := range known {
		if k == word {
			return
		}
	}
	near := wording.Nearest(word, known)
	if near == "" || !isTypo(word, near) {
		return
	}
	v.problem(p, fmt.Sprintf("did you mean %s?", near), "%s is not the name of %s", wording.Quote(word), what)
}

// repeated calls report for every item that was seen before, with the index of
// the first.
func repeated[T any](items []T, name func(T) string, report func(i, first int)) {
	seen := map[string]int{}
	for i, item := range items {
		key := name(item)
		if key == "" {
			continue
		}
		if first, ok := seen[key]; ok {
			report(i, first)
			continue
		}
		seen[key] = i
	}
}

// itself is the name of an item of a list of names.
func itself(s string) string { return s }

// isTypo says whether word is probably known with a typing error: short words may
// differ in one letter, longer ones in two.
func isTypo(word, known string) bool {
	distance := levenshtein.Distance(word, known, nil)
	if len(known) <= 5 {
		return distance <= 1
	}
	return distance <= 2
}
