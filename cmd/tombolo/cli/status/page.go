package status

import (
	_ "embed"
	"html/template"
	"time"

	"tombolo/cmd/tombolo/cli/webpage"
)

//go:embed page.html
var pageText string

// page is what the page shows.
type page struct {
	At       time.Time
	Clusters []Standing
}

func (p page) render() ([]byte, error) {
	return webpage.Render(pageText, template.FuncMap{
		"ago":  func(at time.Time) string { return ago(p.At, at) },
		"when": func(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") },
		"iso":  func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
		"took": func(seconds float64) string {
			return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
		},
	}, p)
}

// Tile is a number above the table.
type Tile struct {
	Number int
	Label  string
	// Level is good, bad or plain.
	Level string
}

// Tiles count the clusters by their status.
func (p page) Tiles() []Tile {
	ready, trouble, drifted, absent := 0, 0, 0, 0
	for _, s := range p.Clusters {
		if s.GitOps.State == gitopsReady {
			ready++
		}
		if s.GitOps.State == gitopsNone {
			absent++
		}
		if len(s.Troubles()) > 0 {
			trouble++
		}
		if s.Drift != nil && s.Drift.count() > 0 {
			drifted++
		}
	}
	return []Tile{
		{len(p.Clusters), "clusters", levelPlain},
		{ready, "ready", levelIf(ready > 0, levelGood)},
		{trouble, "with problems", levelIf(trouble > 0, levelBad)},
		{drifted, "with drift", levelIf(drifted > 0, levelBad)},
		{absent, "not deployed", levelPlain},
	}
}

// The levels by which the page colours what it says.
const (
	levelGood  = "good"
	levelBad   = "bad"
	levelWarn  = "warn"
	levelPlain = "plain"
)

func levelIf(is bool, level string) string {
	if is {
		return level
	}
	return levelPlain
}

// Systems of teams on all clusters.
func (p page) Systems() []Of { return systemsOf(p.Clusters) }

// LastLevel says how good the last operation's outcome is.
func (s Standing) LastLevel() string {
	switch {
	case s.Last == nil:
		return levelPlain
	case s.Last.good():
		return levelGood
	}
	return levelBad
}

// Changed is when one of the stacks was changed last; nil when never.
func (s Standing) Changed() *time.Time {
	if at := s.changed(); !at.IsZero() {
		return &at
	}
	return nil
}

// DriftLevel says how good that is.
func (s Standing) DriftLevel() string {
	switch {
	case s.Drift == nil:
		return levelPlain
	case s.Drift.count() > 0:
		return levelBad
	case s.Drift.Error != "":
		return levelWarn
	}
	return levelGood
}

// Level says how good that is.
func (g GitOps) Level() string {
	switch g.State {
	case gitopsReady:
		return levelGood
	case gitopsNotReady:
		return levelBad
	case gitopsUnknown, gitopsIncomplete:
		return levelWarn
	}
	return levelPlain
}
