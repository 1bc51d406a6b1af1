package handoff

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

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

What core tells bootstrap: the outputs of the stack `+"`<name>-core`"+`, in version %d of the contract, which is the output
`+"`%s`"+`. A bootstrap that meets another version refuses it. `+"`tombolo outputs <name>`"+` prints them. Outputs that core marks as
secret stay so.

| output | value | meaning |
|---|---|---|
`, SchemaVersion, versionKey)
	meanings := fieldComments(t)
	typ := reflect.TypeFor[Handoff]()
	for i := range typ.NumField() {
		field := typ.Field(i)
		if !field.IsExported() {
			continue // no output of its own
		}
		value := map[reflect.Kind]string{reflect.Slice: "list of texts", reflect.Map: "map of texts", reflect.String: "text"}[plain(field.Type).Kind()]
		if value == "" || meanings[field.Name] == "" {
			t.Fatalf("%s has a type or a comment that the reference does not know", field.Name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", field.Tag.Get("output"), value, meanings[field.Name])
	}
	return b.String()
}

// fieldComments are the comments of the type's fields, without the name that
// each begins with.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "handoff.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != "Handoff" {
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
