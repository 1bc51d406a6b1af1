package fault

import (
	"errors"
	"io/fs"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestError(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{NewUsage("no cluster named", "name one"), "no cluster named; name one"},
		{NewPrecondition("reading the tool", "run make tools", fs.ErrNotExist), "reading the tool: file does not exist; run make tools"},
		{&Error{Class: Declined, Problem: "declined"}, "declined"},
		{&Error{Class: Precondition, Err: fs.ErrExist}, "file already exists"},
	} {
		assert.Check(t, is.Equal(test.err.Error(), test.want))
	}
	assert.Check(t, errors.Is(NewPrecondition("", "", fs.ErrNotExist), fs.ErrNotExist), "the cause is not unwrapped")
}
