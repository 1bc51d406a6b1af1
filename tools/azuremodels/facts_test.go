package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const apimodel = "../../lab/azure/apimodel"

// The stand-in's facts are what the pinned descriptions say. AZURE_TYPES is a checkout of their
// repository.
func TestFactsAreWhatTheDescriptionsSay(t *testing.T) {
	dir := os.Getenv("AZURE_TYPES")
	if dir == "" {
		t.Skip("AZURE_TYPES is not set")
	}
	w, err := readWanted(apimodel)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(apimodel, factsFile))
	if err != nil {
		t.Fatal(err)
	}
	want, err := facts(source{wanted: w, dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != string(want) {
		t.Errorf("%s is not what commit %s says: run make azure-models", factsFile, w.Commit)
	}
}

// types has one of each kind of types.
const types = `[
{"$type":"StringType"},
{"$type":"StringType","maxLength":3,"pattern":"^a"},
{"$type":"StringLiteralType","value":"On"},
{"$type":"UnionType","elements":[{"$ref":"#/2"},{"$ref":"#/0"}]},
{"$type":"IntegerType","minValue":1,"maxValue":9},
{"$type":"ObjectType","name":"Part","properties":{"state":{"type":{"$ref":"#/3"},"flags":1},"part":{"type":{"$ref":"#/5"},"flags":0},"id":{"type":{"$ref":"#/0"},"flags":2}}},
{"$type":"ArrayType","itemType":{"$ref":"#/5"},"minLength":1},
{"$type":"ObjectType","name":"Map","properties":{},"additionalProperties":{"$ref":"#/4"}},
{"$type":"ObjectType","name":"X/things","properties":{"id":{"type":{"$ref":"#/0"},"flags":10},"name":{"type":{"$ref":"#/1"},"flags":9},"parts":{"type":{"$ref":"#/6"},"flags":0},"counts":{"type":{"$ref":"#/7"},"flags":0}}},
{"$type":"ResourceType","name":"X/things@1","body":{"$ref":"#/8"}}
]`

func TestFacts(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "things.json"), []byte(types), 0o600); err != nil {
		t.Fatal(err)
	}
	wantedTypes := `{"repository":"a/b","commit":"c","files":{"things.json":"` + digest([]byte(types)) + `"},"types":{"thing":{"file":"things.json","resource":"X/things@1"}}}`
	if err := os.WriteFile(filepath.Join(dir, typesFile), []byte(wantedTypes), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, dir, false); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, factsFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"X/things@1": {"name":{"pattern":"^a","maxLength":3},"body":"X/things@1"}`,
		`"Part": {"id":{"readOnly":true},"part":{"object":"Part"},"state":{"required":true,"enum":["On"]}}`,
		`"X/things@1": {"counts":{"values":{"min":1,"max":9}},"parts":{"minItems":1,"items":{"object":"Part"}}}`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no line %s in\n%s", want, got)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "things.json"), []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, dir, false); err == nil || !strings.Contains(err.Error(), "check out commit c") {
		t.Errorf("another file is taken: %v", err)
	}
}
