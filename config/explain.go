package config

import (
	"bytes"
	"cmp"
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
	"tombolo/config/values"
)

// Explain returns the cluster file at path with all defaults filled in. A comment
// beside each value, or above it where the line would be longer than 80 characters, says
// where the value comes from:
//
//	demo.yaml:12                   that line of the file
//	_prod.yaml:3                   that line of a file of shared settings
//	default of the format          the same in every file for the cloud
//	default of the addon           of the addon's own options
//	derived: <how>                 from other values of the file
//	of the hub <name>              from the hub's file
//	read from <where>              from another stack or Parameter Store, by bootstrap
//
// Keys that have no value are comments: "default of the cloud" among them is what AWS
// decides. The result is a cluster file of the same meaning, in the order of the format's
// keys, and holds no more than the file does: of a secret, where it is. Errors are those
// of Load.
func Explain(path string) ([]byte, error) {
	var l Loader
	c, doc, err := l.load(path)
	if err != nil {
		return nil, err
	}
	if err := doc.Problems().Err(); err != nil {
		return nil, err
	}
	e := explainer{doc: doc, spoke: c.IsSpoke(), cloud: c.Cloud.Provider}
	if c.HasHubFile() {
		hub, err := l.hubOf(c, doc)
		if err != nil {
			return nil, err
		}
		e.hub = hub.Name
	}
	root, _ := e.structure(reflect.ValueOf(*c), "")
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(nested)
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("explain cluster file %s: %w", path, err)
	}
	return out.Bytes(), nil
}

// explainer writes values as YAML nodes, with the place that each comes from.
type explainer struct {
	doc   *strict.Document
	cloud Provider
	hub   string // of a spoke whose hub has a file
	// spoke says that another cluster's Argo CD manages this one.
	spoke bool
	// addon says that the values are an addon's options.
	addon bool
	// indent is how far the keys of the mapping at hand are from the left, in characters.
	indent int
}

// below is for what is in a value of the mapping at hand.
func (e explainer) below() explainer {
	e.indent += nested
	return e
}

const (
	// nested is the indentation of a mapping in another one, and of a list's items, in characters.
	nested = 2
	// widest line, in characters, where its value allows it.
	widest = 80
)

// structure writes a mapping with known keys. It is not there when neither the
// file nor a default has any of its values.
func (e explainer) structure(v reflect.Value, p strict.Path) (node *yaml.Node, there bool) {
	if v.IsZero() && !e.doc.Has(p) && p != "" {
		return nil, false
	}
	node = &yaml.Node{Kind: yaml.MappingNode}
	var unset []string
	for _, f := range formatOf(e.cloud).Fields(v.Type()) {
		byDefault := e.defaultOf(v.Type(), f)
		value, ok := e.below().value(v.Field(f.Index), p.Field(f.Name), byDefault)
		if !ok {
			unset = append(unset, e.wrapped(unsetKey(f.Name, byDefault.words)))
			continue
		}
		key := text(f.Name)
		e.fit(key, value, len(f.Name)+len(": "))
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
	if strings.HasPrefix(words, cloudWords) {
		return fmt.Sprintf("%s: not set; default of the cloud: that %s", name, strings.TrimPrefix(words, cloudWords))
	}
	return fmt.Sprintf("%s: not set; default: %s", name, words)
}

// cloudWords begin the sentence about a default that the cloud decides.
const cloudWords = "the cloud's default "

// fit puts the comment beside a value above it where the line would be too long. before
// is what the line has before the value, without the indentation, in characters.
func (e explainer) fit(above, value *yaml.Node, before int) {
	const quotes, sign = 2, 3 // at most, and of " # "
	written := len(value.Value) + quotes
	if value.Kind != yaml.ScalarNode {
		written = len(inFlow(value))
	}
	if e.indent+before+written+sign+len(value.LineComment) <= widest {
		return
	}
	comment := value.LineComment
	value.LineComment = ""
	above.HeadComment = e.wrapped(comment)
}

// inFlow is a value as YAML writes it on one line.
func inFlow(value *yaml.Node) string {
	bare := *value
	bare.LineComment = ""
	written, err := yaml.Marshal(&bare)
	if err != nil {
		panic(fmt.Sprintf("encode %v: %v", value, err)) // it was decoded from YAML
	}
	return strings.TrimSpace(string(written))
}

// wrapped is a comment in lines that are not too long.
func (e explainer) wrapped(comment string) string {
	const sign, more = "# ", "  "
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(comment) {
		if line != "" && e.indent+len(sign)+len(line)+1+len(word) > widest {
			lines, line = append(lines, line), more
		}
		if strings.TrimSpace(line) != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}

// catalogue writes the keys that are there, in the catalogue's order.
func (e explainer) catalogue(v reflect.Value, p strict.Path) (node *yaml.Node, there bool) {
	node = &yaml.Node{Kind: yaml.MappingNode}
	var off []string
	for _, f := range formatOf(e.cloud).Fields(v.Type()) {
		options := v.MapIndex(reflect.ValueOf(f.Name))
		if !options.IsValid() {
			off = append(off, f.Name)
			continue
		}
		inside := e.below()
		inside.addon = true
		value, _ := inside.structure(options.Elem().Elem(), p.Field(f.Name))
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
	case !e.doc.Has(p) && v.IsZero() && (!byDefault.isZero() || e.ofHub(p)):
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

// ofHub says that a key may be the hub's alone, so that a spoke cannot write it.
func (e explainer) ofHub(p strict.Path) bool {
	return e.spoke && strings.HasPrefix(string(p), "gitops.")
}

func (e explainer) list(v reflect.Value, p strict.Path, byDefault fallback) *yaml.Node {
	node := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range v.Len() {
		if item, ok := e.below().value(v.Index(i), p.Index(i), byDefault); ok {
			e.fit(item, item, len("- "))
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
	for _, name := range slices.SortedFunc(slices.Values(v.MapKeys()), compareText) {
		item := v.MapIndex(name).Interface()
		key, value := text(name.String()), text(item)
		value.LineComment = e.origin(p.Key(name.String()), fallback{})
		source, read := sourceIn(item)
		if read {
			value.Style = yaml.FlowStyle
			value.LineComment += ", read from " + source.String()
		}
		if value.Kind != yaml.ScalarNode && !read {
			key.HeadComment, value.LineComment = value.LineComment, ""
		} else {
			e.fit(key, value, len(key.Value)+len(": "))
		}
		node.Content = append(node.Content, key, value)
	}
	if len(node.Content) == 0 {
		node.Style, node.LineComment = yaml.FlowStyle, e.origin(p, fallback{})
	}
	return node
}

// sourceIn says where a value is read from; false for one that the file has.
func sourceIn(item any) (values.Source, bool) {
	switch v := item.(type) {
	case values.Value:
		return v.Source()
	case map[string]any:
		return values.SourceOf(v), values.IsReference(v)
	}
	return values.Source{}, false
}

func compareText(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }

// origin says where the value at p comes from.
func (e explainer) origin(p strict.Path, byDefault fallback) string {
	switch {
	case e.doc.Has(p):
		at := e.doc.Position(p)
		return fmt.Sprintf("%s:%d", filepath.Base(cmp.Or(at.File, e.doc.File)), at.Line)
	case p == "wave" && e.hub != "":
		return "of the hub " + e.hub
	case byDefault.value == nil && byDefault.words != "":
		return "derived: " + byDefault.words
	case e.addon:
		return "default of the addon"
	}
	return "default of the format"
}

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

// isZero says that the key has a default, which is the zero value of its type, as of a
// switch that is off.
func (f fallback) isZero() bool { return f.value != nil && reflect.ValueOf(f.value).IsZero() }

// defaultOf is the default of a field of a type, by its rule, or by the
// description in the schema.
func (e explainer) defaultOf(t reflect.Type, f strict.Field) fallback {
	words := inCloud(e.cloud, defaultWords()[t.Name()][f.Name])
	for _, other := range formatOf(e.cloud).Fields(t) { // Go's name, in a comment, is the key to readers
		words = regexp.MustCompile(`\b`+t.Field(other.Index).Name+`\b`).ReplaceAllString(words, other.Name)
	}
	return fallback{value: f.Rule.Default, words: words}
}

// onAzureMark is between the default on AWS and that on Azure in the sentence about one.
const onAzureMark = "; on Azure "

// inCloud is what the sentence about a default says of one cloud.
func inCloud(p Provider, words string) string {
	aws, azure, both := strings.Cut(words, onAzureMark)
	if both && p == Azure {
		return azure
	}
	return aws
}

var defaultSentence = regexp.MustCompile(` ?Default( for [a-z]+)?:? (.+?)\.( |$)`)

// defaultWords are the sentences about defaults in the schema, by type and key.
var defaultWords = sync.OnceValue(func() map[string]map[string]string {
	var document struct {
		Types map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(schema, &document); err != nil {
		panic(fmt.Sprintf("read the embedded schema: %v", err))
	}
	words := map[string]map[string]string{}
	for name, typ := range document.Types {
		words[name] = map[string]string{}
		for key, property := range typ.Properties {
			about, _ := property.(map[string]any) // false where a cloud does not have the key
			description, _ := about["description"].(string)
			if m := defaultSentence.FindStringSubmatch(description); m != nil {
				words[name][key] = m[2]
			}
		}
	}
	return words
})
