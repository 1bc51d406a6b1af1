package backend

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/stacks"
)

// TestStacksWhileOneIsWritten: a list that meets another CLI's write is made again, in a directory
// alone, and not for ever.
func TestStacksWhileOneIsWritten(t *testing.T) {
	eof, other := errors.New("list the stacks: EOF"), errors.New("list the stacks: permission denied")
	gone := errors.New("list the stacks: list bucket: blob (code=NotFound): lstat demo-core.json.18eb.tmp: no such file or directory")
	for name, test := range map[string]struct {
		url   string
		lists []error
		fails bool
	}{
		"once":             {"", []error{eof}, false},
		"twice":            {"", []error{eof, gone}, false},
		"for good":         {"", slices.Repeat([]error{eof}, listTries), true},
		"for another":      {"", []error{other}, true},
		"in another place": {"azblob://state", []error{eof}, true},
	} {
		b := newBench(t)
		b.cli.stacks, b.cli.lists = []auto.StackSummary{{Name: "demo-core"}}, test.lists
		if test.url != "" {
			b.URL = test.url
		}
		all, err := b.Stacks(t.Context())
		assert.Check(t, is.Equal(err != nil, test.fails), name)
		assert.Check(t, is.Equal(len(all) == 1, !test.fails), name)
	}
}

// TestStacksOfADirectory: states are read without the CLI, but for those that are not read here.
func TestStacksOfADirectory(t *testing.T) {
	b := newBench(t)
	dir, ok := b.Directory()
	assert.Assert(t, ok)
	const state = `{"manifest": {"time": "2026-01-02T03:04:05Z"}, "resources": [{"urn": "a"}, {"urn": "b"}]}`
	assert.NilError(t, Place(dir, map[string]json.RawMessage{
		"demo-bootstrap": json.RawMessage(`{"manifest": {}}`), "demo-core": json.RawMessage(state), "other/there/demo-core": json.RawMessage(state), "pipelines": json.RawMessage(state),
	}))
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	read := map[string][]StackInfo{"demo": {
		{Name: "demo-core", Kind: stacks.Core, LastUpdate: at, Resources: 2}, {Name: "demo-bootstrap", Kind: stacks.Bootstrap},
	}}
	listed := map[string][]StackInfo{"listed": {{Name: "listed-core", Kind: stacks.Core}}}
	for _, test := range []struct {
		file, text string
		want       map[string][]StackInfo
	}{
		{"demo-core.json.bak", "{", read},
		{"demo-core.json.attrs", "", read},
		{"torn-core.json", `{"version": 3, "checkpoint": {"stack": "`, listed},
		{"small-core.json.gz", "", listed},
	} {
		file := filepath.Join(dir, ".pulumi", "stacks", stacks.Project, test.file)
		assert.NilError(t, os.WriteFile(file, []byte(test.text), 0o600))
		b.cli.stacks = []auto.StackSummary{{Name: "listed-core"}}
		got, err := b.Stacks(t.Context())
		assert.NilError(t, err)
		assert.Check(t, is.DeepEqual(got, test.want), test.file)
		assert.NilError(t, os.Remove(file))
	}
}
