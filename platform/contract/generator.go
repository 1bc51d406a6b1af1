package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"

	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// applicationSet makes the Applications of one that are for the cluster.
func (w *walk) applicationSet(s *sync, set applicationSet, switches map[string]bool) {
	name := wanted{path: []string{"metadata", "name"}, value: set.Metadata.Name}
	if !set.Spec.GoTemplate {
		w.elsewhereToo = true
		w.refer(s, set.manifest, name, Finding{
			Severity: Warning,
			Message:  fmt.Sprintf("%s is not followed: without goTemplate, what a cluster lacks stays as it is written", set.identity()),
			Remedy:   "set goTemplate: true and goTemplateOptions: [missingkey=error]",
		})
		return
	}
	for _, g := range set.Spec.Generators {
		raw, ok := g["clusters"]
		if !ok {
			w.elsewhereToo = true
			w.refer(s, set.manifest, name, Finding{
				Severity: Note,
				Message:  fmt.Sprintf("%s: its generator %s is not followed", set.identity(), strings.Join(sortedKeys(g), ", ")),
			})
			continue
		}
		var clusters clusterGenerator
		if err := json.Unmarshal(raw, &clusters); err != nil {
			w.unreadable(s, set.manifest, err)
			continue
		}
		w.checkSelector(s, set, clusters.Selector, switches)
		w.generate(s, set, clusters)
	}
}

// generate makes an Application of the template, if the generator selects the
// cluster.
func (w *walk) generate(s *sync, set applicationSet, g clusterGenerator) {
	selector, err := metav1.LabelSelectorAsSelector(&g.Selector)
	if err != nil {
		w.unreadable(s, set.manifest, err)
		return
	}
	if !selector.Matches(apilabels.Set(w.published.Registration.Labels)) {
		return
	}
	t := templating{walk: w, in: s, set: set, parameters: w.parameters()}
	values := map[string]any{}
	for _, key := range sortedKeys(g.Values) {
		values[key] = t.text([]string{"spec", "generators", "[]", "clusters", "values", key}, g.Values[key])
	}
	t.parameters["values"] = values
	made := t.value([]string{"spec", "template"}, set.Spec.Template)
	t.text([]string{"spec", "templatePatch"}, set.Spec.TemplatePatch)
	if t.broken {
		w.incomplete = true
		return
	}
	w.generated(s, set, made)
}

// parameters are what the cluster generator gives for the cluster.
func (w *walk) parameters() map[string]any {
	r := w.published.Registration
	return map[string]any{
		"name": w.published.Cluster, "nameNormalized": normalize(w.published.Cluster),
		"server": r.Server, "project": "",
		"metadata": map[string]any{"labels": r.Labels, "annotations": r.Annotations},
	}
}

// generated takes an Application that a template became.
func (w *walk) generated(s *sync, set applicationSet, made any) {
	text, err := json.Marshal(made)
	if err != nil {
		panic(err) // it came out of JSON
	}
	app, err := decode[application](string(text))
	if err != nil {
		w.unreadable(s, set.manifest, err)
		return
	}
	app.APIVersion, app.Kind = set.APIVersion, "Application"
	app.Metadata.Namespace = names.ArgoCDNamespace
	w.from[app.object()] = set.manifest
	w.application(s, app)
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

// selectorPath is where a selector is in an ApplicationSet.
var selectorPath = []string{"spec", "generators", "[]", "clusters", "selector"}

// checkSelector looks at labels that no cluster of the hub has.
func (w *walk) checkSelector(s *sync, set applicationSet, selector metav1.LabelSelector, switches map[string]bool) {
	for _, key := range sortedKeys(selector.MatchLabels) {
		value := selector.MatchLabels[key]
		at := wanted{path: slices.Concat(selectorPath, []string{"matchLabels", key}), value: value}
		if w.checkLabel(s, set, at, key, switches) {
			w.checkLabelValues(s, set, at, key, []string{value}, switches)
		}
	}
	for _, e := range selector.MatchExpressions {
		at := wanted{path: slices.Concat(selectorPath, []string{"matchExpressions", "[]", "key"}), value: e.Key}
		switch {
		case leavesOut(e):
			w.checkLeftOut(s, set, at, e.Key)
		case w.checkLabel(s, set, at, e.Key, switches) && len(e.Values) > 0:
			w.checkLabelValues(s, set, at, e.Key, e.Values, switches)
		}
	}
}

// checkLabel reports a label that a selector asks for and no cluster has, and
// says whether one has it. An addon that no cluster turns on is none of the
// tree's faults, and neither is a switch that nobody uses.
func (w *walk) checkLabel(s *sync, set applicationSet, at wanted, key string, switches map[string]bool) bool {
	all := known(w.everyone, labels)
	words := append(slices.Clone(all), addonLabels()...)
	switch {
	case slices.Contains(all, key):
		return true
	case slices.Contains(words, key), switches[key] && wording.Nearest(key, words) == "":
		return false
	}
	w.refer(s, set.manifest, at, Finding{
		Severity: Error,
		Message:  fmt.Sprintf("%s selects clusters by the label %q, which none of this hub has: it reaches none", set.identity(), key),
		Remedy:   didYouMean(key, words, "label clusters so in their files, or remove the ApplicationSet"),
	})
	return false
}

// checkLabelValues reports a label whose value no cluster has.
func (w *walk) checkLabelValues(s *sync, set applicationSet, at wanted, key string, values []string, switches map[string]bool) {
	has := map[string]bool{}
	for _, p := range w.everyone {
		if value, ok := p.Registration.Labels[key]; ok {
			has[value] = true
		}
	}
	if slices.ContainsFunc(values, func(v string) bool { return has[v] }) {
		return
	}
	near := wording.Nearest(values[0], sortedKeys(has))
	f := Finding{
		Severity: Error,
		Message: fmt.Sprintf("%s selects clusters by the label %s=%s; those of this hub have %s: it reaches none",
			set.identity(), key, strings.Join(values, "|"), strings.Join(sortedKeys(has), ", ")),
		Remedy: didYouMean(values[0], sortedKeys(has), "label clusters so in their files, or remove the ApplicationSet"),
	}
	if near == "" {
		if switches[key] {
			return
		}
		f.Severity = Warning
	}
	w.refer(s, set.manifest, at, f)
}

// checkLeftOut warns of a label that leaves nobody out, because it is misspelt.
func (w *walk) checkLeftOut(s *sync, set applicationSet, at wanted, key string) {
	all := known(w.everyone, labels)
	near := wording.Nearest(key, all)
	if slices.Contains(all, key) || near == "" {
		return
	}
	w.refer(s, set.manifest, at, Finding{
		Severity: Warning,
		Message:  fmt.Sprintf("%s leaves out clusters by the label %q, which none of this hub has: it leaves out none", set.identity(), key),
		Remedy:   didYouMean(key, all, ""),
	})
}

// addonLabels are the labels of clusters that turn on an addon of the catalogue.
func addonLabels() []string {
	var out []string
	for _, a := range addon.All() {
		out = append(out, config.AddonLabelPrefix+a.Name)
	}
	return out
}
