// Package finding is what the check of a platform tree reports.
package finding

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
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

// New is a finding of a severity; format and args make its message.
func New(s Severity, format string, args ...any) Finding {
	return Finding{Severity: s, Message: fmt.Sprintf(format, args...)}
}

// Errorf is a finding of the severity Error.
func Errorf(format string, args ...any) Finding { return New(Error, format, args...) }

// Warningf is a finding of the severity Warning.
func Warningf(format string, args ...any) Finding { return New(Warning, format, args...) }

// Notef is a finding of the severity Note.
func Notef(format string, args ...any) Finding { return New(Note, format, args...) }

// WithRemedy is the finding with what to do about it.
func (f Finding) WithRemedy(remedy string) Finding {
	f.Remedy = remedy
	return f
}

// few is how many clusters a text names; of more it has the number.
const few = 5

// Text is the message with the clusters that it concerns.
func (f Finding) Text() string {
	clusters := "clusters " + strings.Join(f.Clusters, ", ")
	switch n := len(f.Clusters); {
	case n == 1:
		clusters = "cluster " + f.Clusters[0]
	case n > few:
		clusters = fmt.Sprintf("%d clusters", n)
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

// OfCluster is a finding of one cluster.
type OfCluster struct {
	Finding
	// General findings are one whatever their place: each cluster has it in
	// its own file.
	General bool
	// Unused is what is published and not used by this cluster. If another
	// cluster uses it, the tree is right.
	Unused string
}

// Collector puts the findings of all clusters together. The zero value is ready.
type Collector struct {
	findings []OfCluster
	used     []string
}

// same says whether two findings are one that concerns two clusters.
func (f OfCluster) same(o OfCluster) bool {
	if f.General != o.General || f.Severity != o.Severity || f.Message != o.Message || f.Remedy != o.Remedy {
		return false
	}
	return f.General || (f.File == o.File && f.Line == o.Line && f.Column == o.Column)
}

// Add takes the findings of a cluster, and what it uses of what is published.
func (c *Collector) Add(cluster string, found []OfCluster, used map[string]bool) {
	c.used = slices.AppendSeq(c.used, maps.Keys(used))
	for _, f := range found {
		at := slices.IndexFunc(c.findings, f.same)
		if at < 0 {
			f.Clusters = []string{cluster}
			f.Places = max(f.Places, 1)
			c.findings = append(c.findings, f)
			continue
		}
		known := &c.findings[at]
		known.Places = max(known.Places, f.Places)
		if !slices.Contains(known.Clusters, cluster) {
			known.Clusters = append(known.Clusters, cluster)
		}
	}
}

// All returns the findings in order: the gravest first, then by place.
func (c *Collector) All() List {
	out := make(List, 0, len(c.findings))
	for _, f := range c.findings {
		if f.Unused != "" && slices.Contains(c.used, f.Unused) {
			continue
		}
		slices.Sort(f.Clusters)
		out = append(out, f.Finding)
	}
	gravity := []Severity{Error, Warning, Note}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(gravity, a.Severity), slices.Index(gravity, b.Severity)),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return out
}
