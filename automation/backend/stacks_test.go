package backend

import (
	"errors"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
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
