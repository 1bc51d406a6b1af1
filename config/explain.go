package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"tombolo/config/strict"
)

// Explain returns the cluster file at path with all defaults filled in. A comment
// beside each value says where it comes from: a line of the file, or a default.
// Keys that have no value are comments. The result is a cluster file of the same
// meaning. Errors are those of Load.
func Explain(path string) ([]byte, error) {
	c, doc, err := load(path)
	if err != nil {
		return nil, err
	}
	if err := doc.Problems().Err(); err != nil {
		return nil, err
	}
	e := explainer{doc: doc}
	if c.IsSpoke() {
		hub, err := hubOf(c, doc)
		if err != nil {
			return nil, err
		}
		e.hub = hub.Name
	}
	root, _ := e.structure(reflect.ValueOf(*c), "")
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("explain cluster file %s: %w", path, err)
	}
	return out.Bytes(), nil
}

// explainer writes values as YAML nodes, with the place that each comes from.
type explainer struct {
	doc *strict.Document
	hub string // of a spoke
}

// structure writes a mapping with known keys. It is not there when neither the
// file nor a default has any of its values.
func (e explainer) structure(v reflect.Value, p strict.Path) (node *yaml.Node, there bool) {
	if v.IsZero() && !e.doc.Has(p) && p != "" {
		return nil, false
	}
	node = &yaml.Node{Kind: yaml.MappingNode}
	var unset []string
	for _, f := range clusterFormat.Fields(v.Type()) {
		byDefault := defaultOf(v.Type(), f)
		value, ok := e.value(v.Field(f.Index), p.Field(f.Name), byDefault)
		if !ok {
			unset = append(unset, unsetKey(f.Name, byDefault.words))
			continue
		}
		key := text(f.Name)
		if strings.HasPrefix(value.LineComment, inWords) { // a line of its own, as it may be long
			key.HeadComment, value.LineComment = value.LineComment, ""
		}
		node.Content = append(node.Content, key, value)
	}
	if len(node.Content) == 0 {
		node.Style = yaml.FlowStyle // {}
		return node, e.doc.Has(p)
	}
	node.Content[len(node.Content)-2].FootComment = strings.Join(unset, "\n")
	return node, true
}

func unsetKey(name, words string) string {
	if words == "" {
		return name + ": not set"
	}
	return fmt.Sprintf("%s: not set; %s%s", name, inWords, words)
}

// catalogue writes the keys that are there, in the catalogue's order.
func (e explainer) catalogue(v reflect.Value, p strict.Path) (node *yaml.Node, there bool) {
	node = &yaml.Node{Kind: yaml.MappingNode}
	var off []string
	for _, f := range clusterFormat.Fields(v.Type()) {
		options := v.MapIndex(reflect.ValueOf(f.Name))
		if !options.IsValid() {
			off = append(off, f.Name)
			continue
		}
		value, _ := e.structure(options.Elem().Elem(), p.Field(f.Name))
		value.LineComment = e.origin(p.Field(f.Name), fallback{})
		node.Content = append(node.Content, text(f.Name), value)
	}
	if len(node.Content) > 0 && len(off) > 0 {
		node.Content[len(node.Content)-2].FootComment = "not turned on:\n  " + strings.Join(off, "\n  ")
	}
	return node, len(node.Content) > 0 || e.doc.Has(p)
}

// value writes one value, unless neither the file nor a default sets it.
func (e explainer) value(v reflect.Value, p strict.Path, byDefault fallback) (*yaml.Node, bool) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil, false
		}
		v = v.Elem()
	}
	switch {
	case v.Type().Implements(reflect.TypeFor[strict.Catalogue]()):
		return e.catalogue(v, p)
	case v.Kind() == reflect.Struct:
		return e.structure(v, p)
	case !e.doc.Has(p) && v.IsZero():
		return nil, false
	case v.Kind() == reflect.Slice:
		return e.list(v, p, byDefault), true
	case v.Kind() == reflect.Map:
		return e.mapping(v, p), true
	}
	node := text(v.Interface())
	if node.Value == byDefault.words {
		byDefault.words = ""
	}
	node.LineComment = e.origin(p, byDefault)
	return node, true
}

func (e explainer) list(v reflect.Value, p strict.Path, byDefault fallback) *yaml.Node {
	node := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range v.Len() {
		if item, ok := e.value(v.Index(i), p.Index(i), byDefault); ok {
			node.Content = append(node.Content, item)
		}
	}
	if len(node.Content) == 0 {
		node.Style, node.LineComment = yaml.FlowStyle, e.origin(p, byDefault)
	}
	return node
}

// mapping writes keys that the user chose; a default has none.
func (e explainer) mapping(v reflect.Value, p strict.Path) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), compareText) {
		value := text(v.MapIndex(key).Interface())
		if value.Kind == yaml.ScalarNode {
			value.LineComment = e.origin(p.Key(key.String()), fallback{})
		}
		node.Content = append(node.Content, text(key.String()), value)
	}
	if len(node.Content) == 0 {
		node.Style, node.LineComment = yaml.FlowStyle, e.origin(p, fallback{})
	}
	return node
}

func compareText(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }

// origin says where the value at p comes from.
func (e explainer) origin(p strict.Path, byDefault fallback) string {
	switch {
	case e.doc.Has(p):
		return fmt.Sprintf("%s:%d", filepath.Base(e.doc.File), e.doc.Position(p).Line)
	case p == "wave" && e.hub != "":
		return inWords + "that of the hub, " + e.hub
	case byDefault.value == nil && byDefault.words != "":
		return inWords + byDefault.words
	}
	return "default"
}

// inWords starts the comment of a default that depends on other values.
const inWords = "default: "

// text is a value as a node: a scalar, or what the user wrote as free YAML.
func text(v any) *yaml.Node {
	node := &yaml.Node{}
	if err := node.Encode(v); err != nil {
		panic(fmt.Sprintf("encode %v: %v", v, err)) // it was decoded from YAML
	}
	return node
}

// fallback is the default of a key: a value, or words where it depends on others.
type fallback struct {
	value any
	words string
}

// defaultOf is the default of a field of a type, by its rule, or by the
// description in the schema.
func defaultOf(t reflect.Type, f strict.Field) fallback {
	words := defaultWords()[t.Name()][f.Name]
	for _, other := range clusterFormat.Fields(t) { // Go's name, in a comment, is the key to readers
		words = regexp.MustCompile(`\b`+t.Field(other.Index).Name+`\b`).ReplaceAllString(words, other.Name)
	}
	return fallback{value: f.Rule.Default, words: words}
}

var defaultSentence = regexp.MustCompile(` ?Default( for [a-z]+)?:? (.+?)\.( |$)`)

// defaultWords are the sentences about defaults in the schema, by type and key.
var defaultWords = sync.OnceValue(func() map[string]map[string]string {
	var document struct {
		Types map[string]struct {
			Properties map[string]struct {
				Description string `json:"description"`
			} `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(schema, &document); err != nil {
		panic(fmt.Sprintf("read the embedded schema: %v", err))
	}
	words := map[string]map[string]string{}
	for name, typ := range document.Types {
		words[name] = map[string]string{}
		for key, property := range typ.Properties {
			if m := defaultSentence.FindStringSubmatch(property.Description); m != nil {
				words[name][key] = m[2]
			}
		}
	}
	return words
})
