package strict

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"tombolo/internal/wording"
)

const (
	// maxValues bounds what a file holds with all that its aliases and merge keys stand
	// for, keys counted; a cluster file has some hundreds of them.
	maxValues = 50_000
	// maxDepth bounds how deep values nest: paths grow with it. Cluster files nest
	// eight deep, and what is free in them not much deeper.
	maxDepth = 50
	// maxItems bounds a list: rules compare its items with each other.
	maxItems = 1000
)

// pair is a key of a mapping and its value.
type pair struct{ key, value *yaml.Node }

// resolve follows an alias to its value. It returns nil, with the problem
// reported, when the value contains itself.
func (d *decoder) resolve(n *yaml.Node, p Path) *yaml.Node {
	if n.Kind != yaml.AliasNode {
		return n
	}
	if d.open[n.Alias] {
		d.doc.unreadable(d.at(n), p, fmt.Sprintf("the alias *%s contains itself", n.Value),
			"write the value out")
		return nil
	}
	return n.Alias
}

// enter counts a value, and marks it as being read, so that an alias inside it
// that leads back is found. The caller calls leave.
func (d *decoder) enter(n *yaml.Node, p Path) bool {
	if !d.count(1, n, p) {
		return false
	}
	if len(d.open) >= maxDepth {
		d.doc.unreadable(d.at(n), p, fmt.Sprintf("is nested over %d deep", maxDepth), "nest less")
		return false
	}
	d.open[n] = true
	return true
}

// count counts keys and values, and says whether there are few enough to read on.
func (d *decoder) count(more int, n *yaml.Node, p Path) bool {
	before := d.visited
	d.visited += more
	if before <= maxValues && d.visited > maxValues {
		d.doc.ReportAt(d.at(n), p,
			fmt.Sprintf("the file has more than %d keys and values, with those that its aliases stand for", maxValues),
			"use fewer aliases of aliases, or move long values to the GitOps repository")
		d.doc.broken[""] = true
	}
	return d.visited <= maxValues
}

func (d *decoder) leave(n *yaml.Node) { delete(d.open, n) }

// ownPairs are the keys and values of a mapping of one file, with merge keys (<<) expanded.
// Keys that are not text, or are there twice, are reported and left out.
func (d *decoder) ownPairs(n *yaml.Node, p Path) []pair {
	if !d.count(len(n.Content)/2, n, p) {
		return nil
	}
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
			d.doc.ReportAt(d.at(key), p, "a key must be a string, but this one is "+describe(key),
				"write the key as a word")
			continue
		}
		if first, ok := lines[key.Value]; ok {
			d.doc.ReportAt(d.at(key), p.Key(key.Value), fmt.Sprintf("is already set at line %d", first),
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
		for _, pr := range d.ownPairs(n, p) {
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
		d.doc.ReportAt(d.at(from), p, "<< must refer to a mapping, but this is "+describe(n),
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
