package tree

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/check/manifest"
)

// Document is one YAML document of a file, or one that a patch in it holds as
// text.
type Document struct {
	// kind and name of the object that it is or patches, if it says so.
	kind, name string
	// disabled says that it asks for no substitution.
	disabled bool
	root     *yaml.Node
	// line and column are added to positions within the document.
	line, column int
}

func lines(text []byte) []string { return strings.Split(string(text), "\n") }

// split reads documents that start after some lines and columns of a file.
func split(text []byte, file []string, line, column int) []Document {
	var out []Document
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		if decoder.Decode(&node) != nil || len(node.Content) != 1 {
			return out
		}
		d := newDocument(node.Content[0], line, column)
		out = append(out, d)
		d.Each(func(v Value) {
			out = append(out, d.embedded(v, file)...)
		})
	}
}

func newDocument(root *yaml.Node, line, column int) Document {
	d := Document{root: root, line: line, column: column}
	metadata := Child(root, "metadata")
	if kind := Child(root, "kind"); kind != nil {
		d.kind = kind.Value
	}
	if name := Child(metadata, "name"); name != nil {
		d.name = name.Value
	}
	for _, list := range []string{"labels", "annotations"} {
		if off := Child(Child(metadata, list), manifest.Substitute); off != nil && off.Value == "disabled" {
			d.disabled = true
		}
	}
	return d
}

// Start is where the document begins in its file.
func (d Document) Start() (line, column int) { return d.line + d.root.Line, d.column + d.root.Column }

// Names is where the document has the name of an object of a kind.
func (d Document) Names(kind, name string) (Place, bool) {
	n := Child(Child(d.root, "metadata"), "name")
	if d.kind != kind || n == nil || n.Value != name {
		return Place{}, false
	}
	return Place{Line: d.line + n.Line, Column: d.column + n.Column}, true
}

// Lacks is the field that every object has and the document does not; "" for an object. A list of objects has no name.
func (d Document) Lacks() string {
	switch {
	case d.root.Kind != yaml.MappingNode || Child(d.root, "kind") == nil:
		return "kind"
	case Child(d.root, "apiVersion") == nil:
		return "apiVersion"
	case d.name == "" && !strings.HasSuffix(d.kind, "List"):
		return "metadata.name"
	}
	return ""
}

// Value is a scalar of a document.
type Value struct {
	// Path are the keys that lead to it; [] is any item of a list.
	Path []string
	// Node is the scalar itself.
	Node *yaml.Node
	// IsKey says that it is a key of a mapping.
	IsKey  bool
	parent *yaml.Node
}

// Each visits all scalars, those of JSON patches under the path that they
// patch.
func (d Document) Each(visit func(Value)) { eachValue(d.root, nil, nil, visit) }

func eachValue(n, parent *yaml.Node, at []string, visit func(Value)) {
	switch n.Kind {
	case yaml.ScalarNode:
		visit(Value{Path: at, Node: n, parent: parent})
	case yaml.SequenceNode:
		for _, item := range n.Content {
			eachValue(item, n, append(slices.Clip(at), "[]"), visit)
		}
	case yaml.MappingNode:
		target := pointer(n, at)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			visit(Value{Path: at, Node: key, IsKey: true, parent: n})
			below := append(slices.Clip(at), key.Value)
			if key.Value == "value" && target != nil {
				below = target
			}
			eachValue(n.Content[i+1], n, below, visit)
		}
	}
}

// At is where a value of the document is in its file.
func (d Document) At(v Value) (line, column int) {
	return d.line + v.Node.Line, d.column + v.Node.Column
}

// pointer is the path that an operation of a JSON patch changes, or nil.
func pointer(n *yaml.Node, at []string) []string {
	where := Child(n, "path")
	if len(at) != 1 || at[0] != "[]" || where == nil || Child(n, "op") == nil {
		return nil
	}
	var out []string
	for part := range strings.SplitSeq(strings.TrimPrefix(where.Value, "/"), "/") {
		if part == "-" || strings.Trim(part, "0123456789") == "" {
			part = "[]"
		}
		out = append(out, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
	}
	return out
}

// isPatch says whether a value is the text of a patch, which has documents of
// its own. Only a literal block keeps the lines as they are in the file.
func (v Value) isPatch() bool {
	return !v.IsKey && len(v.Path) > 0 && v.Path[len(v.Path)-1] == "patch" && v.Node.Style&yaml.LiteralStyle != 0
}

// embedded are the documents of a patch that a value holds.
func (d Document) embedded(v Value, file []string) []Document {
	if !v.isPatch() {
		return nil
	}
	line := d.line + v.Node.Line
	return split([]byte(v.Node.Value), file, line, indentation(v.Node.Value, file, line))
}

// indentation is by how much a literal block, whose first line is the file's
// line of that index, is indented.
func indentation(block string, file []string, first int) int {
	for i, inner := range strings.Split(block, "\n") {
		if strings.TrimSpace(inner) != "" && first+i < len(file) {
			return spaces(file[first+i]) - spaces(inner)
		}
	}
	return 0
}

func spaces(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// Child is the value of a key of a mapping, or nil.
func Child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

const (
	// deepest is how deep a text may nest. Objects of Kubernetes nest thirty deep.
	deepest = 200
	// mostNodes is how many values a text may have once its aliases are followed,
	// for each byte that it has: more is what only an attack has.
	mostNodes = 20
)

// Expands says why a text is not given to those who parse it: aliases that hold
// themselves or multiply, or a nesting that nobody writes. A text that is no YAML
// does not expand.
func Expands(text []byte) error {
	if !bytes.ContainsAny(text, "*") && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("- ")) < deepest && !indented(text) {
		return nil // the quick answer for most
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	e := expansion{size: map[*yaml.Node]int{}, left: 1000 + mostNodes*len(text)}
	for {
		var node yaml.Node
		if decoder.Decode(&node) != nil {
			return nil
		}
		if _, err := e.of(&node, 0); err != nil {
			return err
		}
	}
}

// indented says whether a line begins so far to the right that it could be too
// deep.
func indented(text []byte) bool {
	return bytes.Contains(text, bytes.Repeat([]byte(" "), deepest))
}

// expansion is how many values nodes stand for.
type expansion struct {
	size map[*yaml.Node]int
	left int
}

// inWork is the size of a node whose values are still counted.
const inWork = -1

func (e *expansion) of(n *yaml.Node, depth int) (int, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch size := e.size[n]; {
	case size == inWork:
		return 0, errors.New("an alias is in the value that it stands for")
	case size > 0:
		return size, nil
	case depth > deepest:
		return 0, fmt.Errorf("it is nested over %d deep", deepest)
	}
	e.size[n] = inWork
	size := 1
	for _, below := range n.Content {
		more, err := e.of(below, depth+1)
		if err != nil {
			return 0, err
		}
		if size += more; size > e.left {
			return 0, errors.New("its aliases stand for too many values")
		}
	}
	e.size[n] = size
	return size, nil
}
