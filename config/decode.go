package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// decoder fills Go values from YAML nodes. It is stricter than yaml.v3's own:
// it takes no unknown key, no key twice and no value of another type, goes on
// after a problem, and notes where everything stands.
type decoder struct {
	doc     *document
	open    map[*yaml.Node]bool // being read: an alias to one of them never ends
	visited int
}

func newDecoder(doc *document) *decoder {
	return &decoder{doc: doc, open: map[*yaml.Node]bool{}}
}

// field is a key of a struct, as its yaml tag says.
type field struct {
	name     string
	index    int
	required bool
	typ      reflect.Type
	rule     rule
}

// fields of a struct type, or the addons of a selection. A field without
// omitempty is required.
func fields(t reflect.Type) []field {
	if t == selectionType {
		return addonFields()
	}
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "-" {
			continue
		}
		out = append(out, field{
			name:     name,
			index:    i,
			required: options != "omitempty",
			typ:      f.Type,
			rule:     ruleOf(t.Name() + "." + f.Name),
		})
	}
	return out
}

// decode reads n into dst. key is nil for the root and for items of a list.
func (d *decoder) decode(key, n *yaml.Node, p path, dst reflect.Value, r rule) {
	d.doc.stood(p, key, n)
	n = d.resolve(n, p)
	if n == nil || !d.enter(n, p) {
		return
	}
	defer d.leave(n)
	if !d.plain(n, p, dst.Type()) {
		return
	}
	switch dst.Kind() {
	case reflect.Pointer:
		target := reflect.New(dst.Type().Elem())
		d.value(n, p, target.Elem(), r)
		dst.Set(target)
	default:
		d.value(n, p, dst, r)
	}
}

// plain refuses tags that ask for another type, and values that are not there.
func (d *decoder) plain(n *yaml.Node, p path, want reflect.Type) bool {
	if n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!str" {
		d.doc.unreadable(positionOf(n), p, fmt.Sprintf("has the YAML tag %s", quote(n.Tag)),
			"remove the tag; the type follows from the key")
		return false
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		remedy := "give it one, or remove the key"
		if optional(want) {
			remedy = "write {} to take it as it is, or remove the key"
		}
		d.doc.unreadable(positionOf(n), p, "has no value", remedy)
		return false
	}
	return true
}

// optional tells a mapping that may be left empty but says something by being
// there.
func optional(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct &&
		!slices.ContainsFunc(fields(t.Elem()), func(f field) bool { return f.required })
}

func (d *decoder) value(n *yaml.Node, p path, dst reflect.Value, r rule) {
	switch dst.Kind() {
	case reflect.Struct:
		d.structure(n, p, dst.Type(), func(f field) reflect.Value { return dst.Field(f.index) })
	case reflect.Slice:
		d.list(n, p, dst, r)
	case reflect.Map:
		if dst.Type() == selectionType {
			d.selection(n, p, dst)
			return
		}
		d.mapping(n, p, dst)
	case reflect.String:
		d.text(n, p, dst, r)
	case reflect.Int:
		d.integer(n, p, dst, r)
	case reflect.Bool:
		d.boolean(n, p, dst)
	}
}

// wrong reports a value of another type than the key's.
func (d *decoder) wrong(n *yaml.Node, p path, want, remedy string) {
	d.doc.unreadable(positionOf(n), p, fmt.Sprintf("must be %s, but is %s", want, describe(n)), remedy)
}

// structure reads a mapping with known keys; place is where a key's value goes.
func (d *decoder) structure(n *yaml.Node, p path, typ reflect.Type, place func(field) reflect.Value) {
	known := fields(typ)
	if n.Kind != yaml.MappingNode {
		d.notMapping(n, p, typ, known)
		return
	}
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.name
	}
	seen := map[string]bool{}
	for _, pr := range d.pairs(n, p) {
		i := indexOf(names, pr.key.Value)
		if i < 0 {
			d.unknown(pr.key, p, names, n)
			continue
		}
		seen[pr.key.Value] = true
		d.decode(pr.key, pr.value, p.field(pr.key.Value), place(known[i]), known[i].rule)
	}
	for _, f := range known {
		if f.required && !seen[f.name] {
			d.missing(n, p, f)
		}
	}
}

// notMapping reports a value where a struct belongs. Where a secret's place
// belongs, the value is probably the secret.
func (d *decoder) notMapping(n *yaml.Node, p path, t reflect.Type, known []field) {
	remedy := "write " + someKeys(known) + " below it"
	if t == reflect.TypeFor[SecretRef]() {
		d.doc.unreadable(positionOf(n), p, "must say where the secret is; the secret itself does not belong here",
			"write config, env or file as a key below it")
		d.doc.conceal()
		return
	}
	d.wrong(n, p, "a mapping", remedy)
}

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

// someKeys names the required keys of a mapping, or the first few of all.
func someKeys(known []field) string {
	var names []string
	for _, f := range known {
		if f.required {
			names = append(names, f.name)
		}
	}
	if len(names) == 0 {
		for _, f := range known[:min(len(known), 3)] {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ") + " as keys"
}

// unknown reports a key that the format does not have. A misspelt key does not
// also make the key that was meant missing.
func (d *decoder) unknown(key *yaml.Node, p path, names []string, parent *yaml.Node) {
	remedy := "remove it; the keys here are " + strings.Join(names, ", ")
	if near := nearest(key.Value, names); near != "" {
		remedy = fmt.Sprintf("did you mean %s?", quote(near))
		if !holds(parent, near) {
			d.doc.broken[p.field(near)] = true
		}
	}
	d.doc.add(positionOf(key), p.key(key.Value), "is not a known key", remedy)
}

func holds(mapping *yaml.Node, key string) bool {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return true
		}
	}
	return false
}

// missing reports a required key at the mapping that should have it.
func (d *decoder) missing(n *yaml.Node, p path, f field) {
	at := p.field(f.name)
	if d.doc.broken[at] {
		return
	}
	position := d.doc.position(p)
	if p == "" {
		position = positionOf(n)
	}
	d.doc.unreadable(position, at, "is required and missing", f.howToAdd())
}

// howToAdd shows what a missing key looks like.
func (f field) howToAdd() string {
	switch {
	case f.typ.Kind() == reflect.Struct:
		return "add it, with " + someKeys(fields(f.typ)) + " below it"
	case f.typ.Kind() == reflect.Slice && f.rule.example != "":
		return fmt.Sprintf("add it, for example %s: [%s]", f.name, f.rule.example)
	case f.rule.example != "":
		return fmt.Sprintf("add it, for example %s: %s", f.name, f.rule.example)
	case len(f.rule.allowed) > 0:
		return "add it: " + choice(f.rule.allowed)
	}
	return "add it"
}

func (d *decoder) list(n *yaml.Node, p path, dst reflect.Value, r rule) {
	if n.Kind != yaml.SequenceNode {
		remedy := "write each item on a line of its own, after a dash"
		if n.Kind == yaml.ScalarNode {
			remedy = fmt.Sprintf("write [%s]", n.Value)
		}
		d.wrong(n, p, "a list", remedy)
		return
	}
	if len(n.Content) < r.minItems {
		d.doc.unreadable(d.doc.position(p), p,
			fmt.Sprintf("needs at least %s, and has %d", plural(r.minItems, r.item()), len(n.Content)), "add one")
	}
	items := reflect.MakeSlice(dst.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		d.decode(nil, item, p.index(i), items.Index(i), r)
	}
	dst.Set(items)
}

// mapping reads the two kinds of free mapping: text to text, and text to
// anything that JSON has.
func (d *decoder) mapping(n *yaml.Node, p path, dst reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.wrong(n, p, "a mapping", "write key: value pairs below it")
		return
	}
	out := reflect.MakeMap(dst.Type())
	for _, pr := range d.pairs(n, p) {
		at := p.key(pr.key.Value)
		value := reflect.New(dst.Type().Elem()).Elem()
		if value.Kind() == reflect.Interface {
			d.doc.stood(at, pr.key, pr.value)
			if v := d.anything(pr.value, at); v != nil {
				value.Set(reflect.ValueOf(v))
			}
		} else {
			d.decode(pr.key, pr.value, at, value, rule{})
		}
		out.SetMapIndex(reflect.ValueOf(pr.key.Value), value)
	}
	dst.Set(out)
}
