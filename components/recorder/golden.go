package recorder

import (
	"bytes"
	"encoding/json"
	"testing"

	"gotest.tools/v3/golden"
)

// Golden compares a JSON document, indented, with a file in testdata.
func Golden(t testing.TB, name, document string) {
	t.Helper()
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(document), "", "  "); err != nil {
		t.Fatalf("%s is no JSON: %v", name, err)
	}
	golden.Assert(t, indented.String()+"\n", name)
}
