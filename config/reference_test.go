package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"gotest.tools/v3/golden"

	"gotest.tools/v3/assert"

	"tombolo/config/addon"
	"tombolo/config/field"
	"tombolo/config/strict"
)

const referenceIntro = `# The cluster file

<!-- Written by ` + "`go test ./config -run TestReference -update`" + `; do not edit. -->

One YAML file describes one cluster: ` + "`clusters/<name>.yaml`" + `. Unknown keys are refused. ` + "`tombolo validate`" + ` reports all problems of a
file at once, each with its place and its remedy. It also checks values that must fit together, which the tables do not show.
[An example](../../config/testdata/good/full.yaml) has every key for AWS. Those for Azure are in [another](../../config/testdata/good/azure-full.yaml),
and [a third one](../../config/testdata/good/azure-network.yaml) has an existing network. ` + "`cloud.provider`" + ` decides which keys a file may have: one with the mark (AWS) or (Azure) is for files of that cloud only, and
refused in others.

Editors complete and check the keys with the JSON schema [cluster.v1.json](../../config/schema/cluster.v1.json). If your editor
uses the YAML language server, start the file with:

` + "```yaml\n# yaml-language-server: $schema=../config/schema/cluster.v1.json\n```\n" + sharedIntro

const sharedIntro = `
## Settings that clusters share

Two files beside the cluster files have settings for several of them, with the same keys: ` + "`clusters/_defaults.yaml`" + ` for all, and
` + "`clusters/_<environment>.yaml`" + ` for those of an environment. Neither has to be there. A cluster has what its own file says, then what the
file of its environment says, then what ` + "`_defaults.yaml`" + ` says:

- Mappings are merged by their keys.
- All else is replaced as a whole: a list too, and a reference to a secret or to a value that is read from elsewhere.
- ` + "`null`" + ` takes away what a file farther away says; where none says anything, it is refused. In ` + "`gitops.distribution.values`" + `, which Helm
  reads, it stays.

Each cluster's own file has ` + "`name`, `environment`, `cloud.resourceGroup`, `network.cidr`, `kubernetes.nodeResourceGroup`,\n`kubernetes.existing.name` and `gitops.path`" + `; files for several are refused with them. The path of a file is relative to
` + "`clusters/`" + `, whichever of the files names it. ` + "`required`" + ` in the tables is of all of a cluster's files together. For editors,
` + "`tombolo validate --schema --shared`" + ` prints the schema of these files and of the cluster files beside them.
[The guide](../guide/fleet.md#settings-that-clusters-share) has an example.
`

// TestReference holds docs/reference/cluster-file.md to the types.
func TestReference(t *testing.T) {
	golden.Assert(t, referenceTo(t, referenceIntro, reflect.TypeFor[Cluster](), clusterSchema(t)), "../../docs/reference/cluster-file.md")
}

const accountIntro = `# The account file

<!-- Written by ` + "`go test ./config -run TestAccountReference -update`" + `; do not edit. -->

One YAML file describes what pipelines need in one cloud account: ` + "`accounts/<name>.yaml`" + `. Unknown keys are refused.
` + "`tombolo pipelines validate <name>`" + ` reports all problems of a file at once, each with its place and its remedy. The
[guide to pipelines](../guide/pipelines.md) has examples. ` + "`cloud.provider`" + ` decides which keys a file may have: one with the mark (AWS) or
(Azure) is for files of that cloud only, and refused in others. Editors complete and check the keys with the JSON schema
[account.v1.json](../../config/schema/account.v1.json).
`

// TestAccountReference holds docs/reference/account-file.md to the types.
func TestAccountReference(t *testing.T) {
	golden.Assert(t, referenceTo(t, accountIntro, reflect.TypeFor[Account](), schemaOfAccount(t)), "../../docs/reference/account-file.md")
}

// referenceTo is the reference of a file's format.
func referenceTo(t *testing.T, intro string, file reflect.Type, schema []byte) string {
	t.Helper()
	r := reference{paths: map[reflect.Type][]string{}, format: clusterFormat}
	assert.NilError(t, json.Unmarshal(schema, &r.schema))
	r.visit(file, "")
	var b strings.Builder
	b.WriteString(intro)
	if r.lives = file == reflect.TypeFor[Cluster](); r.lives {
		r.liveSection(&b)
	}
	for _, typ := range r.order {
		r.section(&b, typ)
	}
	return b.String()
}

const liveIntro = `
## What a change does to a live cluster

The column **live** of the tables below says what a change of the key does once the cluster lives. ` + "`tombolo preview`, `tombolo up` and\n`tombolo validate --live`" + ` say it of each key that differs from what the cluster was made from, in words.

| effect | what happens |
|---|---|
| in place | what is there changes; nodes and the control plane stay |
| rolls nodes | the cloud replaces the nodes of a group one after another, each drained before; the group stays |
| replaces node group | a new node group is made, and the old one drained and deleted afterwards |
| **needs rebuild** | refused before anything starts, by plain Pulumi too: only a cluster that is destroyed and made anew has another value |
| **impossible** | refused before anything starts, by plain Pulumi too: the cloud has no way, or it would be another cluster |

Keys of core are compared with what core's state tells; those of bootstrap are not, and the preview shows their objects. So another
` + "`gitops.engine`" + ` is refused by tombolo alone, and only when bootstrap is planned.

These keys do more than to change something in place:

| key | change | effect | what happens |
|---|---|---|---|
`

// live is the text in the reference of cluster files, and "" in that of other files.
func (r *reference) live(text string) string {
	if r.lives {
		return text
	}
	return ""
}

// liveSection lists the keys that do more to a live cluster than to change in place.
func (r *reference) liveSection(b *strings.Builder) {
	b.WriteString(liveIntro)
	for _, typ := range r.order {
		if typ == reflect.TypeFor[addon.Selection]() {
			continue
		}
		for _, f := range r.format.Fields(typ) {
			byCloud := r.byCloud(typ, f)
			for _, p := range []Provider{"", AWS, Azure} {
				r.liveRows(b, typ, f, p, byCloud[p])
			}
		}
	}
}

// effectsInShort are the effects of a key's cases, the gravest last.
func effectsInShort(cases []Case) string {
	var found []Effect
	for _, c := range cases {
		if !slices.Contains(found, c.Effect) {
			found = append(found, c.Effect)
		}
	}
	slices.SortFunc(found, func(a, b Effect) int { return slices.Index(field.Effects(), a) - slices.Index(field.Effects(), b) })
	words := make([]string, len(found))
	for i, e := range found {
		words[i] = marked(e)
	}
	return strings.Join(words, " or ")
}

// marked is an effect, in bold when it is refused.
func marked(e Effect) string {
	if e.Refused() {
		return "**" + string(e) + "**"
	}
	return string(e)
}

// manyValues are too many for a cell of a table.
const manyValues = 24

// reference writes a section for each struct type of the cluster file.
type reference struct {
	schema jsonschema.Schema
	order  []reflect.Type
	paths  map[reflect.Type][]string // where in the file the type is used
	lives  bool                      // the file is of something that lives
	format strict.Format
}

// visit gathers the types in the order in which a reader of the file meets them.
func (r *reference) visit(typ reflect.Type, path string) {
	if !slices.Contains(r.order, typ) {
		r.order = append(r.order, typ)
	}
	r.paths[typ] = append(r.paths[typ], path)
	for _, f := range r.format.Fields(typ) {
		if s := structIn(f.Type); s != nil {
			at := strings.TrimPrefix(path+"."+f.Name, ".")
			if f.Type.Kind() == reflect.Map && s != f.Type {
				at += ".<key>"
			}
			r.visit(s, at)
		}
	}
}

// structIn is the struct type in a pointer, a list or by itself, or nil.
func structIn(typ reflect.Type) reflect.Type {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map && typ.Elem().Kind() == reflect.Struct {
		typ = typ.Elem()
	}
	if typ != reflect.TypeFor[addon.Selection]() && typ.Kind() != reflect.Struct || len(clusterFormat.Fields(typ)) == 0 {
		return nil
	}
	return typ
}

func (r *reference) title(typ reflect.Type) string {
	if paths := r.paths[typ]; paths[0] != "" {
		return "`" + strings.Join(paths, "`, `") + "`"
	}
	return "The keys of the file"
}

func (r *reference) section(b *strings.Builder, typ reflect.Type) {
	definition := r.schema.Definitions[typ.Name()]
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n| key | value | default | meaning |%s\n|---|---|---|---|%s\n",
		r.title(typ), about(typ, definition.Description), r.live(" live |"), r.live("---|"))
	for _, f := range r.format.Fields(typ) {
		property, _ := definition.Properties.Get(f.Name)
		description, _, _ := strings.Cut(property.Description, onlyMark)
		description, _, _ = strings.Cut(description, liveInAzure)
		description, _, _ = strings.Cut(description, liveMark)
		meaning, byDefault := splitDefault(description)
		switch {
		case f.Required:
			byDefault = "**required**"
		case typ == reflect.TypeFor[addon.Selection]():
			byDefault = "off"
		case isPlain(property.Default):
			byDefault = code(property.Default)
		default:
			byDefault = strings.TrimSpace(proseOf(typ, " "+byDefault)) // not the start of a sentence
		}
		fmt.Fprintf(b, "| `%s`%s | %s | %s | %s |%s\n", f.Name, mark(r.only(typ, f)), r.valueByCloud(typ, f, property), byDefault, proseOf(typ, meaning),
			r.live(" "+r.liveCell(typ, f)+" |"))
	}
}

// value says what a value may be, apart from what its meaning says.
func (r *reference) value(key string, typ reflect.Type, s *jsonschema.Schema) string {
	if typ.Kind() == reflect.Map && typ.Elem().Kind() == reflect.Struct {
		return fmt.Sprintf("map of strings, or of [references](#%s)", slug(r.title(structIn(typ))))
	}
	if section := structIn(typ); section != nil && typ.Kind() != reflect.Slice {
		return fmt.Sprintf("[%s](#%s)", key, slug(r.title(section)))
	}
	if typ.Kind() == reflect.Pointer && typ.Elem().Kind() == reflect.Struct {
		return "`{}`" // an addon without options
	}
	switch s.Type {
	case "array":
		return "list of " + strings.Replace(r.value(key, typ.Elem(), s.Items), "string", "strings", 1)
	case "object":
		if typ.Elem().Kind() == reflect.String {
			return "map of strings"
		}
		return "map"
	case "boolean":
		return "`true`, `false`"
	}
	if len(s.Enum) > manyValues {
		return fmt.Sprintf("one of the %d in the schema", len(s.Enum))
	}
	if len(s.Enum) > 0 {
		return code(s.Enum...)
	}
	if s.Type == "integer" {
		return "number" + limits(s)
	}
	if s.MaxLength != nil {
		return fmt.Sprintf("string of at most %d characters", *s.MaxLength)
	}
	return "string"
}

func limits(s *jsonschema.Schema) string {
	switch {
	case s.Minimum != "" && s.Maximum != "":
		return fmt.Sprintf(", %s to %s", s.Minimum, s.Maximum)
	case s.Minimum != "":
		return fmt.Sprintf(", at least %s", s.Minimum)
	}
	return ""
}

var notInSlug = regexp.MustCompile(`[^a-z0-9 -]`)

// slug is the anchor that Git hosts give a heading.
func slug(title string) string {
	return strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
}

// isPlain reports whether a default can be shown as it is.
func isPlain(byDefault any) bool {
	items, list := byDefault.([]any)
	return byDefault != nil && (!list || !slices.ContainsFunc(items, func(i any) bool { _, m := i.(map[string]any); return m }))
}

func code(values ...any) string {
	var out []string
	for _, v := range values {
		if list, ok := v.([]any); ok {
			out = append(out, code(list...))
			continue
		}
		out = append(out, fmt.Sprintf("`%v`", v))
	}
	return strings.Join(out, ", ")
}

var (
	escaped = strings.NewReplacer("*", `\*`, "<", `\<`, "|", `\|`)
	word    = regexp.MustCompile(`[A-Za-z0-9]+`)
)

// splitDefault takes the sentence about the default out of a comment.
func splitDefault(comment string) (meaning, byDefault string) {
	m := defaultSentence.FindStringSubmatch(comment)
	if m == nil {
		return comment, ""
	}
	return strings.TrimSpace(strings.Replace(comment, m[0], " ", 1)), m[2]
}

// about is a type's comment without the type's name where it is the subject.
func about(typ reflect.Type, comment string) string {
	if rest, ok := strings.CutPrefix(comment, typ.Name()+" are "); ok {
		comment = strings.ToUpper(rest[:1]) + rest[1:]
	}
	rest, named := strings.CutPrefix(comment, typ.Name()+" ")
	verb, _, _ := strings.Cut(rest, " ")
	if named && strings.HasSuffix(verb, "s") {
		rest = strings.TrimPrefix(rest, "is ")
		comment = strings.ToUpper(rest[:1]) + rest[1:]
	}
	return proseOf(typ, comment)
}

// fieldsOfStruct leaves out a selection's, which are no Go fields.
func fieldsOfStruct(typ reflect.Type) []strict.Field {
	if typ == reflect.TypeFor[addon.Selection]() {
		return nil
	}
	return clusterFormat.Fields(typ)
}

// proseOf is a Go comment for readers of the file: fields go by their keys. A
// field's name that is also a plain word starts a sentence as such.
func proseOf(typ reflect.Type, comment string) string {
	keys := map[string]string{}
	for _, f := range fieldsOfStruct(typ) {
		if f.Type.Kind() != reflect.Struct || f.Name != strings.ToLower(f.Name) {
			keys[typ.Field(f.Index).Name] = f.Name
		}
	}
	text := escaped.Replace(comment)
	var b strings.Builder
	end := 0
	for _, at := range word.FindAllStringIndex(text, -1) {
		name := text[at[0]:at[1]]
		key := keys[name]
		starts := at[0] == 0 || strings.HasSuffix(text[:at[0]], ". ")
		if key == "" || name == strings.ToUpper(name) || starts && key == strings.ToLower(key) {
			continue
		}
		b.WriteString(text[end:at[0]] + "`" + key + "`")
		end = at[1]
	}
	return b.String() + text[end:]
}
