package argocd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/names"
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
		all, ok := w.parametersOf(in, set, g, switches)
		if !ok {
			w.Elsewhere = true
			w.Refer(in, name(set.Object), finding.Finding{
				Severity: finding.Note,
				Message:  fmt.Sprintf("%s: its generator %s is not followed", set.Identity(), strings.Join(slices.Sorted(maps.Keys(g)), ", ")),
			})
		}
		for _, parameters := range all {
			if app, ok := w.fromTemplate(in, set, parameters); ok {
				out = append(out, app)
			}
		}
	}
	return out
}

// parametersOf are what a generator gives for the cluster: once where it selects it, or once
// for each entry of the files that a matrix joins to it. It is false of a generator that is
// not followed.
func (w *Walk) parametersOf(in *walk.Origin, set applicationSet, g map[string]json.RawMessage, switches map[string]bool) ([]map[string]any, bool) {
	if raw, ok := g["matrix"]; ok {
		var m matrixGenerator
		if err := json.Unmarshal(raw, &m); err != nil || len(m.Generators) != 2 || m.Generators[1]["git"] == nil {
			return nil, false
		}
		return w.joined(in, set, m, switches)
	}
	raw, ok := g["clusters"]
	if !ok {
		return nil, false
	}
	var clusters clusterGenerator
	if err := json.Unmarshal(raw, &clusters); err != nil {
		w.unreadable(in, set.Object, err)
		return nil, true
	}
	selector{w, in, set, switches}.check(clusters.Selector)
	selects, err := metav1.LabelSelectorAsSelector(&clusters.Selector)
	if err != nil {
		w.unreadable(in, set.Object, err)
		return nil, true
	}
	if !selects.Matches(labels.Set(w.Published.Registration.Labels)) {
		return nil, true
	}
	t := templating{Walk: w, in: in, set: set, parameters: w.parameters()}
	values := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(clusters.Values)) {
		values[key] = t.text([]string{"spec", "generators", "[]", "clusters", "values", key}, clusters.Values[key])
	}
	if t.broken {
		w.Incomplete = true
		return nil, true
	}
	t.parameters["values"] = values
	return w.filtered(in, set, g["selector"], t.parameters)
}

// filtered are the parameters, unless a filter of the generator leaves them out. Argo CD
// compares texts of the parameters as if they were labels.
func (w *Walk) filtered(in *walk.Origin, set applicationSet, raw json.RawMessage, parameters map[string]any) ([]map[string]any, bool) {
	if raw == nil {
		return []map[string]any{parameters}, true
	}
	var filter metav1.LabelSelector
	if err := json.Unmarshal(raw, &filter); err != nil {
		w.unreadable(in, set.Object, err)
		return nil, true
	}
	if len(filter.MatchExpressions) > 0 {
		return nil, false
	}
	for key, value := range filter.MatchLabels {
		if parameters[key] != value {
			return nil, true
		}
	}
	return []map[string]any{parameters}, true
}

// joined are the parameters of a cluster, once for each entry of files of this tree.
func (w *Walk) joined(in *walk.Origin, set applicationSet, m matrixGenerator, switches map[string]bool) ([]map[string]any, bool) {
	var files gitGenerator
	if err := json.Unmarshal(m.Generators[1]["git"], &files); err != nil || len(files.Files) != 1 {
		return nil, false
	}
	all, ok := w.parametersOf(in, set, m.Generators[0], switches)
	if !ok {
		return nil, false
	}
	var out []map[string]any
	for _, parameters := range all {
		at := []string{"spec", "generators", "[]", "matrix", "generators", "[]", "git"}
		t := templating{Walk: w, in: in, set: set, parameters: parameters}
		url, file := t.text(append(slices.Clone(at), "repoURL"), files.RepoURL), t.text(append(at, "files", "[]", "path"), files.Files[0].Path)
		if t.broken {
			w.Incomplete = true
			continue
		}
		if !w.isOwn(url) || strings.ContainsAny(file, "*?[") {
			return nil, false
		}
		for _, entry := range w.entries(tree.Relative(file)) {
			maps.Copy(entry, parameters)
			out = append(out, entry)
		}
	}
	return out, true
}

// entries are those of a file that a generator reads: a list, or one. A file that is not
// there has none.
func (w *Walk) entries(file string) []map[string]any {
	if !w.Files.IsFile(file) {
		return nil
	}
	text, err := w.Files.Read(file)
	var list []map[string]any
	if err == nil {
		err = yaml.Unmarshal(text, &list)
	}
	if err != nil {
		w.Incomplete = true
		w.At(tree.Place{File: file}, finding.Finding{
			Severity: finding.Error, Message: "is no list that a generator can read: " + walk.Innermost(err), Remedy: "write it as a list of entries",
		})
	}
	return list
}

// fromTemplate makes an Application of the template.
func (w *Walk) fromTemplate(in *walk.Origin, set applicationSet, parameters map[string]any) (app Application, ok bool) {
	t := templating{Walk: w, in: in, set: set, parameters: parameters}
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
