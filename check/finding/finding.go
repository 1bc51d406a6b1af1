// Package finding is what the check of a platform tree reports.
package finding

import (
	"fmt"
	"strings"

	"tombolo/internal/wording"
)

// Severity of a finding.
type Severity string

// The severities, the gravest first.
const (
	// Error: Flux would stop at it, or wait for ever.
	Error Severity = "error"
	// Warning: it works, but is probably a mistake.
	Warning Severity = "warning"
	// Note: something the check could not look at, or that needs no change.
	Note Severity = "note"
)

// Finding is one thing about the tree that does not fit.
type Finding struct {
	Severity Severity `json:"severity"`
	// File in which it is: of the tree, or a cluster file. A directory of the
	// tree when it is not in one file.
	File string `json:"file"`
	// Line and Column start at 1; columns count characters. 0 is unknown.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Clusters that it concerns, sorted.
	Clusters []string `json:"clusters"`
	// Message says what is wrong.
	Message string `json:"message"`
	// Remedy says what to do about it.
	Remedy string `json:"remedy,omitempty"`
	// Places is in how many places it is; the first is given.
	Places int `json:"places"`
}

// Text is the message with the clusters that it concerns.
func (f Finding) Text() string {
	clusters := "clusters " + strings.Join(f.Clusters, ", ")
	if len(f.Clusters) == 1 {
		clusters = "cluster " + f.Clusters[0]
	}
	if f.Places > 1 {
		clusters = fmt.Sprintf("%d places; %s", f.Places, clusters)
	}
	return fmt.Sprintf("%s (%s)", f.Message, clusters)
}

// Place is file:line:column, as far as it is known.
func (f Finding) Place() string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
}

// String is the finding on one line, whatever others have written into it:
// file:line:column: severity: text; remedy.
func (f Finding) String() string {
	text := fmt.Sprintf("%s: %s: %s", f.Place(), f.Severity, f.Text())
	if f.Remedy != "" {
		text += "; " + f.Remedy
	}
	return wording.Line(text)
}

// List is what a check found.
type List []Finding

// Count of the findings of a severity.
func (fs List) Count(s Severity) int {
	n := 0
	for _, f := range fs {
		if f.Severity == s {
			n++
		}
	}
	return n
}
