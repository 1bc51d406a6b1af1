package handoff

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// TestReference holds docs/reference/hand-off.md to the type.
func TestReference(t *testing.T) {
	golden.Assert(t, referencePage(t), "../../../docs/reference/hand-off.md")
}

func referencePage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `# The hand-off

<!-- Written by `+"`go test ./stacks/handoff -run TestReference -update`"+`; do not edit. -->

The hand-off is the outputs of the stack `+"`<name>-core`"+`, which bootstrap reads. Its version is %d, which is the output
`+"`%s`"+`; bootstrap refuses another version. `+"`tombolo outputs <name>`"+` prints the outputs. Outputs that core marks as secret
stay secret.

| output | value | meaning |
|---|---|---|
| `+"`%s`"+` | string | the provider of the cloud |
`, SchemaVersion, versionKey, cloudKey)
	table(t, &b, reflect.TypeFor[Handoff]())
	typ := reflect.TypeFor[Handoff]()
	for i := range typ.NumField() {
		if cloud, ok := typ.Field(i).Tag.Lookup("cloud"); ok {
			fmt.Fprintf(&b, "\nA cluster on `%s` also has these outputs:\n\n| output | value | meaning |\n|---|---|---|\n", cloud)
			table(t, &b, typ.Field(i).Type)
		}
	}
	return b.String()
}

// table writes a line for each output of a type.
func table(t *testing.T, b *strings.Builder, typ reflect.Type) {
	t.Helper()
	meanings := fieldComments(t, typ.Name())
	for i := range typ.NumField() {
		field := typ.Field(i)
		key := field.Tag.Get("output")
		if key == "" {
			continue // no output of its own
		}
		value := map[reflect.Kind]string{reflect.Slice: "list of strings", reflect.Map: "map of strings", reflect.String: "string"}[plain(field.Type).Kind()]
		assert.Assert(t, value != "" && meanings[field.Name] != "", "%s has a type or a comment that the reference does not know", field.Name)
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", key, value, meanings[field.Name])
	}
}

// fieldComments are the comments of a type's fields, without the name that
// each begins with.
func fieldComments(t *testing.T, typ string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "handoff.go", nil, parser.ParseComments)
	assert.NilError(t, err)
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != typ {
			return true
		}
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			name := field.Names[0].Name
			text := strings.Join(strings.Fields(field.Doc.Text()), " ")
			for _, verb := range []string{" is ", " are "} {
				text = strings.TrimPrefix(text, name+verb)
			}
			out[name] = strings.ReplaceAll(strings.NewReplacer("<", `\<`, "|", `\|`).Replace(text), `""`, "empty")
		}
		return false
	})
	return out
}
