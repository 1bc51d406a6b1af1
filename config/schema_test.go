package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validator5 "github.com/santhosh-tekuri/jsonschema/v5"
	"gopkg.in/yaml.v3"
	"gotest.tools/v3/golden"

	"gotest.tools/v3/assert"

	"tombolo/config/addon"
	"tombolo/config/field"
	"tombolo/config/policy"
	"tombolo/config/stackfile"
	"tombolo/config/strict"
)

// TestSchema holds the committed schema to the types, comments and rules.
func TestSchema(t *testing.T) {
	made := clusterSchema(t)
	golden.Assert(t, string(made), "../schema/cluster.v1.json")
	// Files are explained by the schema that the test was compiled with.
	if golden.FlagUpdate() && !bytes.Equal(made, schema) {
		t.Error("the schema has changed: run the same command again, for the golden files that are made by it")
	}
}

// TestAccountSchema does the same for account files.
func TestAccountSchema(t *testing.T) {
	golden.Assert(t, string(schemaOfAccount(t)), "../schema/account.v1.json")
}

func clusterSchema(t *testing.T) []byte {
	return generateSchema(t, reflect.TypeFor[Cluster](), "Tombolo cluster file, version "+strconv.Itoa(Version))
}

func schemaOfAccount(t *testing.T) []byte {
	return generateSchema(t, reflect.TypeFor[Account](), "Tombolo account file, version "+strconv.Itoa(AccountVersion))
}

// generateSchema reflects the types of a file, with their comments as descriptions,
// and adds the rules.
func generateSchema(t *testing.T, file reflect.Type, title string) []byte {
	t.Helper()
	r := jsonschema.Reflector{FieldNameTag: "yaml", Anonymous: true}
	assert.NilError(t, r.AddGoComments("tombolo/config", "./", jsonschema.WithFullComment()))
	s := r.ReflectFromType(file)
	if selection := reflect.TypeFor[addon.Selection]().Name(); s.Definitions[selection] != nil {
		s.Definitions[selection] = addonSchema(&r, s.Definitions)
	}
	s.Title = title
	for typ := range clusterTypes(file) {
		addRules(t, s.Definitions[typ.Name()], typ, file == reflect.TypeFor[Cluster]())
	}
	addClouds(s, file)
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	assert.NilError(t, encoder.Encode(s))
	return b.Bytes()
}

// addonSchema is the schema of the addons: a property for each. The types of
// their options join the definitions.
func addonSchema(r *jsonschema.Reflector, definitions jsonschema.Definitions) *jsonschema.Schema {
	selection := &jsonschema.Schema{
		Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema,
		Description: "Addons of the catalogue, by name, with their options. {} takes an addon as it is.",
	}
	for _, a := range addon.All() {
		options := r.ReflectFromType(a.Options())
		maps.Copy(definitions, options.Definitions)
		selection.Properties.Set(a.Name, &jsonschema.Schema{Ref: "#/$defs/" + a.Options().Name(), Description: a.Summary})
	}
	return selection
}

// clusterTypes are the struct types that a type is made of, itself included, in the files for
// all clouds.
func clusterTypes(t reflect.Type) map[reflect.Type]bool { return typesOf(t, clusterFormat) }

// typesOf are those in the files of a format.
func typesOf(t reflect.Type, format strict.Format) map[reflect.Type]bool {
	found := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		switch {
		case t == reflect.TypeFor[addon.Selection]():
		case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
			visit(t.Elem())
			return
		case t.Kind() == reflect.Struct:
			found[t] = true
		default:
			return
		}
		for _, f := range format.Fields(t) {
			visit(f.Type)
		}
	}
	visit(t)
	return found
}

// addRules puts the rules of a type's fields, and their comments without line
// breaks, into its schema; of a file of something that lives, the effects of changes too.
func addRules(t *testing.T, s *jsonschema.Schema, typ reflect.Type, lives bool) {
	t.Helper()
	s.Description = oneLine(s.Description)
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "-" {
			continue
		}
		property, ok := s.Properties.Get(name)
		assert.Assert(t, ok, "schema of %s has no %s", typ.Name(), name)
		assert.Check(t, property.Description != "", "%s.%s has no comment", typ.Name(), f.Name)
		property.Description = oneLine(property.Description)
		only := Provider(f.Tag.Get(field.CloudTag))
		if only != "" {
			property.Description += onlyMark + only.Title() + "."
			s.Required = slices.DeleteFunc(s.Required, func(key string) bool { return key == name })
		}
		only = cmp.Or(only, cloudOf(typ))
		if lives {
			property.Description += liveTexts(only, typ.Name()+"."+f.Name)
		}
		r := commonRule(only, typ.Name()+"."+f.Name)
		property.Default = r.Default
		value := property
		if f.Type.Kind() == reflect.Slice {
			property.MinItems = count(r.MinItems)
			value = property.Items
		}
		if f.Type.Kind() == reflect.Map && reflect.PointerTo(f.Type.Elem()).Implements(reflect.TypeFor[strict.OrText]()) {
			property.AdditionalProperties = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, property.AdditionalProperties}}
		}
		addRule(value, r)
	}
}

// liveMark begins what a key's description says of a live cluster, and liveInAzure what it says
// of one in Azure where that is something else.
const (
	liveMark    = " On a live cluster: "
	liveInAzure = " On a live cluster in Azure: "
)

// liveText says what a change does to a live cluster; "" for what is no key of its own.
func liveText(cases []Case) string {
	var parts []string
	for _, c := range cases {
		text := string(c.Effect) + ": " + c.Words
		if c.When != "" {
			text = c.When + ", " + text
		}
		parts = append(parts, text)
	}
	if parts == nil {
		return ""
	}
	return liveMark + strings.Join(parts, "; ") + "."
}

func addRule(s *jsonschema.Schema, r strict.Rule) {
	for _, a := range r.Allowed {
		s.Enum = append(s.Enum, a)
	}
	for _, n := range r.Numbers {
		s.Enum = append(s.Enum, n)
	}
	if r.Pattern != nil {
		s.Pattern = r.Pattern.String()
	}
	s.MaxLength = count(r.MaxLength)
	if r.Least != nil {
		s.Minimum = json.Number(strconv.Itoa(*r.Least))
	}
	if r.Most != nil {
		s.Maximum = json.Number(strconv.Itoa(*r.Most))
	}
	if r.Example != "" && s.Type == "string" {
		s.Examples = []any{strings.Trim(r.Example, `"`)}
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func count(n int) *uint64 {
	if n == 0 {
		return nil
	}
	u := uint64(n)
	return &u
}

// TestDescribed finds fields without a descriptor, and descriptors that no file has a key for.
// A descriptor of no field ends every test: see field.Of.
func TestDescribed(t *testing.T) {
	fields := map[string]bool{}
	for _, file := range []reflect.Type{reflect.TypeFor[Cluster](), reflect.TypeFor[Account](), reflect.TypeFor[policy.Policy](), reflect.TypeFor[stackfile.StackFile]()} {
		for typ := range clusterTypes(file) {
			for _, f := range clusterFormat.Fields(typ) {
				name := typ.Name() + "." + typ.Field(f.Index).Name
				fields[name] = true
				if _, ok := described[name]; !ok {
					t.Errorf("%s has no descriptor: write one beside the type", name)
				}
			}
		}
	}
	for name := range described {
		if _, field, _ := strings.Cut(name, "."); field != "" && !fields[name] {
			t.Errorf("%s has a descriptor, and no file has a key for it", name)
		}
	}
}

// TestSchemaAcceptsGoodFiles and refuses what is structurally wrong.
func TestSchemaAcceptsGoodFiles(t *testing.T) {
	compiled := compileSchema(t, Schema)
	for _, file := range goodFiles(t) {
		assert.Check(t, compiled.Validate(asJSON(t, file, nil)), file)
	}
	broken := map[string]func(map[string]any){
		"unknown key":  func(m map[string]any) { m["nmae"] = "demo" },
		"missing key":  func(m map[string]any) { delete(m, "cloud") },
		"wrong type":   func(m map[string]any) { m["wave"] = "one" },
		"bad label":    func(m map[string]any) { m["name"] = "Demo_1" },
		"bad enum":     func(m map[string]any) { m["gitops"].(map[string]any)["engine"] = "argo" },
		"out of range": func(m map[string]any) { m["wave"] = 100 },
	}
	for name, breakIt := range broken {
		assert.Check(t, compiled.Validate(asJSON(t, "testdata/good/full.yaml", breakIt)) != nil, "%s: the schema accepts it", name)
	}
}

// TestSharedSchema accepts files of shared settings and the cluster files under which they are, and
// refuses what no file may have.
func TestSharedSchema(t *testing.T) {
	compiled := compileSchema(t, SharedSchema)
	dir := sharing(t, map[string]string{
		"nulls.yaml": "tags: {owner: null}\naddons: {loki: null}\nnetwork: null\nprotect: null\ngitops: {engine: null}\nvalues: {a: null}\n",
		"azure.yaml": "cloud: {tenant: 6b3e9f44-0d7b-4c39-9a56-5f6f3f0f3a01}\n",
	})
	for _, file := range append(goodFiles(t), filepath.Join(dir, "_defaults.yaml"), filepath.Join(dir, "_prod.yaml"), filepath.Join(dir, "one.yaml"), filepath.Join(dir, "nulls.yaml"), filepath.Join(dir, "azure.yaml")) {
		assert.Check(t, compiled.Validate(asJSON(t, file, nil)), file)
	}
	for name, text := range map[string]string{
		"an unknown key":            "kubernetes: {colour: red}\n",
		"a word that is none":       "gitops: {engine: argo}\n",
		"an item that lacks a key":  "kubernetes: {nodeGroups: [{size: {}}]}\n",
		"a key of the other cloud":  "cloud: {provider: aws, tenant: 6b3e9f44-0d7b-4c39-9a56-5f6f3f0f3a01}\n",
		"a number in place of text": "tags: {owner: 1}\n",
	} {
		write(t, dir, "bad.yaml", text)
		assert.Check(t, compiled.Validate(asJSON(t, filepath.Join(dir, "bad.yaml"), nil)) != nil, "%s: the schema accepts it", name)
	}
}

func compileSchema(t *testing.T, of func() ([]byte, error)) *validator5.Schema {
	t.Helper()
	content, err := of()
	assert.NilError(t, err)
	compiled, err := validator5.CompileString("cluster.v1.json", string(content))
	assert.NilError(t, err)
	return compiled
}

// asJSON reads a YAML file as a JSON reader would see it.
func asJSON(t *testing.T, file string, change func(map[string]any)) any {
	t.Helper()
	content, err := os.ReadFile(file)
	assert.NilError(t, err)
	var m map[string]any
	assert.NilError(t, yaml.Unmarshal(content, &m))
	if change != nil {
		change(m)
	}
	text, err := json.Marshal(m)
	assert.NilError(t, err)
	var out any
	assert.NilError(t, json.Unmarshal(text, &out))
	return out
}

// TestSchemaEnums decodes every value that the schema's enums allow, and one
// that they do not, and expects the decoder to agree.
func TestSchemaEnums(t *testing.T) {
	var s jsonschema.Schema
	content, err := Schema()
	assert.NilError(t, err)
	assert.NilError(t, json.Unmarshal(content, &s))
	for _, p := range field.Providers() {
		enums := 0
		for typ := range typesOf(reflect.TypeFor[Cluster](), formatOf(p)) {
			for _, f := range formatOf(p).Fields(typ) {
				values := enumOf(&s, p, typ, f.Name)
				if len(values) == 0 {
					continue
				}
				enums++
				checkEnum(t, typ.Name(), f, values)
			}
		}
		assert.Check(t, enums >= 10, "schema has %d enums for %s; expected 10 or more", enums, p)
	}
}

// enumOf are the words that a key may have in the files for a cloud; nil for any.
func enumOf(s *jsonschema.Schema, p Provider, typ reflect.Type, key string) []any {
	for _, name := range []string{typ.Name(), typ.Name() + "." + string(p)} {
		if s.Definitions[name] == nil {
			continue
		}
		property, there := s.Definitions[name].Properties.Get(key)
		if there && property.Items != nil {
			property = property.Items
		}
		if there && len(property.Enum) > 0 {
			return property.Enum
		}
	}
	return nil
}

func checkEnum(t *testing.T, typ string, f strict.Field, values []any) {
	t.Helper()
	for _, value := range values {
		if p := decodeOne(t, f, value); p != "" {
			t.Errorf("%s.%s: schema allows %v, decoding says %s", typ, f.Name, value, p)
		}
	}
	if p := decodeOne(t, f, wrongLike(values[0])); p == "" {
		t.Errorf("%s.%s: decoding allows what the schema does not", typ, f.Name)
	}
}

func wrongLike(value any) any {
	if _, ok := value.(float64); ok {
		return 424242.0
	}
	return "unheard-of"
}

// decodeOne holds one value to a field's rule, and returns the problem.
func decodeOne(t *testing.T, f strict.Field, value any) string {
	t.Helper()
	if n, ok := value.(float64); ok {
		message, _ := f.Rule.CheckNumber(int(n))
		return message
	}
	message, _ := f.Rule.CheckText(value.(string))
	return message
}

// TestSchemaDefaults loads the minimal file and expects the schema's defaults.
func TestSchemaDefaults(t *testing.T) {
	for _, file := range []string{"minimal.yaml", "azure-minimal.yaml"} {
		t.Run(file, func(t *testing.T) {
			c, doc, err := new(Loader).load(filepath.Join("testdata", "good", file))
			if err != nil || doc.Problems().Err() != nil {
				t.Fatal(err, doc.Problems())
			}
			checkDefaults(t, c, doc)
		})
	}
}

func checkDefaults(t *testing.T, c *Cluster, doc *strict.Document) {
	checked := 0
	var visit func(v reflect.Value, at strict.Path)
	visit = func(v reflect.Value, at strict.Path) {
		for _, f := range c.format().Fields(v.Type()) {
			value, path := v.Field(f.Index), at.Field(f.Name)
			if f.Rule.Default != nil && !doc.Has(path) {
				checked++
				if want, got := canonical(t, f.Rule.Default), canonical(t, plainValue(t, value)); want != got {
					t.Errorf("%s.%s is %s by default; the schema says %s", v.Type().Name(), f.Name, got, want)
				}
			}
			switch {
			case value.Kind() == reflect.Struct:
				visit(value, path)
			case value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct:
				for i := range value.Len() {
					visit(value.Index(i), path.Index(i))
				}
			}
		}
	}
	visit(reflect.ValueOf(c).Elem(), "")
	assert.Check(t, checked >= 14, "checked %d defaults; expected 14 or more", checked)
}

// plainValue is a value as YAML writes it.
func plainValue(t *testing.T, v reflect.Value) any {
	t.Helper()
	text, err := yaml.Marshal(v.Interface())
	assert.NilError(t, err)
	var out any
	assert.NilError(t, yaml.Unmarshal(text, &out))
	return out
}

func canonical(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	assert.NilError(t, err)
	return string(text)
}

func goodFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no good files: %v", err)
	}
	return files
}
