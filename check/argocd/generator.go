package argocd

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/published"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// generate returns the Applications of an ApplicationSet that are for the cluster.
func (w *Walk) generate(in *walk.Origin, set applicationSet, switches map[string]bool) []Application {
	if !set.Spec.GoTemplate {
		w.Elsewhere = true
		w.Refer(in, name(set.Object), finding.Warningf(
			"%s is not followed: without goTemplate, what a cluster lacks stays as it is written", set.Identity()).
			WithRemedy("set goTemplate: true and goTemplateOptions: [missingkey=error]"))
		return nil
	}
	var out []Application
	for _, g := range set.Spec.Generators {
		all, ok := w.parametersOf(in, set, g, switches)
		if !ok {
			w.Elsewhere = true
			w.Refer(in, name(set.Object), finding.Notef(
				"%s: its generator %s is not followed", set.Identity(), strings.Join(slices.Sorted(maps.Keys(g)), ", ")))
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
		all, ok := w.joined(in, set, m, switches)
		return filter{w, in, set, switches}.keep(g["selector"], all), ok
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
	return filter{w, in, set, switches}.keepCluster(g["selector"], t.parameters), true
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

// switchesOf are labels by which a selector leaves clusters out: they tell
// clusters apart, and no cluster needs one.
func switchesOf(sets []applicationSet) map[string]bool {
	out := map[string]bool{}
	for _, set := range sets {
		for _, g := range set.Spec.Generators {
			var clusters clusterGenerator
			if json.Unmarshal(g["clusters"], &clusters) != nil {
				continue
			}
			for _, e := range clusters.Selector.MatchExpressions {
				if leavesOut(e) {
					out[e.Key] = true
				}
			}
		}
	}
	return out
}

func leavesOut(e metav1.LabelSelectorRequirement) bool {
	return e.Operator == metav1.LabelSelectorOpNotIn || e.Operator == metav1.LabelSelectorOpDoesNotExist
}

// selector is one of an ApplicationSet, whose labels are looked at.
type selector struct {
	*Walk
	in       *walk.Origin
	set      applicationSet
	switches map[string]bool
}

// at is where the selector has a value.
func (s selector) at(value string, path ...string) tree.Wanted {
	above := []string{"spec", "generators", "[]", "clusters", "selector"}
	return tree.Wanted{Object: s.set.Object, Path: append(above, path...), Value: value}
}

// check looks at labels that no cluster of the hub has.
func (s selector) check(selector metav1.LabelSelector) {
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		value := selector.MatchLabels[key]
		at := s.at(value, "matchLabels", key)
		if s.checkLabel(at, key) {
			s.checkValues(at, key, []string{value})
		}
	}
	for _, e := range selector.MatchExpressions {
		at := s.at(e.Key, "matchExpressions", "[]", "key")
		switch {
		case leavesOut(e):
			s.checkLeftOut(at, e.Key)
		case s.checkLabel(at, e.Key) && len(e.Values) > 0:
			s.checkValues(at, e.Key, e.Values)
		}
	}
}

// checkLabel reports a label that a selector asks for and no cluster has, and
// says whether one has it. An addon that no cluster turns on is none of the
// tree's faults, and neither are an unused shape and an unused switch.
func (s selector) checkLabel(at tree.Wanted, key string) bool {
	all := published.Keys(s.Fleet, "labels")
	words := slices.Concat(all, addonLabels(), []string{shapeLabel})
	switch {
	case slices.Contains(all, key):
		return true
	case slices.Contains(words, key), s.switches[key] && wording.Nearest(key, words) == "":
		return false
	}
	s.Refer(s.in, at, finding.Errorf("%s selects clusters by the label %q, which none of this hub has: it reaches none", s.set.Identity(), key).
		WithRemedy(near.DidYouMean(key, words, "label clusters so in their files, or remove the ApplicationSet")))
	return false
}

// checkValues reports a label whose value no cluster has.
func (s selector) checkValues(at tree.Wanted, key string, values []string) {
	has := map[string]bool{}
	for _, p := range s.Fleet {
		if value, ok := p.Registration.Labels[key]; ok {
			has[value] = true
		}
	}
	if slices.ContainsFunc(values, func(v string) bool { return has[v] }) {
		return
	}
	known := slices.Sorted(maps.Keys(has))
	f := finding.Errorf(
		"%s selects clusters by the label %s=%s; those of this hub have %s: it reaches none", s.set.Identity(), key, strings.Join(values, "|"), strings.Join(known, ", ")).
		WithRemedy(near.DidYouMean(values[0], known, "label clusters so in their files, or remove the ApplicationSet"))
	if wording.Nearest(values[0], known) == "" {
		if s.switches[key] {
			return
		}
		f.Severity = finding.Warning
	}
	s.Refer(s.in, at, f)
}

// checkLeftOut warns of a label that excludes no cluster, because it is misspelt.
func (s selector) checkLeftOut(at tree.Wanted, key string) {
	all := published.Keys(s.Fleet, "labels")
	if slices.Contains(all, key) || wording.Nearest(key, all) == "" {
		return
	}
	s.Refer(s.in, at, finding.Warningf("%s leaves out clusters by the label %q, which none of this hub has: it leaves out none", s.set.Identity(), key).
		WithRemedy(near.DidYouMean(key, all, "")))
}

// shapeLabel is by which the reference tree tells apart clusters that have an
// Application for each addon, and those that have one for all. A tree of a hub
// without addons has the latter's ApplicationSet alone, and then no selector shows
// that the label is a switch.
const shapeLabel = "shape"

// addonLabels are the labels of clusters that turn on an addon of the catalogue.
func addonLabels() []string {
	var out []string
	for _, a := range addon.All() {
		out = append(out, config.AddonLabelPrefix+a.Name)
	}
	return out
}
