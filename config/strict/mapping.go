package strict

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"tombolo/internal/wording"
)

// maxValues bounds what aliases may expand to; a cluster file has some hundreds
// of values.
const maxValues = 100_000

// pair is a key of a mapping and its value.
type pair struct{ key, value *yaml.Node }

// resolve follows an alias to its value. It returns nil, with the problem
// reported, when the value contains itself.
func (d *decoder) resolve(n *yaml.Node, p Path) *yaml.Node {
	if n.Kind != yaml.AliasNode {
		return n
	}
	if d.open[n.Alias] {
		d.doc.unreadable(positionOf(n), p, fmt.Sprintf("the alias *%s contains itself", n.Value),
			"write the value out")
		return nil
	}
	return n.Alias
}

// enter counts a value, and marks it as being read, so that an alias inside it
// that leads back is found. The caller calls leave.
func (d *decoder) enter(n *yaml.Node, p Path) bool {
	d.visited++
	if d.visited > maxValues {
		if d.visited == maxValues+1 {
			d.doc.ReportAt(positionOf(n), p,
				fmt.Sprintf("aliases expand the file to more than %d values", maxValues),
				"use fewer aliases of aliases")
			d.doc.broken[""] = true
		}
		return false
	}
	d.open[n] = true
	return true
}

func (d *decoder) leave(n *yaml.Node) { delete(d.open, n) }

// pairs are the keys and values of a mapping, with merge keys (<<) expanded.
// Keys that are not text, or are there twice, are reported and left out.
func (d *decoder) pairs(n *yaml.Node, p Path) []pair {
	var own []pair
	var merged []*yaml.Node
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if key = d.resolve(key, p); key == nil {
			continue
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" {
			d.doc.ReportAt(positionOf(key), p, "a key must be a string, but this one is "+describe(key),
				"write the key as a word")
			continue
		}
		if first, ok := lines[key.Value]; ok {
			d.doc.ReportAt(positionOf(key), p.Key(key.Value), fmt.Sprintf("is already set at line %d", first),
				"keep one of the two")
			continue
		}
		lines[key.Value] = key.Line
		own = append(own, pair{key, value})
	}
	for _, m := range merged {
		own = d.merge(own, lines, m, p)
	}
	return own
}

// merge adds the pairs of what << refers to, a mapping or a list of them. What
// is set already stays.
func (d *decoder) merge(own []pair, set map[string]int, from *yaml.Node, p Path) []pair {
	n := d.resolve(from, p)
	if n == nil || !d.enter(n, p) {
		return own
	}
	defer d.leave(n)
	switch n.Kind {
	case yaml.MappingNode:
		for _, pr := range d.pairs(n, p) {
			if _, ok := set[pr.key.Value]; !ok {
				set[pr.key.Value] = pr.key.Line
				own = append(own, pr)
			}
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			own = d.merge(own, set, item, p)
		}
	default:
		d.doc.ReportAt(positionOf(from), p, "<< must refer to a mapping, but this is "+describe(n),
			"use an alias of a mapping, such as <<: *defaults")
	}
	return own
}

// describe says in words what a node is.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case "!!bool":
		return "the boolean " + n.Value
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!timestamp":
		return "the date " + n.Value
	}
	return "the string " + wording.Quote(n.Value)
}
