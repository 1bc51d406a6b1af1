package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tombolo/internal/wording"
)

// Problem is one thing wrong in a file.
type Problem struct {
	// File is the path as it was given to the function that read it.
	File string `json:"file"`
	// Line and Column start at 1; columns count characters.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Path of the value, such as kubernetes.nodeGroups[1].name; empty when the
	// problem is the file's as a whole.
	Path string `json:"path,omitempty"`
	// Message says what is wrong.
	Message string `json:"message"`
	// Remedy says what to do about it.
	Remedy string `json:"remedy"`
	// Secret says that the line may hold a secret by mistake, and must not be
	// shown beside the problem. The message never repeats it.
	Secret bool `json:"secret,omitempty"`
}

// String is the problem on one line, whatever others have written into it: file:line:column: path: message; remedy.
func (p Problem) String() string { return p.as("") }

// Warning is the warning on one line, as `tombolo check` writes its own:
// file:line:column: warning: path: message; remedy.
func (p Problem) Warning() string { return p.as("warning: ") }

func (p Problem) as(severity string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s", p.File, p.Line, p.Column, severity)
	if p.Path != "" {
		fmt.Fprintf(&b, "%s: ", p.Path)
	}
	b.WriteString(p.Message)
	if p.Remedy != "" {
		fmt.Fprintf(&b, "; %s", p.Remedy)
	}
	return wording.Line(b.String())
}

// Problems are all that is wrong with the files that were read, in the order of
// file, line and column. They are an error, and errors.As finds them.
type Problems []Problem

// Error is one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Err is nil when there are no problems: a nil slice in an error is not nil.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// InOrder sorts in place by position, and leaves out what was said twice: an anchor
// that is used in several places has each of its problems once.
func (ps Problems) InOrder() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
		)
	})
	return slices.Compact(ps)
}
