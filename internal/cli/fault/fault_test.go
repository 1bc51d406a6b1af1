package fault

import (
	"errors"
	"io/fs"
	"testing"
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
		if got := test.err.Error(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	if !errors.Is(NewPrecondition("", "", fs.ErrNotExist), fs.ErrNotExist) {
		t.Error("the cause is not unwrapped")
	}
}
