// Package streams holds a command's standard streams and what is known of the
// terminals behind them. Everything a command writes goes through it.
package streams

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"tombolo/cmd/tombolo/cli/fault"
)

// Streams are the standard streams of a command: data goes to Out, status to
// ErrOut.
type Streams struct {
	In     io.Reader
	Out    io.Writer
	ErrOut io.Writer
	// NoColor forbids colours, whatever the terminal can do.
	NoColor bool
	// Unicode says that the locale can show symbols beyond ASCII.
	Unicode bool
	// Append says that nothing drawn can be taken back: the terminal is dumb (TERM=dumb), or
	// a job's log is behind it (CI is set).
	Append bool

	inTerminal       bool
	outSize, errSize func() (width int, terminal bool)
	errHeight        func() int

	// asking is held while a question waits for its answer.
	asking sync.Mutex
	// lines reads In, and awaited is the line that it is about to read. Both
	// outlive a question: what one of them has read ahead answers the next.
	lines   *bufio.Reader
	awaited chan line
}

// line is one that was typed, or why there is none.
type line struct {
	text string
	err  error
}

// System returns the process's own streams; lookup reads an environment
// variable, as os.LookupEnv does.
func System(lookup func(string) (string, bool)) *Streams {
	noColor, set := lookup("NO_COLOR")
	kind, _ := lookup("TERM")
	ci, _ := lookup("CI")
	return &Streams{
		In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr,
		NoColor:    (set && noColor != "") || kind == "dumb",
		Unicode:    utf8Locale(lookup),
		Append:     kind == "dumb" || (ci != "" && ci != "false"),
		inTerminal: term.IsTerminal(int(os.Stdin.Fd())),
		outSize:    sizeOf(os.Stdout),
		errSize:    sizeOf(os.Stderr),
		errHeight:  heightOf(os.Stderr),
	}
}

// Test returns streams over buffers, and the buffers: nothing is a terminal.
func Test() (s *Streams, in, out, errOut *bytes.Buffer) {
	in, out, errOut = &bytes.Buffer{}, &bytes.Buffer{}, &bytes.Buffer{}
	none := func() (int, bool) { return 0, false }
	return &Streams{
		In: in, Out: out, ErrOut: errOut, Unicode: true, outSize: none, errSize: none,
		errHeight: func() int { return usualHeight },
	}, in, out, errOut
}

// SetTerminal makes all three streams a terminal of a width, for tests.
func (s *Streams) SetTerminal(width int) {
	size := func() (int, bool) { return width, true }
	s.inTerminal, s.outSize, s.errSize = true, size, size
}

// sizeOf asks for the size again each time, as people resize windows.
func sizeOf(f *os.File) func() (int, bool) {
	terminal := term.IsTerminal(int(f.Fd()))
	return func() (int, bool) {
		if !terminal {
			return 0, false
		}
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 {
			width = 80
		}
		return width, true
	}
}

// usualHeight is the height of a terminal that does not tell its own.
const usualHeight = 24

// heightOf asks for the height in rows each time, too.
func heightOf(f *os.File) func() int {
	return func() int {
		_, height, err := term.GetSize(int(f.Fd()))
		if err != nil || height <= 0 {
			return usualHeight
		}
		return height
	}
}

// utf8Locale looks at the variables in the order in which the C library does.
func utf8Locale(lookup func(string) (string, bool)) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v, ok := lookup(name); ok && v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// OutWidth is the width of the terminal behind Out, or 0 when there is none.
func (s *Streams) OutWidth() int {
	width, _ := s.outSize()
	return width
}

// ErrWidth is the width of the terminal behind ErrOut, or 0 when there is none.
func (s *Streams) ErrWidth() int {
	width, _ := s.errSize()
	return width
}

// ErrHeight is the height in rows of the terminal behind ErrOut, and a usual
// terminal's when there is none.
func (s *Streams) ErrHeight() int { return s.errHeight() }

// OutIsTerminal says whether a person reads Out as it is written.
func (s *Streams) OutIsTerminal() bool {
	_, terminal := s.outSize()
	return terminal
}

// ErrIsTerminal says whether a person reads ErrOut as it is written.
func (s *Streams) ErrIsTerminal() bool {
	_, terminal := s.errSize()
	return terminal
}

// ErrRedraws says whether what was drawn on ErrOut can be drawn anew.
func (s *Streams) ErrRedraws() bool { return s.ErrIsTerminal() && !s.Append }

// CanPrompt says whether a person can be asked, and can answer.
func (s *Streams) CanPrompt() bool { return s.inTerminal && s.ErrIsTerminal() }

// Ask writes a question to ErrOut and returns the line that answers it, without
// spaces around it. The error is context.Canceled when the context ends first, or no more input
// comes: a question without an answer interrupts the command.
func (s *Streams) Ask(ctx context.Context, question string) (string, error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	fmt.Fprint(s.ErrOut, question+" ")
	s.await()
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.ErrOut)
		return "", unansweredError("interrupted")
	case l := <-s.awaited:
		s.awaited = nil
		if errors.Is(l.err, io.EOF) && l.text == "" {
			fmt.Fprintln(s.ErrOut)
			return "", unansweredError("the input ended")
		}
		if l.err != nil && !errors.Is(l.err, io.EOF) {
			return "", fmt.Errorf("reading the answer: %w", l.err)
		}
		return strings.TrimSpace(l.text), nil
	}
}

// unansweredError says why a question got no answer.
type unansweredError string

func (e unansweredError) Error() string {
	return "reading the answer: " + string(e) + "; nothing more was done"
}

func (unansweredError) Unwrap() error { return context.Canceled }

// Asks says whether a question waits for its answer.
func (s *Streams) Asks() bool {
	if s.asking.TryLock() {
		s.asking.Unlock()
		return false
	}
	return true
}

// AskFor asks a question. With any other answer than the wanted one, the error says what was left
// as it is.
func (s *Streams) AskFor(ctx context.Context, want, question, left string) error {
	answer, err := s.Ask(ctx, question)
	if err == nil && answer != want {
		err = &fault.Error{Class: fault.Declined, Problem: left}
	}
	return err
}

// Confirm asks a question that has yes or no for an answer. Without a yes, the error says what was
// left as it is; what is not understood is no.
func (s *Streams) Confirm(ctx context.Context, question, left string) error {
	answer, err := s.Ask(ctx, question+" [y/N]")
	if answer = strings.ToLower(answer); err == nil && answer != "y" && answer != "yes" {
		err = &fault.Error{Class: fault.Declined, Problem: left}
	}
	return err
}

// await begins to read a line, unless an earlier question, which was
// interrupted, has begun already.
func (s *Streams) await() {
	if s.awaited != nil {
		return
	}
	if s.lines == nil {
		s.lines = bufio.NewReader(s.In)
	}
	lines, awaited := s.lines, make(chan line, 1)
	s.awaited = awaited
	go func() {
		text, err := lines.ReadString('\n')
		awaited <- line{text, err}
	}()
}
