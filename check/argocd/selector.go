package argocd

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/check/finding"
	"tombolo/check/near"
	"tombolo/check/published"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/wording"
)

// switchesOf are labels by which a selector leaves clusters out: they tell
// clusters apart, and no cluster needs one.
func switchesOf(sets []applicationSet) map[string]bool {
	out := map[string]bool{}
	for _, set := range sets {
		for _, g := range set.Spec.Generators {
			g.each(func(inner generator) { inner.addSwitches(out) })
		}
	}
	return out
}

// addSwitches adds those of one generator.
func (g generator) addSwitches(out map[string]bool) {
	var clusters clusterGenerator
	if json.Unmarshal(g["clusters"], &clusters) != nil {
		return
	}
	for _, e := range clusters.Selector.MatchExpressions {
		if leavesOut(e) {
			out[e.Key] = true
		}
	}
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
	// above is where the ApplicationSet has it, and overrides as in generation.
	above     []string
	overrides bool
}

// at is where the selector has a value.
func (s selector) at(value string, path ...string) tree.Wanted {
	return tree.Wanted{Object: s.set.Object, Path: append(slices.Clip(s.above), path...), Value: value}
}

// reachesNone reports a selector that selects no cluster. What overrides parameters for clusters that there are
// not yet is a fault only where it is similar to what there is.
func (s selector) reachesNone(at tree.Wanted, f finding.Finding, similar bool) {
	switch {
	case !s.overrides:
		f.Message += ": it reaches none"
	case !similar:
		return
	default:
		f.Severity, f.Message = finding.Warning, f.Message+": this generator of a merge overrides nothing"
	}
	s.Refer(s.in, at, f)
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
	s.reachesNone(at, finding.Errorf("%s selects clusters by the label %q, which none of this hub has", s.set.Identity(), key).
		WithRemedy(near.DidYouMean(key, words, "label clusters so in their files, or remove the ApplicationSet")), wording.Nearest(key, words) != "")
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
	if isOnOff(values) && isOnOff(known) {
		return // turned off on all clusters
	}
	f := finding.Errorf(
		"%s selects clusters by the label %s=%s; those of this hub have %s", s.set.Identity(), key, strings.Join(values, "|"), strings.Join(known, ", ")).
		WithRemedy(near.DidYouMean(values[0], known, "label clusters so in their files, or remove the ApplicationSet"))
	similar := wording.Nearest(values[0], known) != ""
	if !similar {
		if s.switches[key] {
			return
		}
		f.Severity = finding.Warning
	}
	s.reachesNone(at, f, similar)
}

// isOnOff says whether a label is a switch by its values.
func isOnOff(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return v != "true" && v != "false" })
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
