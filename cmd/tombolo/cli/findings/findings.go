// Package findings shows what doctor and up have found on clusters before an up.
package findings

import (
	"io"
	"slices"
	"strings"

	"tombolo/automation/preflight"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/config/strict"
)

// Output is where findings go.
type Output struct {
	// Out takes data, Status what people read.
	Out    io.Writer
	Status render.Status
	// JSON writes documents, as the command does.
	JSON bool
}

// Refuse shows what would make an up of the clusters fail, each finding with
// its remedy, and returns an error when there is any.
func Refuse(o Output, reports []preflight.Report) error {
	failing := slices.DeleteFunc(slices.Clone(reports), func(r preflight.Report) bool { return r.Count(preflight.Fail) == 0 })
	if o.JSON {
		if err := WriteJSON(o.Out, failing, nil); err != nil {
			return err
		}
	} else {
		Advise(o.Status, failing)
	}
	return Refusal(failing, "nothing was started: follow the remedy of each finding, or leave the cluster out")
}

// Refusal names the clusters that have a finding that fails; nil without any.
func Refusal(reports []preflight.Report, remedy string) error {
	var failing []string
	for _, r := range reports {
		if r.Count(preflight.Fail) > 0 {
			failing = append(failing, r.Cluster)
		}
	}
	if len(failing) == 0 {
		return nil
	}
	return fault.NewPrecondition("an up would fail: "+strings.Join(failing, ", "), remedy, nil)
}

// document is the result for a cluster in the JSON format.
type document struct {
	Type  string `json:"type"`
	Ready bool   `json:"ready"`
	preflight.Report
	// Warnings of the cluster file, as `tombolo validate` lists them.
	Warnings strict.Problems `json:"warnings,omitempty"`
}

// WriteJSON writes a document for each report, with the warnings of the cluster's file if
// it is given.
func WriteJSON(w io.Writer, reports []preflight.Report, given []*config.Cluster) error {
	warnings := map[string]strict.Problems{}
	for _, c := range given {
		warnings[c.Name] = clusters.Warnings(c)
	}
	for _, r := range reports {
		d := document{Type: "doctor", Ready: r.Count(preflight.Fail) == 0, Report: r, Warnings: warnings[r.Cluster]}
		if err := render.WriteJSON(w, d); err != nil {
			return err
		}
	}
	return nil
}

// Advise says what to do about each finding that is not as it should be.
func Advise(s render.Status, reports []preflight.Report) {
	for _, g := range Group(reports) {
		f := g.Finding
		if f.Level == preflight.OK {
			continue
		}
		text := f.Message
		if f.Remedy != "" {
			text += "; " + f.Remedy
		}
		say := s.Doing
		if f.Level == preflight.Fail {
			say = s.Failed
		}
		say("%s: %s: %s", strings.Join(g.Clusters, ", "), f.Check, text)
	}
}

// Grouped is a finding with the clusters that have it.
type Grouped struct {
	Finding  preflight.Finding
	Clusters []string
}

// Group shows once what several clusters have in common, in the order in which
// it was found.
func Group(reports []preflight.Report) []Grouped {
	var out []Grouped
	for _, r := range reports {
		for _, f := range r.Findings {
			i := slices.IndexFunc(out, func(g Grouped) bool { return g.Finding == f })
			if i < 0 {
				i, out = len(out), append(out, Grouped{Finding: f})
			}
			out[i].Clusters = append(out[i].Clusters, r.Cluster)
		}
	}
	return out
}
