package strict

import (
	"fmt"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"
)

// Position is a place in a file. Line and column start at 1; the zero Position
// is the start of the file.
type Position struct {
	Line, Column int
	// File is the shared file that the place is in; "" for the document's own.
	File string
}

func positionOf(n *yaml.Node) Position { return Position{Line: n.Line, Column: n.Column} }

// Document is a file while it is read: the position of each value, and the
// problems and warnings so far.
type Document struct {
	// File is its path, for problems.
	File     string
	values   map[Path]Position
	keys     map[Path]Position
	problems Problems
	warnings Problems
	// broken are the paths that could not be read; to check them further would
	// only report the consequences of the first problem.
	broken map[Path]bool
	// takenAway is where null has taken a key away that another file has.
	takenAway map[Path]Position
}

// NewDocument returns a document without any values, to decode a file into.
func NewDocument(file string) *Document {
	return &Document{
		File:      file,
		values:    map[Path]Position{},
		keys:      map[Path]Position{},
		broken:    map[Path]bool{},
		takenAway: map[Path]Position{},
	}
}

// Has says whether the file has a value at p. A default does not count.
func (d *Document) Has(p Path) bool {
	_, ok := d.values[p]
	return ok
}

// Derive has at p what the value at from, which is in the file, brings about: it is from there.
func (d *Document) Derive(p, from Path) { d.values[p] = d.values[from] }

// Position of the value at p, or of the nearest parent that is in the file.
func (d *Document) Position(p Path) Position {
	for ; p != ""; p = p.parent() {
		if at, ok := d.values[p]; ok {
			return at
		}
	}
	return Position{Line: 1, Column: 1}
}

// KeyPosition is the position of the key at p, or of the value if there is no key.
func (d *Document) KeyPosition(p Path) Position {
	if at, ok := d.keys[p]; ok {
		return at
	}
	return d.Position(p)
}

// FirstOwn is where the first key below p is that the document's own file has.
func (d *Document) FirstOwn(p Path) (first Position, found bool) {
	for below, at := range d.keys {
		if at.File != "" || below.parent() != p {
			continue
		}
		if !found || at.Line < first.Line || at.Line == first.Line && at.Column < first.Column {
			first, found = at, true
		}
	}
	return first, found
}

// Sound says whether the values at all of the paths could be read, so that a
// rule about several of them makes sense.
func (d *Document) Sound(paths ...Path) bool {
	return !d.broken[""] && !slices.ContainsFunc(paths, func(p Path) bool {
		for ; p != ""; p = p.parent() {
			if d.broken[p] {
				return true
			}
		}
		return false
	})
}

// Report adds a problem with the value at p.
func (d *Document) Report(p Path, message, remedy string) {
	d.ReportAt(d.Position(p), p, message, remedy)
}

// mostProblems are kept of a file; nobody reads more, and each has some hundred bytes.
const mostProblems = 1000

// ReportAt adds a problem at another place than the value's own.
func (d *Document) ReportAt(at Position, p Path, message, remedy string) {
	switch {
	case len(d.problems) > mostProblems:
		return
	case len(d.problems) == mostProblems:
		p, message, remedy = "", fmt.Sprintf("more than %d problems, and not all are listed", mostProblems), "correct the others first"
	}
	d.problems = append(d.problems, d.problem(at, p, message, remedy))
}

// Warn adds a warning about the value at p, or about its key when it is a mapping:
// the file is right, and its reader should know.
func (d *Document) Warn(p Path, message, remedy string) {
	d.warnings = append(d.warnings, d.problem(d.Position(p), p, message, remedy))
}

// Problem is one with the value at p, which is not reported.
func (d *Document) Problem(p Path, message, remedy string) Problem {
	return d.problem(d.Position(p), p, message, remedy)
}

func (d *Document) problem(at Position, p Path, message, remedy string) Problem {
	found := Problem{
		File: d.File, Line: max(at.Line, 1), Column: max(at.Column, 1),
		Path: string(p), Message: message, Remedy: remedy,
	}
	if at.File != "" {
		found.File, found.With = at.File, filepath.Base(d.File)
	}
	return found
}

// Conceal marks the last problem: its line may hold a secret.
func (d *Document) Conceal() { d.problems[len(d.problems)-1].Secret = true }

// unreadable reports a value that decoding cannot use.
func (d *Document) unreadable(at Position, p Path, message, remedy string) {
	d.ReportAt(at, p, message, remedy)
	d.broken[p] = true
}

// Add adds what is wrong with a shared file by itself.
func (d *Document) Add(problems Problems) { d.problems = append(d.problems, problems...) }

// Problems are all that were reported, in order.
func (d *Document) Problems() Problems {
	d.problems = d.problems.InOrder()
	return d.problems
}

// Warnings are all that were given, in order.
func (d *Document) Warnings() Problems {
	d.warnings = d.warnings.InOrder()
	return d.warnings
}

// Only keeps the problems with the value at p, and forgets all others.
func (d *Document) Only(p Path) {
	d.problems = slices.DeleteFunc(d.problems, func(other Problem) bool { return other.Path != string(p) })
}
