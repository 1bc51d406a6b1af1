package argocd

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"tombolo/check/finding"
	"tombolo/check/helm"
	"tombolo/check/published"
	"tombolo/check/walk"
	"tombolo/internal/names"
)

// checkMeetings looks at the values of a source that bootstrap publishes as well.
// Argo CD lays values over those of files, and parameters over both.
func (w *Walk) checkMeetings(in *walk.Origin, app Application, from Source) {
	all := w.Published.Values[app.Metadata.Labels[names.AddonLabel]]
	given, err := publishedTo(from)
	if all == nil || err != nil || len(given) == 0 {
		return
	}
	for _, file := range from.Helm.ValueFiles {
		name, ok := w.valueFile(app, from, file)
		text, err := w.Files.Read(name)
		var set map[string]any
		if !ok || err != nil || yaml.Unmarshal(text, &set) != nil {
			continue // its own finding
		}
		for _, m := range all.Meet(set) {
			w.At(w.InFile(name, m.Path), finding.Finding{
				Severity: finding.Warning,
				Message:  fmt.Sprintf("%s is published by bootstrap, whose value wins over that of a values file: this one has no effect", m.Name()),
				Remedy:   without(m, "remove it, or set it in helm.parameters, which win"),
			})
		}
	}
	w.checkParameters(in, app, from, all)
}

// checkParameters looks at parameters whose values bootstrap publishes as well.
func (w *Walk) checkParameters(in *walk.Origin, app Application, from Source, all *published.Values) {
	for _, p := range from.Helm.Parameters {
		set := map[string]any{}
		if helm.Set(set, []helm.Parameter{p}) != nil {
			continue // Helm refuses it
		}
		for _, m := range all.Meet(set) {
			f := finding.Finding{
				Severity: finding.Note,
				Message:  fmt.Sprintf("%s sets %s, which bootstrap publishes too: the tree's value wins", w.named(app), m.Name()),
			}
			if m.Made {
				f.Severity = finding.Error
				f.Message = fmt.Sprintf("%s sets %s, which bootstrap publishes for what core has made: with the tree's value the addon does not work", w.named(app), m.Name())
				f.Remedy = "remove the parameter"
			}
			w.referSource(in, app, "parameters", p.Name, f)
		}
	}
}

// publishedTo are the values of a source beside files and parameters.
func publishedTo(from Source) (map[string]any, error) {
	if from.Helm == nil || from.Chart == "" {
		return nil, nil
	}
	if len(from.Helm.ValuesObject) > 0 {
		return from.Helm.ValuesObject, nil
	}
	return helm.Overlay(nil, from.Helm.Values)
}

// without is the remedy for a value in a file; what core has made nobody sets.
func without(m published.Meeting, otherwise string) string {
	if m.Made {
		return "remove it: the software needs what core has made"
	}
	return otherwise
}
