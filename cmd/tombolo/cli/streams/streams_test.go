package streams

import (
	"context"
	"errors"
	"io"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestUTF8Locale(t *testing.T) {
	for _, test := range []struct {
		name string
		env  map[string]string
		want bool
	}{
		{"nothing set", nil, false},
		{"lang", map[string]string{"LANG": "de_DE.UTF-8"}, true},
		{"lang without dash", map[string]string{"LANG": "C.utf8"}, true},
		{"ctype before lang", map[string]string{"LC_CTYPE": "C", "LANG": "en_US.UTF-8"}, false},
		{"all before ctype", map[string]string{"LC_ALL": "C.UTF-8", "LC_CTYPE": "C"}, true},
		{"empty is not set", map[string]string{"LC_ALL": "", "LANG": "en_US.UTF-8"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			lookup := func(name string) (string, bool) { v, ok := test.env[name]; return v, ok }
			assert.Check(t, is.Equal(utf8Locale(lookup), test.want))
		})
	}
}

func TestAsk(t *testing.T) {
	s, in, _, errOut := Test()
	in.WriteString("  yes \nmore\n")
	answer, err := s.Ask(t.Context(), "go on?")
	if err != nil || answer != "yes" {
		t.Errorf("got %q, %v", answer, err)
	}
	assert.Check(t, is.Equal(errOut.String(), "go on? "))
}

func TestAskWithoutAnswer(t *testing.T) {
	s, _, _, _ := Test()
	_, err := s.Ask(t.Context(), "go on?")
	unanswered(t, err, "reading the answer: the input ended; nothing more was done")
}

func TestAskAgain(t *testing.T) {
	s, in, _, _ := Test()
	in.WriteString("first\nsecond\nlast")
	for _, want := range []string{"first", "second", "last"} {
		if answer, err := s.Ask(t.Context(), "and now?"); err != nil || answer != want {
			t.Errorf("got %q, %v; want %q", answer, err, want)
		}
	}
	_, err := s.Ask(t.Context(), "and now?")
	unanswered(t, err, "reading the answer: the input ended; nothing more was done")
}

// unanswered says that a question got no answer.
func unanswered(t *testing.T, err error, text string) {
	t.Helper()
	assert.Assert(t, errors.Is(err, context.Canceled), err)
	assert.Error(t, err, text)
}

// cancelled are streams whose first question was cancelled, and what writes answers.
func cancelled(t *testing.T) (*Streams, io.Writer) {
	t.Helper()
	s, _, _, _ := Test()
	reader, writer := io.Pipe()
	t.Cleanup(func() { writer.Close() })
	s.In = reader
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Ask(ctx, "go on?")
	unanswered(t, err, "reading the answer: interrupted; nothing more was done")
	return s, writer
}

func TestAskAgainAfterOneThatWasCancelled(t *testing.T) {
	s, writer := cancelled(t)
	go func() { _, _ = io.WriteString(writer, "yes\nno\n") }()
	for _, want := range []string{"yes", "no"} {
		if answer, err := s.Ask(t.Context(), "and now?"); err != nil || answer != want {
			t.Errorf("got %q, %v; want %q", answer, err, want)
		}
	}
}

func TestAskEndsWithContext(t *testing.T) { cancelled(t) }

func TestTerminal(t *testing.T) {
	s, _, _, _ := Test()
	if s.CanPrompt() || s.OutIsTerminal() || s.ErrIsTerminal() || s.OutWidth() != 0 {
		t.Error("buffers are taken for a terminal")
	}
	s.SetTerminal(72)
	if !s.CanPrompt() || !s.OutIsTerminal() || s.OutWidth() != 72 || s.ErrWidth() != 72 {
		t.Error("the terminal is not seen")
	}
}

// Emacs' shell and the logs of jobs print what moves a cursor as text.
func TestDumbTerminalIsNotRedrawn(t *testing.T) {
	for _, c := range []struct {
		env     map[string]string
		redraws bool
	}{
		{map[string]string{"TERM": "xterm"}, true},
		{map[string]string{"TERM": "dumb"}, false},
		{map[string]string{"TERM": "xterm", "CI": "true"}, false},
		{map[string]string{"TERM": "xterm", "CI": "1"}, false},
		{map[string]string{"TERM": "xterm", "CI": "false"}, true},
		{map[string]string{"TERM": "xterm", "CI": ""}, true},
	} {
		s := System(func(name string) (string, bool) { v, ok := c.env[name]; return v, ok })
		s.SetTerminal(80)
		if got := s.ErrRedraws(); got != c.redraws {
			t.Errorf("%v: got %v, want %v", c.env, got, c.redraws)
		}
		if !s.CanPrompt() {
			t.Errorf("%v: a person cannot be asked", c.env)
		}
	}
}
