package strict

import (
	"cmp"
	"fmt"
	"path/filepath"
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
	// With are the names of the cluster files that have the problem together with File, which several share, apart
	// by commas; "" for a problem of File alone.
	With string `json:"with,omitempty"`
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
	b.WriteString(p.Text())
	if p.Remedy != "" {
		fmt.Fprintf(&b, "; %s", p.Remedy)
	}
	return wording.Line(b.String())
}

// Text is the message, with the cluster files that have the problem with a shared one.
func (p Problem) Text() string {
	const shown = 3
	files := strings.Split(p.With, ", ")
	if p.With == "" {
		return p.Message
	}
	if more := len(files) - shown; more > 0 {
		files = append(files[:shown-1], wording.Count(more+1, "other file"))
	}
	return p.Message + ", together with " + wording.And(files)
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

// ofAny is the problem without the name of the cluster that has it together with a shared file.
func (p Problem) ofAny(with string) Problem {
	if name := strings.TrimSuffix(with, filepath.Ext(with)); name != "" {
		p.Message, p.Remedy = strings.ReplaceAll(p.Message, name, "<cluster>"), strings.ReplaceAll(p.Remedy, name, "<cluster>")
	}
	return p
}

// Err is nil when there are no problems: a nil slice in an error is not nil.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// InOrder sorts in place by position, and leaves out what was said twice: see Once.
func (ps Problems) InOrder() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
		)
	})
	return ps.Once()
}

// Once leaves out what was said twice, in place: an anchor that is used in several places has each of
// its problems once, and so has a file that several clusters share, though each is called by its name.
func (ps Problems) Once() Problems {
	first := map[Problem]int{}
	alone := map[Problem]bool{} // what is wrong with files by themselves: the keys of a format are for the remedy
	out := ps[:0]
	for _, p := range ps {
		with, said := p.With, p
		said.With = ""
		found := said
		found.Remedy = ""
		if with != "" && alone[found] {
			continue
		}
		alone[found] = alone[found] || with == ""
		i, twice := first[said]
		if !twice {
			i, twice = first[said.ofAny(with)]
		}
		switch {
		case !twice:
			first[said], first[said.ofAny(with)] = len(out), len(out)
			out = append(out, p)
		case with == "" || out[i].With == "": // of the file by itself, whoever reads it
			out[i].With = ""
		case !slices.Contains(strings.Split(out[i].With, ", "), with):
			out[i].With += ", " + with
		}
	}
	return out
}
