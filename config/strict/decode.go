package strict

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/internal/wording"
)

// decoder fills Go values from YAML nodes. It is stricter than yaml.v3's own: it
// refuses unknown and repeated keys and values of another type. It continues after
// a problem, and records all positions.
type decoder struct {
	Format
	doc     *Document
	open    map[*yaml.Node]bool // being read: an alias to one of them never ends
	visited int
	under   []*Shared // files whose values the document has, the nearest first
	// merged are mappings that several files have, made of those of each, the nearest first.
	merged map[*yaml.Node][]*yaml.Node
}

// decode reads n into dst. key is nil for the root and for items of a list.
func (d *decoder) decode(key, n *yaml.Node, p Path, dst reflect.Value, r Rule) {
	d.mark(p, key, n)
	if layers, merged := d.merged[n]; merged && d.isWhole(dst.Type()) {
		n = layers[0]
	}
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

// mark records the position of the value at p. For a mapping or a list, this is
// the position of its key.
func (d *decoder) mark(p Path, key, value *yaml.Node) {
	at := d.at(value)
	if key != nil {
		d.doc.keys[p] = d.at(key)
		if value.Kind != yaml.ScalarNode {
			at = d.at(key)
		}
	}
	d.doc.values[p] = at
}

// plain refuses tags of another type, and missing values.
func (d *decoder) plain(n *yaml.Node, p Path, want reflect.Type) bool {
	if n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!str" {
		d.doc.unreadable(d.at(n), p, fmt.Sprintf("has the YAML tag %s", wording.Quote(n.Tag)),
			"remove the tag; the type follows from the key")
		return false
	}
	if isNull(n) && d.Partial {
		return false // it may take away what is in a file below this one
	}
	if isNull(n) {
		remedy := "give it one, or remove the key"
		if d.optional(want) {
			remedy = "write {} for its defaults, or remove the key"
		}
		d.doc.unreadable(d.at(n), p, "has no value", remedy)
		return false
	}
	return true
}

// optional says whether a type is a mapping that may be empty: its key alone has
// a meaning.
func (d *decoder) optional(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct &&
		!slices.ContainsFunc(d.Fields(t.Elem()), func(f Field) bool { return f.Required })
}

func (d *decoder) value(n *yaml.Node, p Path, dst reflect.Value, r Rule) {
	switch dst.Kind() {
	case reflect.Struct:
		if or, ok := dst.Addr().Interface().(OrText); ok && (n.Kind != yaml.MappingNode || len(n.Content) == 0) {
			var text string
			d.text(n, p, reflect.ValueOf(&text).Elem(), r)
			or.SetText(text)
			return
		}
		d.structure(n, p, dst.Type(), func(f Field) reflect.Value { return dst.Field(f.Index) })
	case reflect.Slice:
		d.list(n, p, dst, r)
	case reflect.Map:
		if dst.Type().Implements(catalogueType) {
			d.catalogue(n, p, dst)
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
func (d *decoder) wrong(n *yaml.Node, p Path, want, remedy string) {
	d.doc.unreadable(d.at(n), p, fmt.Sprintf("must be %s, but is %s", want, describe(n)), remedy)
}

// structure reads a mapping with known keys; place is where a key's value goes.
func (d *decoder) structure(n *yaml.Node, p Path, typ reflect.Type, place func(Field) reflect.Value) {
	known := d.Fields(typ)
	if n.Kind != yaml.MappingNode {
		d.notMapping(n, p, typ, known)
		return
	}
	names := namesOf(known)
	seen := map[string]bool{}
	for _, pr := range d.pairs(n, p) {
		i := slices.Index(names, pr.key.Value)
		if i < 0 {
			if o := d.Omission(typ, pr.key.Value); o != nil {
				d.omitted(pr.key, p, *o)
				continue
			}
			d.unknown(pr.key, p, names, n)
			continue
		}
		seen[pr.key.Value] = true
		d.decode(pr.key, pr.value, p.Field(pr.key.Value), place(known[i]), known[i].Rule)
	}
	for _, f := range known {
		if f.Required && !seen[f.Name] && !d.Partial {
			d.missing(n, p, f)
		}
	}
}

// notMapping reports a value where a struct belongs. Where a secret's place
// belongs, the value is probably the secret.
func (d *decoder) notMapping(n *yaml.Node, p Path, t reflect.Type, known []Field) {
	if d.Rule(t.Name()).Secret {
		d.doc.unreadable(d.at(n), p, "must say where the secret is; the secret itself does not belong here",
			"write "+wording.Or(namesOf(known))+" as a key below it")
		d.doc.Conceal()
		return
	}
	if len(known) == 0 {
		d.wrong(n, p, "a mapping", "write {}: there are no keys here")
		return
	}
	d.wrong(n, p, "a mapping", "write "+someKeys(known)+" below it")
}

// unknown reports a key that the format does not have. A misspelt key does not
// also make the key that was meant missing.
func (d *decoder) unknown(key *yaml.Node, p Path, names []string, parent *yaml.Node) {
	remedy := "remove it; there are no keys here"
	if len(names) > 0 {
		remedy = "remove it; the keys here are " + strings.Join(names, ", ")
	}
	if near := wording.Nearest(key.Value, names); near != "" {
		remedy = fmt.Sprintf("did you mean %s?", wording.Quote(near))
		if !d.holds(parent, near) {
			d.doc.broken[p.Field(near)] = true
		}
	}
	d.doc.ReportAt(d.at(key), p.Key(key.Value), "is not a known key", remedy)
}

// omitted reports a key that other files have. The key that this one has in its place is not
// also missing.
func (d *decoder) omitted(key *yaml.Node, p Path, o Omission) {
	if o.Instead != "" {
		d.doc.broken[p.Field(o.Instead)] = true
	}
	d.doc.unreadable(d.at(key), p.Field(key.Value), o.Message, o.Remedy)
}

func (d *decoder) holds(mapping *yaml.Node, key string) bool {
	for _, layer := range d.merged[mapping] {
		if d.holds(layer, key) {
			return true
		}
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return true
		}
	}
	return false
}

// missing reports a required key at the mapping that should have it.
func (d *decoder) missing(n *yaml.Node, p Path, f Field) {
	at := p.Field(f.Name)
	if !d.doc.Sound(at) {
		return
	}
	position := d.doc.Position(p)
	if p == "" {
		position = d.at(n)
	}
	d.reportMissing(d.doc, position, at, f)
}

func (d *decoder) list(n *yaml.Node, p Path, dst reflect.Value, r Rule) {
	if n.Kind != yaml.SequenceNode {
		remedy := "write each item on a line of its own, after a dash"
		if n.Kind == yaml.ScalarNode {
			remedy = "write [" + strings.Trim(wording.Quote(n.Value), `"`) + "]"
		}
		d.wrong(n, p, "a list", remedy)
		return
	}
	if len(n.Content) < r.MinItems {
		d.doc.unreadable(d.doc.Position(p), p,
			fmt.Sprintf("needs at least %s, and has %d", wording.Count(r.MinItems, r.item()), len(n.Content)), "add one")
	}
	if len(n.Content) > maxItems {
		d.doc.unreadable(d.doc.Position(p), p, fmt.Sprintf("has %d items, and may have %d", len(n.Content), maxItems), "remove some")
		return
	}
	items := reflect.MakeSlice(dst.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		d.decode(nil, item, p.Index(i), items.Index(i), r)
	}
	dst.Set(items)
}

// mapping reads the kinds of free mapping: text to text, text to a struct, and text
// to anything that JSON has.
func (d *decoder) mapping(n *yaml.Node, p Path, dst reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.wrong(n, p, "a mapping", "write key: value pairs below it")
		return
	}
	out := reflect.MakeMap(dst.Type())
	pairs := d.pairs
	if dst.Type().Elem().Kind() == reflect.Interface {
		pairs = d.freePairs
	}
	for _, pr := range pairs(n, p) {
		at := p.Key(pr.key.Value)
		value := reflect.New(dst.Type().Elem()).Elem()
		if value.Kind() == reflect.Interface {
			d.mark(at, pr.key, pr.value)
			if v := d.anything(pr.value, at); v != nil {
				value.Set(reflect.ValueOf(v))
			}
		} else {
			d.decode(pr.key, pr.value, at, value, Rule{})
		}
		out.SetMapIndex(reflect.ValueOf(pr.key.Value), value)
	}
	dst.Set(out)
}

// catalogue reads a map like a struct. Keys that are not in the file are not in
// the map.
func (d *decoder) catalogue(n *yaml.Node, p Path, dst reflect.Value) {
	read := map[string]reflect.Value{}
	d.structure(n, p, dst.Type(), func(f Field) reflect.Value {
		read[f.Name] = reflect.New(f.Type).Elem()
		return read[f.Name]
	})
	out := reflect.MakeMap(dst.Type())
	for name, value := range read {
		if !value.IsNil() {
			out.SetMapIndex(reflect.ValueOf(name), value)
		}
	}
	dst.Set(out)
}
