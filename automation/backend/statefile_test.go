package backend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

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
		st, known, err := b.localState("demo-core")
		if err != nil || known != step.known || (st != nil) != step.exists {
			t.Errorf("%s: state %v, known %t, error %v", step.name, st, known, err)
		}
		if step.name == "as it was" && st.Outputs()["vpcId"] != "vpc-1" {
			t.Errorf("outputs %v", st.Outputs())
		}
	}
	if st, known, err := b.localState("other-core"); st != nil || !known || err != nil {
		t.Errorf("a stack that does not exist: state %v, known %t, error %v", st, known, err)
	}
}
