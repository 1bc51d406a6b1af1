package treecheck

import (
	"fmt"
	"strings"

	"tombolo/check/finding"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// result of a check.
type result struct {
	tree string
	// fleets are all clusters, with those that have a hub in common with one.
	fleets, chosen, skipped []*config.Cluster
	found                   finding.List
}

// document is that of one finding in the JSON format.
type document struct {
	Type string `json:"type"`
	finding.Finding
}

// summary is the document after the findings.
type summary struct {
	Type string `json:"type"`
	// Tree is empty for clusters whose tree was not found.
	Tree     string   `json:"tree"`
	Clusters []string `json:"clusters"`
	// Skipped are the clusters that were not checked: their gitops.path is not in
	// the tree.
	Skipped  []string `json:"skipped,omitempty"`
	Errors   int      `json:"errors"`
	Warnings int      `json:"warnings"`
	Notes    int      `json:"notes"`
}

// report shows what was found, and returns an error when a tree does not fit.
func (o *Options) report(results []result, elsewhere, fleets []*config.Cluster) error {
	var bad []string
	for _, r := range results {
		if o.JSON() {
			if err := o.documents(r); err != nil {
				return err
			}
		} else {
			o.lines(r)
		}
		if r.found.Count(finding.Error) > 0 {
			bad = append(bad, fmt.Sprintf("%s does not fit the clusters that follow it: %s", r.tree, counts(r.found)))
			continue
		}
		verdict := fmt.Sprintf("%s fits %s", r.tree, clusters.Names(r.chosen))
		if found := counts(r.found); found != "" {
			verdict += ": " + found
		}
		o.Status().Done("%s", verdict)
	}
	if len(elsewhere) > 0 {
		if err := o.notHere(elsewhere, fleets); err != nil {
			return err
		}
	}
	if len(bad) > 0 {
		return &fault.Error{Class: fault.Contract, Problem: strings.Join(bad, "; ")}
	}
	return nil
}

// notHere names the clusters whose tree is not in this project.
func (o *Options) notHere(elsewhere, fleets []*config.Cluster) error {
	if o.JSON() {
		return render.WriteJSON(o.Out, summary{Type: "check", Clusters: []string{}, Skipped: clusters.NamesOf(elsewhere)})
	}
	for _, c := range elsewhere {
		g := hub(c, fleets).GitOps
		o.Status().Plain("%s is not checked: its platform tree is not in this project; run tombolo check in a checkout of %s, or set %s", c.Name, g.URL, clusters.TreeVariable)
	}
	return nil
}

func (o *Options) documents(r result) error {
	for _, f := range r.found {
		if err := render.WriteJSON(o.Out, document{"finding", f}); err != nil {
			return err
		}
	}
	return render.WriteJSON(o.Out, summary{
		Type: "check", Tree: r.tree, Clusters: clusters.NamesOf(r.chosen), Skipped: clusters.NamesOf(r.skipped),
		Errors: r.found.Count(finding.Error), Warnings: r.found.Count(finding.Warning), Notes: r.found.Count(finding.Note),
	})
}

// lines are the findings for people. One whose place is known is shown as the
// problems of a cluster file are.
func (o *Options) lines(r result) {
	options := o.Problems()
	for _, f := range r.found {
		if f.Line == 0 {
			o.Status().Plain("%s", f)
		} else {
			render.Problems(o.Streams.ErrOut, strict.Problems{{
				File: f.File, Line: f.Line, Column: f.Column,
				Message: fmt.Sprintf("%s: %s", f.Severity, f.Text()), Remedy: f.Remedy,
			}}, options)
		}
		if options.Terminal {
			fmt.Fprintln(o.Streams.ErrOut)
		}
	}
	for _, c := range r.skipped {
		o.Status().Plain("%s is not checked: its gitops.path, %s, is not in %s", c.Name, hub(c, r.fleets).GitOps.Path, r.tree)
	}
}

// counts is "2 errors, 1 warning", without zeros. Notes are not counted: they need
// no action.
func counts(found finding.List) string {
	var out []string
	for _, s := range []finding.Severity{finding.Error, finding.Warning} {
		if n := found.Count(s); n > 0 {
			out = append(out, wording.Count(n, string(s)))
		}
	}
	return strings.Join(out, ", ")
}
