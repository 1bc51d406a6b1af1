package config

import (
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// path leads to a value in a cluster file, such as
// kubernetes.nodeGroups[1].labels["example.com/team"].
type path string

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func (p path) field(name string) path {
	if p == "" {
		return path(name)
	}
	return p + "." + path(name)
}

func (p path) index(i int) path { return p + path(fmt.Sprintf("[%d]", i)) }

// key leads to a key that the user chose, which may hold dots and slashes.
func (p path) key(name string) path {
	if plainKey.MatchString(name) {
		return p.field(name)
	}
	return p + path(fmt.Sprintf("[%s]", quote(name)))
}

// parent is the path of what holds p, and "" for the root.
func (p path) parent() path {
	s := string(p)
	if strings.HasSuffix(s, `"]`) {
		if i := strings.LastIndex(s, `["`); i >= 0 {
			return path(s[:i])
		}
	}
	return path(s[:max(strings.LastIndexAny(s, ".["), 0)])
}

// within says whether p is ancestor, or something inside it.
func (p path) within(ancestor path) bool {
	rest, ok := strings.CutPrefix(string(p), string(ancestor))
	return ok && (ancestor == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// position is a place in a file; both start at 1.
type position struct{ line, column int }

func positionOf(n *yaml.Node) position { return position{n.Line, n.Column} }

// document is a cluster file while it is read: where each value stands, and
// what is wrong so far.
type document struct {
	file     string
	values   map[path]position
	keys     map[path]position
	problems Problems
	// broken are the paths that could not be read; to check them further would
	// only report the consequences of the first problem.
	broken map[path]bool
}

func newDocument(file string) *document {
	return &document{
		file:   file,
		values: map[path]position{},
		keys:   map[path]position{},
		broken: map[path]bool{},
	}
}

// stood notes where the value at p stands. A mapping or list is shown by its
// key, which is where a reader looks for it.
func (d *document) stood(p path, key, value *yaml.Node) {
	at := positionOf(value)
	if key != nil {
		d.keys[p] = positionOf(key)
		if value.Kind != yaml.ScalarNode {
			at = positionOf(key)
		}
	}
	d.values[p] = at
}

// has says whether the file itself holds a value at p, as against a default.
func (d *document) has(p path) bool {
	_, ok := d.values[p]
	return ok
}

// position of p, or of the nearest thing around it that is in the file.
func (d *document) position(p path) position {
	for ; p != ""; p = p.parent() {
		if at, ok := d.values[p]; ok {
			return at
		}
	}
	return position{1, 1}
}

// sound says whether the value at p could be read.
func (d *document) sound(p path) bool {
	for bad := range d.broken {
		if p.within(bad) {
			return false
		}
	}
	return true
}

// add reports a problem at a place.
func (d *document) add(at position, p path, message, remedy string) {
	d.problems = append(d.problems, Problem{
		File: d.file, Line: max(at.line, 1), Column: max(at.column, 1),
		Path: string(p), Message: message, Remedy: remedy,
	})
}

// conceal marks the last problem: its line may hold a secret.
func (d *document) conceal() { d.problems[len(d.problems)-1].Secret = true }

// unreadable reports a value that decoding cannot use.
func (d *document) unreadable(at position, p path, message, remedy string) {
	d.add(at, p, message, remedy)
	d.broken[p] = true
}
