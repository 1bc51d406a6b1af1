package drift

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"tombolo/automation/drift"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/render"
	"tombolo/internal/wording"
)

// document is the result for a cluster in the JSON format.
type document struct {
	Type    string `json:"type"`
	Drifted bool   `json:"drifted"`
	drift.Report
}

func (o *Options) write(t fleet.Terminal, r drift.Report) error {
	if o.JSON() {
		return render.WriteJSON(t.Out, document{Type: "drift", Drifted: r.Drifted(), Report: r})
	}
	var rows [][]string
	for _, d := range r.Differences {
		rows = append(rows, lines(d)...)
	}
	if err := render.Table(t.Out, o.Table(), []string{"FOUND", "STACK", "RESOURCE", "NAME", "DIFFERENCE"}, rows); err != nil {
		return err
	}
	remark(t.Status, r)
	return nil
}

// remark says for people what the table does not hold.
func remark(status render.Status, r drift.Report) {
	resources := 0
	for _, s := range r.Stacks {
		resources += s.Resources
		if s.Busy != "" {
			status.Plain("! %s: %s: the differences may be temporary", s.Stack, s.Busy)
		}
		if s.Skipped != "" && r.Error == "" {
			status.Plain("! %s was not compared: %s", s.Stack, s.Skipped)
		}
	}
	for _, l := range r.LeftOut {
		status.Plain("  left out: %d made by %s", l.Count, l.Maker)
	}
	if r.Error != "" {
		return
	}
	if !r.Drifted() {
		status.Done("%s: no drift, %s compared", r.Cluster, wording.Count(resources, "resource"))
		return
	}
	var parts []string
	for _, c := range drift.Classes() {
		if n := r.Count(c); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, c))
		}
	}
	status.Failed("%s: %s, %s compared", r.Cluster, strings.Join(parts, ", "), wording.Count(resources, "resource"))
}

// lines of the table for a difference: one for each property that differs.
func lines(d drift.Difference) [][]string {
	first := []string{string(d.Class), cmp.Or(d.Stack, "-"), render.ResourceType(d.Type), d.Name}
	switch {
	case d.Class == drift.Missing:
		return [][]string{append(first, d.ID+" is gone")}
	case d.Class == drift.Unexpected:
		return [][]string{append(first, d.CloudID)}
	case len(d.Properties) == 0:
		return [][]string{append(first, "")}
	}
	out := make([][]string, len(d.Properties))
	for i, p := range d.Properties {
		if i > 0 {
			first = []string{"", "", "", ""}
		}
		out[i] = append(first, difference(p))
	}
	return out
}

// difference of a property on one line.
func difference(p drift.Property) string {
	switch {
	case p.Expected == nil && p.Actual == nil:
		return p.Path
	case p.Expected == nil:
		return fmt.Sprintf("%s: %s was added", p.Path, text(p.Actual))
	case p.Actual == nil:
		return fmt.Sprintf("%s: %s is gone", p.Path, text(p.Expected))
	}
	return fmt.Sprintf("%s: %s, expected %s", p.Path, text(p.Actual), text(p.Expected))
}

func text(v any) string {
	if s, ok := v.(string); ok && s == drift.Masked {
		return s
	}
	out, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(out)
}
