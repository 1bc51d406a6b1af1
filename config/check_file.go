package config

import (
	"fmt"
	"time"

	"github.com/agext/levenshtein"

	"tombolo/config/field"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// File is a file that is checked: its document, and what checks of several subjects look at of
// what it describes.
type File struct {
	Doc    *strict.Document
	Format strict.Format
	// Name of the cluster or account, and where it is.
	Name            string
	Provider        field.Provider
	Region, Account string
	// Day by which files are judged.
	Day time.Time
	// OfAccount says that it is an account file.
	OfAccount bool
	// Existing says that others own the cluster, and Spoke that another cluster's Argo CD
	// manages it.
	Existing, Spoke bool
	// Proxied says that the cluster leaves its network by a proxy, and Mirrored that images
	// come from mirrors.
	Proxied, Mirrored bool
}

// OnAzure says that the cluster is in Azure.
func (v *File) OnAzure() bool { return v.Provider == field.Azure }

// Service is the cloud's managed Kubernetes, as people call it.
func (v *File) Service() string {
	if v.OnAzure() {
		return "AKS"
	}
	return "EKS"
}

// Problem reports a problem with the value at p, unless p could not be read, which
// is reported already.
func (v *File) Problem(p strict.Path, remedy, format string, args ...any) {
	if v.Doc.Sound(p) {
		v.Doc.Report(p, fmt.Sprintf(format, args...), remedy)
	}
}

// Warn gives a warning about the value at p.
func (v *File) Warn(p strict.Path, remedy, format string, args ...any) {
	if v.Doc.Sound(p) {
		v.Doc.Warn(p, fmt.Sprintf(format, args...), remedy)
	}
}

// KeyProblem reports a problem with a key that the user chose.
func (v *File) KeyProblem(p strict.Path, remedy, format string, args ...any) {
	v.Doc.ReportAt(v.Doc.KeyPosition(p), p, fmt.Sprintf(format, args...), remedy)
}

// Line of the value at p, for problems that refer to it.
func (v *File) Line(p strict.Path) int { return v.Doc.Position(p).Line }

// Unique reports items of a list with the name of an earlier item.
func Unique[T any](v *File, list strict.Path, key string, items []T, name func(T) string, remedy string) {
	at := func(i int) strict.Path {
		if key == "" {
			return list.Index(i)
		}
		return list.Index(i).Field(key)
	}
	Repeated(items, name, func(i, first int) {
		v.Problem(at(i), remedy, "%s is already used at line %d", wording.Quote(name(items[i])), v.Line(at(first)))
	})
}

// Misspelt reports a word that is unknown but similar to a known one.
func (v *File) Misspelt(p strict.Path, what, word string, known []string) {
	for _, k := range known {
		if k == word {
			return
		}
	}
	near := wording.Nearest(word, known)
	if near == "" || !isTypo(word, near) {
		return
	}
	v.Problem(p, fmt.Sprintf("did you mean %s?", near), "%s is not the name of %s", wording.Quote(word), what)
}

// Repeated calls report for every item that was seen before, with the index of
// the first.
func Repeated[T any](items []T, name func(T) string, report func(i, first int)) {
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

// Itself is the name of an item of a list of names.
func Itself(s string) string { return s }

// isTypo says whether word is probably known with a typing error: short words may
// differ in one letter, longer ones in two.
func isTypo(word, known string) bool {
	distance := levenshtein.Distance(word, known, nil)
	if len(known) <= 5 {
		return distance <= 1
	}
	return distance <= 2
}
