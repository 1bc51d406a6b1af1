package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity of a finding.
type Severity string

// The severities, the gravest first.
const (
	// Error: Flux would stop at it, or wait for ever.
	Error Severity = "error"
	// Warning: it works, and is probably not what was meant.
	Warning Severity = "warning"
	// Note: something the check could not look at, or that nobody need change.
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

// String is the finding on one line:
// file:line:column: severity: text; remedy.
func (f Finding) String() string {
	text := fmt.Sprintf("%s: %s: %s", f.Place(), f.Severity, f.Text())
	if f.Remedy != "" {
		text += "; " + f.Remedy
	}
	return text
}

// Findings are what a check found.
type Findings []Finding

// Count of the findings of a severity.
func (fs Findings) Count(s Severity) int {
	n := 0
	for _, f := range fs {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// finding is a Finding of one cluster.
type finding struct {
	Finding
	// general findings are one whatever their place: each cluster has it in
	// its own file.
	general bool
	// unused is what is published and not used by this cluster. If another
	// cluster uses it, the tree is right.
	unused string
}

// collector puts the findings of all clusters together.
type collector struct {
	findings []finding
	used     map[string]bool
}

// same says whether two findings are one that concerns two clusters.
func (f finding) same(o finding) bool {
	if f.general != o.general || f.Severity != o.Severity || f.Message != o.Message || f.Remedy != o.Remedy {
		return false
	}
	return f.general || (f.File == o.File && f.Line == o.Line && f.Column == o.Column)
}

func (c *collector) add(cluster string, found []finding) {
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

// all returns the findings in order: the gravest first, then by place.
func (c *collector) all() Findings {
	out := make(Findings, 0, len(c.findings))
	for _, f := range c.findings {
		if c.used[f.unused] {
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
