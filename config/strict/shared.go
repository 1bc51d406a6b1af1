package strict

import (
	"reflect"

	"gopkg.in/yaml.v3"
)

// This file is about files whose values others have, too. The rules are few: mappings are merged
// by their keys, all else is replaced as a whole, and null takes away what is below it.

// Shared is a file with values for several documents. It is parsed once, and never changed.
type Shared struct {
	// File is its path, for problems.
	File string
	root *yaml.Node
	// broken are the paths that could not be read: what documents lack there is a consequence.
	broken map[Path]bool
	// nodes are all values and keys of the file: a node of YAML does not say which file it is of.
	nodes map[*yaml.Node]bool
}

// Share reads content for the documents of several files. It reports into doc what is wrong with
// the file by itself, and returns nil when it is not a mapping of YAML.
func (f Format) Share(doc *Document, content []byte, into any) *Shared {
	root := f.parse(doc, content)
	if root == nil {
		return nil
	}
	f.Partial = true
	if !f.decode(doc, root, into) {
		return nil
	}
	s := &Shared{File: doc.File, root: root, broken: doc.broken, nodes: map[*yaml.Node]bool{}}
	s.add(root)
	return s
}

func (s *Shared) add(n *yaml.Node) {
	s.nodes[n] = true
	for _, below := range n.Content {
		s.add(below)
	}
}

// at is where a node is, and in which file.
func (d *decoder) at(n *yaml.Node) Position {
	p := Position{Line: n.Line, Column: n.Column}
	if layers, merged := d.merged[n]; merged {
		n = layers[0]
	}
	for _, s := range d.under {
		if s.nodes[n] {
			p.File = s.File
		}
	}
	return p
}

// layered is the root with what the shared files have below it.
func (d *decoder) layered(root *yaml.Node) *yaml.Node {
	stack := []pair{{value: root}}
	for _, s := range d.under {
		stack = append(stack, pair{value: s.root})
	}
	return d.join(stack)
}

// pairs are the keys and values of a mapping, with merge keys (<<) expanded, and with those of shared
// files. What is taken away is not among them.
func (d *decoder) pairs(n *yaml.Node, p Path) []pair { return d.joined(n, p, isNull) }

// freePairs are pairs of a mapping whose values others than Tombolo read: Helm has a meaning for null.
func (d *decoder) freePairs(n *yaml.Node, p Path) []pair {
	return d.joined(n, p, func(*yaml.Node) bool { return false })
}

func (d *decoder) joined(n *yaml.Node, p Path, gone func(*yaml.Node) bool) []pair {
	layers, merged := d.merged[n]
	if !merged {
		return d.ownPairs(n, p)
	}
	var keys []string
	stacks := map[string][]pair{}
	for _, layer := range layers {
		for _, pr := range d.ownPairs(layer, p) {
			name := pr.key.Value
			if stacks[name] == nil {
				keys = append(keys, name)
			}
			stacks[name] = append(stacks[name], pr)
		}
	}
	var out []pair
	for _, name := range keys {
		stack := stacks[name]
		if len(stack) > 1 && gone(stack[0].value) {
			d.doc.takenAway[p.Field(name)] = d.at(stack[0].value)
			continue
		}
		out = append(out, pair{stack[0].key, d.join(stack)})
	}
	return out
}

// join is the value of a key that several files have, the nearest first: a mapping of all mappings
// above the first other value, or else the first.
func (d *decoder) join(stack []pair) *yaml.Node {
	var layers []*yaml.Node
	for _, pr := range stack {
		n := target(pr.value)
		if n.Kind != yaml.MappingNode {
			break
		}
		layers = append(layers, n)
	}
	if len(layers) < 2 {
		return stack[0].value
	}
	node := *layers[0]
	node.Content = nil
	d.merged[&node] = layers
	return &node
}

func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	n = target(n)
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// isWhole says that a mapping is one value: a reference, to a secret or to another stack, of which
// half is none. The file that is nearest has all of it.
func (d *decoder) isWhole(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && (reflect.PointerTo(t).Implements(orTextType) || d.Rule(t.Name()).Secret)
}

var orTextType = reflect.TypeFor[OrText]()
