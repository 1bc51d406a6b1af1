package contract

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// document is one YAML document of a file, or one that a patch in it holds as
// text.
type document struct {
	// kind and name of the object that it is or patches, if it says so.
	kind, name string
	// disabled says that it asks for no substitution.
	disabled bool
	root     *yaml.Node
	// line and column are added to positions within the document.
	line, column int
}

// documents are those of a file of the tree; none when it is not YAML.
func (f *files) documents(name string) []document {
	if known, ok := f.parsed[name]; ok {
		return known
	}
	var out []document
	if text, err := f.read(name); err == nil && isManifest(name) {
		out = split(text, lines(text), 0, 0)
	}
	f.parsed[name] = out
	return out
}

func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) || isKustomizationFile(name)
}

func lines(text []byte) []string { return strings.Split(string(text), "\n") }

// split reads documents that start after some lines and columns of a file.
func split(text []byte, file []string, line, column int) []document {
	var out []document
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		if decoder.Decode(&node) != nil || len(node.Content) != 1 {
			return out
		}
		d := newDocument(node.Content[0], line, column)
		out = append(out, d)
		d.each(func(v value) {
			out = append(out, d.embedded(v, file)...)
		})
	}
}

func newDocument(root *yaml.Node, line, column int) document {
	d := document{root: root, line: line, column: column}
	metadata := child(root, "metadata")
	if kind := child(root, "kind"); kind != nil {
		d.kind = kind.Value
	}
	if name := child(metadata, "name"); name != nil {
		d.name = name.Value
	}
	for _, list := range []string{"labels", "annotations"} {
		if off := child(child(metadata, list), disabled); off != nil && off.Value == "disabled" {
			d.disabled = true
		}
	}
	return d
}

// value is a scalar of a document and the keys that lead to it; [] is any item
// of a list.
type value struct {
	path   []string
	node   *yaml.Node
	parent *yaml.Node
	isKey  bool
}

// each visits all scalars, those of JSON patches under the path that they
// patch.
func (d document) each(visit func(value)) { eachValue(d.root, nil, nil, visit) }

func eachValue(n, parent *yaml.Node, at []string, visit func(value)) {
	switch n.Kind {
	case yaml.ScalarNode:
		visit(value{path: at, node: n, parent: parent})
	case yaml.SequenceNode:
		for _, item := range n.Content {
			eachValue(item, n, append(slices.Clip(at), "[]"), visit)
		}
	case yaml.MappingNode:
		target := pointer(n, at)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			visit(value{path: at, node: key, parent: n, isKey: true})
			below := append(slices.Clip(at), key.Value)
			if key.Value == "value" && target != nil {
				below = target
			}
			eachValue(n.Content[i+1], n, below, visit)
		}
	}
}

// pointer is the path that an operation of a JSON patch changes, or nil.
func pointer(n *yaml.Node, at []string) []string {
	where := child(n, "path")
	if len(at) != 1 || at[0] != "[]" || where == nil || child(n, "op") == nil {
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
func (v value) isPatch() bool {
	return !v.isKey && len(v.path) > 0 && v.path[len(v.path)-1] == "patch" && v.node.Style&yaml.LiteralStyle != 0
}

// embedded are the documents of a patch that a value holds.
func (d document) embedded(v value, file []string) []document {
	if !v.isPatch() {
		return nil
	}
	line := d.line + v.node.Line
	return split([]byte(v.node.Value), file, line, indentation(v.node.Value, file, line))
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
