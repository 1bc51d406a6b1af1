package doctor

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
		if err := writeJSON(o.Out, failing, nil); err != nil {
			return err
		}
	} else {
		advise(o.Status, failing)
	}
	return refusal(failing, "nothing was started: follow the remedy of each finding, or leave the cluster out")
}

// refusal names the clusters that have a finding that fails; nil without any.
func refusal(reports []preflight.Report, remedy string) error {
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

// writeJSON writes a document for each report, with the warnings of the cluster's file if
// it is given.
func writeJSON(w io.Writer, reports []preflight.Report, given []*config.Cluster) error {
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

// advise says what to do about each finding that is not as it should be.
func advise(s render.Status, reports []preflight.Report) {
	for _, g := range group(reports) {
		f := g.finding
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
		say("%s: %s: %s", strings.Join(g.clusters, ", "), f.Check, text)
	}
}

// grouped is a finding with the clusters that have it.
type grouped struct {
	finding  preflight.Finding
	clusters []string
}

// group shows once what several clusters have in common, in the order in which
// it was found.
func group(reports []preflight.Report) []grouped {
	var out []grouped
	for _, r := range reports {
		for _, f := range r.Findings {
			i := slices.IndexFunc(out, func(g grouped) bool { return g.finding == f })
			if i < 0 {
				i, out = len(out), append(out, grouped{finding: f})
			}
			out[i].clusters = append(out[i].clusters, r.Cluster)
		}
	}
	return out
}
