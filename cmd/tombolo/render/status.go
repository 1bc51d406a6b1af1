package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"tombolo/internal/wording"
)

// Status writes messages for people, each with its symbol: what is being done, waited
// for, done or failed.
type Status struct {
	// W takes the lines: standard error.
	W io.Writer
	// Style of the lines.
	Style Style
	// Width of the terminal in cells, at which lines are broken; 0 is no limit.
	Width int
	// Quiet drops everything: the reader is a machine, and reads standard
	// output.
	Quiet bool
}

// Doing says what is being done now.
func (s Status) Doing(format string, args ...any) {
	s.line(s.Style.symbols().doing, format, args...)
}

// Done says what was done.
func (s Status) Done(format string, args ...any) {
	s.line(s.Style.symbols().done, format, args...)
}

// Failed says what failed.
func (s Status) Failed(format string, args ...any) {
	s.line(s.Style.symbols().failed, format, args...)
}

// Plain writes a line without a symbol.
func (s Status) Plain(format string, args ...any) {
	if s.Quiet {
		return
	}
	text := wording.Lines(fmt.Sprintf(format, args...))
	if s.Width > 0 && lipgloss.Width(text) > s.Width {
		text = strings.TrimSuffix(Paragraph(text, s.Width), "\n")
	}
	fmt.Fprintln(s.W, text)
}

func (s Status) line(symbol, format string, args ...any) {
	if s.Quiet {
		return
	}
	const indent = 2 // of the symbol and a space
	lines := wrapOthers(fmt.Sprintf(format, args...), cells(s.Width, indent))
	fmt.Fprintf(s.W, "%s %s\n", s.Style.symbol(symbol), strings.Join(lines, "\n"+strings.Repeat(" ", indent)))
}
