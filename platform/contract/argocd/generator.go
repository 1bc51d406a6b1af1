package argocd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"tombolo/internal/names"
	"tombolo/platform/contract/finding"
	"tombolo/platform/contract/manifest"
	"tombolo/platform/contract/walk"
)

// generate returns the Applications of an ApplicationSet that are for the cluster.
func (w *Walk) generate(in *walk.Origin, set applicationSet, switches map[string]bool) []Application {
	if !set.Spec.GoTemplate {
		w.Elsewhere = true
		w.Refer(in, name(set.Object), finding.Finding{
			Severity: finding.Warning,
			Message:  fmt.Sprintf("%s is not followed: without goTemplate, what a cluster lacks stays as it is written", set.Identity()),
			Remedy:   "set goTemplate: true and goTemplateOptions: [missingkey=error]",
		})
		return nil
	}
	var out []Application
	for _, g := range set.Spec.Generators {
		raw, ok := g["clusters"]
		if !ok {
			w.Elsewhere = true
			w.Refer(in, name(set.Object), finding.Finding{
				Severity: finding.Note,
				Message:  fmt.Sprintf("%s: its generator %s is not followed", set.Identity(), strings.Join(slices.Sorted(maps.Keys(g)), ", ")),
			})
			continue
		}
		var clusters clusterGenerator
		if err := json.Unmarshal(raw, &clusters); err != nil {
			w.unreadable(in, set.Object, err)
			continue
		}
		selector{w, in, set, switches}.check(clusters.Selector)
		if app, ok := w.fromTemplate(in, set, clusters); ok {
			out = append(out, app)
		}
	}
	return out
}

// fromTemplate makes an Application of the template, if the generator selects the
// cluster.
func (w *Walk) fromTemplate(in *walk.Origin, set applicationSet, g clusterGenerator) (app Application, ok bool) {
	selector, err := metav1.LabelSelectorAsSelector(&g.Selector)
	if err != nil {
		w.unreadable(in, set.Object, err)
		return app, false
	}
	if !selector.Matches(labels.Set(w.Published.Registration.Labels)) {
		return app, false
	}
	t := templating{Walk: w, in: in, set: set, parameters: w.parameters()}
	values := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(g.Values)) {
		values[key] = t.text([]string{"spec", "generators", "[]", "clusters", "values", key}, g.Values[key])
	}
	t.parameters["values"] = values
	made := t.value([]string{"spec", "template"}, set.Spec.Template)
	t.text([]string{"spec", "templatePatch"}, set.Spec.TemplatePatch)
	if t.broken {
		w.Incomplete = true
		return app, false
	}
	text, err := json.Marshal(made)
	if err != nil {
		panic(err) // it came out of JSON
	}
	if app, err = manifest.Decode[Application](string(text)); err != nil {
		w.unreadable(in, set.Object, err)
		return app, false
	}
	app.APIVersion, app.Kind = set.APIVersion, "Application"
	app.Metadata.Namespace = names.ArgoCDNamespace
	w.from[app.object()] = set.Object
	return app, true
}
