package backend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/stacks"
)

// TestLocalState reads what the CLI would export.
func TestLocalState(t *testing.T) {
	b := newBench(t)
	dir := filepath.Join(b.dir, ".pulumi", "stacks", stacks.Project)
	assert.NilError(t, os.MkdirAll(dir, 0o700))
	write := func(name, text string) {
		t.Helper()
		assert.NilError(t, os.WriteFile(filepath.Join(b.dir, ".pulumi", name), []byte(text), 0o600))
	}
	const stack = "stacks/" + stacks.Project + "/demo-core.json"
	const checkpoint = `{"version": 3, "checkpoint": {"stack": "x", "latest": {"resources": [` +
		`{"urn": "u", "type": "pulumi:pulumi:Stack", "outputs": {"vpcId": "vpc-1"}}]}}}`
	for _, step := range []struct {
		name, file, text string
		known, exists    bool
	}{
		{name: "no layout", file: stack, text: checkpoint},
		{name: "an older layout", file: "meta.yaml", text: "{}\n"},
		{name: "the layout", file: "meta.yaml", text: "version: 1\n", known: true, exists: true},
		{name: "another version", file: stack, text: strings.Replace(checkpoint, "3", "4", 1)},
		{name: "an empty stack", file: stack, text: `{"version": 3, "checkpoint": {"stack": "x"}}`, known: true, exists: true},
		{name: "as it was", file: stack, text: checkpoint, known: true, exists: true},
		{name: "compressed as well", file: stack + ".gz"},
	} {
		write(step.file, step.text)
		b.cli.exports = 0
		st, err := b.State(t.Context(), "demo-core")
		known := b.cli.exports == 0
		if err != nil || known != step.known || known && (st != nil) != step.exists {
			t.Errorf("%s: state %v, known %t, error %v", step.name, st, known, err)
		}
		if step.name == "as it was" && st.Outputs()["vpcId"] != "vpc-1" {
			t.Errorf("outputs %v", st.Outputs())
		}
	}
}

// TestLatestOf: the deployment is cut out of what the CLI writes, byte for byte.
func TestLatestOf(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":3,"checkpoint":{"stack":"x","latest":{"a":{}}}}`: `{"a":{}}`,
		"{\n  \"version\": 3,\n  \"features\": [],\n  \"checkpoint\": {\n    \"stack\": \"x\",\n    \"config\": {\"latest\": {}},\n    \"latest\": {\n      \"a\": 1\n    }\n  }\n}\n": "{\n      \"a\": 1\n    }",
		`{"version":4,"checkpoint":{"stack":"x","latest":{}}}`:         "",
		`{"checkpoint":{"stack":"x","latest":{}}}`:                     "",
		`{"version":3,"checkpoint":{"stack":"x"}}`:                     "",
		`{"version":3,"checkpoint":{"stack":"x","latest":null}}`:       "",
		`{"version":3,"checkpoint":{"latest":{"a":1},"more":1}}`:       "",
		`{"version":3,"checkpoint":{"latest":{"a":1}},"more":1}`:       "",
		`{"version":3,"checkpoint":{"stack":"x","latest":{"a":1}`:      "",
		`{"version":"3","checkpoint":{"stack":"x","latest":{"a":{}}}}`: "",
		`{"version":3,"checkpoint":[]}`:                                "",
		`[]`:                                                           "",
		``:                                                             "",
	} {
		got, ok := latestOf([]byte(text))
		assert.Check(t, is.Equal(ok, want != ""), text)
		if ok {
			assert.Check(t, is.Equal(string(got), want))
		}
	}
}

// TestStateWithMore: a checkpoint that another program has written is read to its end.
func TestStateWithMore(t *testing.T) {
	b := newBench(t)
	dir := filepath.Join(b.dir, ".pulumi", "stacks", stacks.Project)
	assert.NilError(t, os.MkdirAll(dir, 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(b.dir, ".pulumi", "meta.yaml"), []byte("version: 1\n"), 0o600))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "demo-core.json"), []byte(
		`{"version":3,"checkpoint":{"latest":{"resources":[{"urn":"u","type":"pulumi:pulumi:Stack"}]},"more":{}}}`), 0o600))
	st, err := b.State(t.Context(), "demo-core")
	assert.NilError(t, err)
	assert.Check(t, is.Len(st.All(), 1))
}
