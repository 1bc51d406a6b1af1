package render

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"tombolo/config/strict"
	"tombolo/internal/file"
	"tombolo/internal/wording"
)

// ProblemOptions say how problems are written.
type ProblemOptions struct {
	// Style of the text.
	Style Style
	// Terminal shows each problem with its line of the file and a caret under
	// its column. Otherwise a problem is one line, for editors and logs.
	Terminal bool
	// Width of the terminal in cells; 0 is no limit.
	Width int
}

// Problems writes what is wrong with cluster files.
func Problems(w io.Writer, problems strict.Problems, o ProblemOptions) {
	sources := map[string][]string{}
	for i, p := range problems {
		if !o.Terminal {
			fmt.Fprintln(w, p.String())
			continue
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		if _, read := sources[p.File]; !read {
			sources[p.File] = sourceLines(p.File)
		}
		writeProblem(w, p, sources[p.File], o)
	}
}

// mostOfASource is the longest file of which lines are shown, in bytes.
const mostOfASource = 4 << 20

// sourceLines returns a file's lines, or none when it cannot be read: the
// problem is then shown without them. A link may lead to what is not to be shown.
func sourceLines(path string) []string {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := file.ReadInside(path, mostOfASource)
	if err != nil || !utf8.Valid(text) {
		return nil
	}
	return strings.Split(string(text), "\n")
}

func writeProblem(w io.Writer, p strict.Problem, source []string, o ProblemOptions) {
	place := wording.Line(fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column))
	message := p.Text()
	if p.Path != "" {
		message = p.Path + ": " + message
	}
	fmt.Fprintf(w, "%s %s\n", o.Style.symbol(o.Style.symbols().failed), place)
	for _, line := range wrapOthers(wording.Line(message), cells(o.Width, 2)) {
		fmt.Fprintf(w, "  %s\n", line)
	}
	writeSource(w, p, source, o)
	if p.Remedy == "" {
		return
	}
	for _, line := range wrapOthers(wording.Line(p.Remedy), cells(o.Width, 2)) {
		fmt.Fprintf(w, "  %s\n", o.Style.paint(cyan, line))
	}
}

// writeSource shows the line with the problem and points at its column.
func writeSource(w io.Writer, p strict.Problem, source []string, o ProblemOptions) {
	if p.Line < 1 || p.Line > len(source) {
		return
	}
	line := strings.ReplaceAll(strings.TrimRight(source[p.Line-1], "\r"), "\t", " ")
	// What a terminal would obey is not shown.
	if strings.TrimSpace(line) == "" || wording.Line(line) != line {
		return
	}
	number := fmt.Sprintf("%4d", p.Line)
	room := cells(o.Width, 3+len(number)+2)
	fmt.Fprintf(w, "  %s | %s\n", number, o.Style.fit(line, room))
	column := min(max(p.Column, 1), utf8.RuneCountInString(line)+1)
	if room > 0 && column > room {
		return
	}
	fmt.Fprintf(w, "  %s | %s%s\n", strings.Repeat(" ", len(number)), strings.Repeat(" ", column-1), o.Style.paint(red, "^"))
}
