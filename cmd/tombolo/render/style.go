package render

import (
	"io"
	"regexp"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"tombolo/internal/wording"
)

// Style says which colours and symbols text may have.
type Style struct {
	// Color allows ANSI colours.
	Color bool
	// Unicode allows symbols beyond ASCII.
	Unicode bool
}

// symbols are what a status line starts with, after flux2's.
type symbols struct {
	doing, waiting, done, failed, ellipsis string
}

func (s Style) symbols() symbols {
	if s.Unicode {
		return symbols{doing: "►", waiting: "◎", done: "✔", failed: "✗", ellipsis: "…"}
	}
	return symbols{doing: ">", waiting: "o", done: "+", failed: "x", ellipsis: "..."}
}

// The colours, as indexes into the terminal's own palette, so that they suit
// the reader's theme.
const (
	red    = lipgloss.Color("1")
	green  = lipgloss.Color("2")
	yellow = lipgloss.Color("3")
	cyan   = lipgloss.Color("6")
)

// paint colours text, or leaves it alone where colours are not allowed.
func (s Style) paint(c lipgloss.Color, text string) string {
	if !s.Color || text == "" {
		return text
	}
	r := lipgloss.NewRenderer(io.Discard, termenv.WithProfile(termenv.ANSI))
	return r.NewStyle().Foreground(c).Render(text)
}

// symbol returns a symbol in the colour that goes with it.
func (s Style) symbol(symbol string) string {
	sym := s.symbols()
	switch symbol {
	case sym.doing:
		return s.paint(cyan, symbol)
	case sym.waiting:
		return s.paint(yellow, symbol)
	case sym.done:
		return s.paint(green, symbol)
	case sym.failed:
		return s.paint(red, symbol)
	}
	return symbol
}

// fit cuts text to width cells, marking a cut. A width of 0 or less is no limit.
func (s Style) fit(text string, width int) string {
	if width <= 0 || lipgloss.Width(text) <= width {
		return text
	}
	mark := s.symbols().ellipsis
	room := width - lipgloss.Width(mark)
	if room <= 0 {
		return strings.Repeat(".", width)
	}
	var b strings.Builder
	used := 0
	for _, r := range text {
		w := lipgloss.Width(string(r))
		if used+w > room {
			break
		}
		b.WriteRune(r)
		used += w
	}
	return strings.TrimRight(b.String(), " ") + mark
}

// wrap breaks text into lines of at most width cells. A width of 0 or less
// breaks at line ends only.
func wrap(text string, width int) []string {
	text = strings.TrimRight(text, "\n")
	if width > 0 {
		// It would break at hyphens, and so in names and options.
		const hyphen = "\ue000"
		text = lipgloss.NewStyle().Width(width).Render(strings.ReplaceAll(text, "-", hyphen))
		text = strings.ReplaceAll(text, hyphen, "-")
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// wrapOthers is wrap for a text that others have a part in: no line of it is a command.
func wrapOthers(text string, width int) []string {
	lines := wrap(wording.Lines(text), width)
	for i, line := range lines {
		lines[i] = wording.Line(line) // a line may begin where it was broken
	}
	return lines
}

// Paragraph is a text that others have a part in, in lines of at most width cells. Lines after the
// first are indented.
func Paragraph(text string, width int) string {
	const indent = 2
	lines := wrapOthers(text, max(width-indent, leastColumn))
	return strings.Join(lines, "\n"+strings.Repeat(" ", indent)) + "\n"
}

// colored is what paint writes beside the text.
var colored = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// clean is a line that others have a part in, with our own colours.
func (s Style) clean(line string) string {
	if !s.Color {
		return wording.Line(line)
	}
	var b strings.Builder
	at := 0
	for _, c := range colored.FindAllStringIndex(line, -1) {
		b.WriteString(wording.Line(line[at:c[0]]) + line[c[0]:c[1]])
		at = c[1]
	}
	return b.String() + wording.Line(line[at:])
}

// pad fills text with spaces to width cells.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-lipgloss.Width(text)))
}

// symbol is what the line of a result starts with.
func (r result) symbol(s Style) string {
	switch r {
	case runDone, runEarlier:
		return s.symbols().done
	case runFailed, runInterrupted:
		return s.symbols().failed
	}
	return "-"
}

// color is the one that a result is shown in.
func (r result) color() lipgloss.Color {
	switch r {
	case runDone, runEarlier:
		return green
	case runFailed, runInterrupted:
		return red
	}
	return yellow
}
