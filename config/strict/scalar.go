package strict

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/internal/wording"
)

// text reads a string. A number is not taken for one: YAML has already read it,
// and 1.30 may have become 1.3.
func (d *decoder) text(n *yaml.Node, p Path, dst reflect.Value, r Rule) {
	if n.Kind != yaml.ScalarNode {
		d.notText(n, p, r)
		return
	}
	if n.ShortTag() != "!!str" {
		d.wrong(n, p, "a string", fmt.Sprintf("put it in quotes: %s%s", wording.Quote(n.Value), whyQuotes(n)))
		return
	}
	dst.SetString(n.Value)
	if message, remedy := r.CheckText(n.Value); message != "" {
		d.doc.unreadable(d.at(n), p, message, remedy)
		if r.Secret {
			d.doc.Conceal()
		}
	}
}

// notText reports a list or a mapping where a string belongs. What a field with an example is
// has no keys: a mapping is probably of another field's form, such as {env: X}.
func (d *decoder) notText(n *yaml.Node, p Path, r Rule) {
	switch {
	case n.Kind == yaml.MappingNode && r.What != "" && r.Example != "":
		d.wrong(n, p, r.What, "write it like "+r.Example)
	case n.Style&yaml.FlowStyle != 0:
		d.wrong(n, p, "a string", "put it in quotes, if the brackets belong to it")
	default:
		d.wrong(n, p, "a string", "write one value after the colon")
	}
}

// whyQuotes says how YAML reads a value without quotes, if that differs from the
// text.
func whyQuotes(n *yaml.Node) string {
	switch n.ShortTag() {
	case "!!int":
		var i int64
		if n.Decode(&i) == nil && strconv.FormatInt(i, 10) != n.Value {
			return fmt.Sprintf(" (without quotes, YAML reads the number %d)", i)
		}
	case "!!float":
		var f float64
		if n.Decode(&f) == nil && strconv.FormatFloat(f, 'f', -1, 64) != n.Value {
			return fmt.Sprintf(" (without quotes, YAML reads the number %s)", strconv.FormatFloat(f, 'f', -1, 64))
		}
	}
	return ""
}

func (d *decoder) integer(n *yaml.Node, p Path, dst reflect.Value, r Rule) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" {
		remedy := "write a whole number"
		if _, err := strconv.Atoi(n.Value); err == nil && n.Kind == yaml.ScalarNode {
			remedy = "remove the quotes: " + n.Value
		}
		d.wrong(n, p, "a whole number", remedy)
		return
	}
	i, err := strconv.Atoi(n.Value)
	if err != nil || strconv.Itoa(i) != n.Value {
		d.wrong(n, p, "a whole number in plain digits", "write it without sign, underscore, prefix or leading zero")
		return
	}
	dst.SetInt(int64(i))
	if message, remedy := r.CheckNumber(i); message != "" {
		d.doc.unreadable(d.at(n), p, message, remedy)
	}
}

func (d *decoder) boolean(n *yaml.Node, p Path, dst reflect.Value) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" {
		dst.SetBool(strings.EqualFold(n.Value, "true"))
		return
	}
	remedy := "write true or false, without quotes"
	switch strings.ToLower(n.Value) {
	case "yes", "on", "y", "true":
		remedy = "write true, without quotes"
	case "no", "off", "n", "false":
		remedy = "write false, without quotes"
	}
	d.wrong(n, p, "true or false", remedy)
}

// anything reads a value of a free mapping as JSON would have it: nil, bool,
// int64 or float64, string, []any or map[string]any.
func (d *decoder) anything(n *yaml.Node, p Path) any {
	n = d.resolve(n, p)
	if n == nil || !d.enter(n, p) {
		return nil
	}
	defer d.leave(n)
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for _, pr := range d.freePairs(n, p) {
			at := p.Key(pr.key.Value)
			d.mark(at, pr.key, pr.value)
			out[pr.key.Value] = d.anything(pr.value, at)
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			out[i] = d.anything(item, p.Index(i))
		}
		return out
	}
	return d.scalar(n, p)
}

func (d *decoder) scalar(n *yaml.Node, p Path) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		return d.number(n, p)
	case "!!str", "!!timestamp": // JSON has no dates: they stay as written
		return n.Value
	}
	d.doc.unreadable(d.at(n), p, fmt.Sprintf("has the YAML tag %s", wording.Quote(n.Tag)), "write it as text")
	return nil
}

func (d *decoder) number(n *yaml.Node, p Path) any {
	var i int64
	if n.ShortTag() == "!!int" && n.Decode(&i) == nil {
		return i
	}
	var f float64
	if err := n.Decode(&f); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		d.doc.unreadable(d.at(n), p, fmt.Sprintf("%s is not a number in JSON", wording.Quote(n.Value)),
			"put it in quotes, or write a finite number")
		return nil
	}
	return f
}
