package recorder

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Golden compares a JSON document, indented, with a file in testdata, and with
// update writes the file.
func Golden(t testing.TB, update bool, name, document string) {
	t.Helper()
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(document), "", "  "); err != nil {
		t.Fatalf("%s is no JSON: %v", name, err)
	}
	indented.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if update {
		if err := os.WriteFile(path, indented.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if indented.String() != string(want) {
		t.Errorf("%s is\n%s\nexpected\n%s", name, indented.String(), want)
	}
}
