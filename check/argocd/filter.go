package argocd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/check/finding"
	"tombolo/check/near"
	"tombolo/check/published"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// filter is the selector beside a generator.
type filter struct {
	*Walk
	in       *walk.Origin
	set      applicationSet
	switches map[string]bool
	// at is where the ApplicationSet has it.
	at []string
}

// keep are the parameters that the selector leaves. Argo CD flattens them and compares
// them as if they were labels, without the limits of labels' values. Source: Transform in
// applicationset/generators/generator_spec_processor.go.
func (f filter) keep(raw json.RawMessage, all []map[string]any) []map[string]any {
	wanted, ok := f.requirements(raw)
	if !ok {
		return nil
	}
	return f.meeting(wanted, all)
}

// meeting are the parameters that meet requirements.
func (f filter) meeting(wanted []metav1.LabelSelectorRequirement, all []map[string]any) []map[string]any {
	for _, r := range wanted {
		if part, key, ok := registrationKey(r.Key); ok && !leavesOut(r) {
			f.checkKey(r, part, key)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(parameters map[string]any) bool {
		flat := map[string]string{}
		flatten(flat, "", parameters)
		return slices.ContainsFunc(wanted, func(r metav1.LabelSelectorRequirement) bool { return !meets(flat, r) })
	})
}

// keepCluster also looks at keys that are no parameter of any cluster: all clusters
// have the same, but for their labels and annotations.
func (f filter) keepCluster(raw json.RawMessage, parameters map[string]any) []map[string]any {
	flat := map[string]string{}
	flatten(flat, "", parameters)
	wanted, ok := f.requirements(raw)
	if !ok {
		return nil
	}
	for _, r := range wanted {
		_, has := flat[r.Key]
		if _, _, registered := registrationKey(r.Key); has || registered || leavesOut(r) {
			continue
		}
		f.report(r, slices.Collect(maps.Keys(flat)))
	}
	return f.meeting(wanted, []map[string]any{parameters})
}

// requirements are those of matchLabels and matchExpressions.
func (f filter) requirements(raw json.RawMessage) ([]metav1.LabelSelectorRequirement, bool) {
	var selector metav1.LabelSelector
	if raw == nil {
		return nil, true
	}
	if err := json.Unmarshal(raw, &selector); err != nil {
		f.unreadable(f.in, f.set.Object, err)
		return nil, false
	}
	var out []metav1.LabelSelectorRequirement
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		out = append(out, metav1.LabelSelectorRequirement{
			Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{selector.MatchLabels[key]},
		})
	}
	for _, r := range selector.MatchExpressions {
		if err := usable(r); err != nil {
			f.unreadable(f.in, f.set.Object, err)
			return nil, false
		}
		out = append(out, r)
	}
	return out, true
}

// usable refuses what LabelSelectorAsSelector does.
func usable(r metav1.LabelSelectorRequirement) error {
	switch r.Operator {
	case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
		if len(r.Values) == 0 {
			return fmt.Errorf("the selector's %s of %q needs values", r.Operator, r.Key)
		}
	case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			return fmt.Errorf("the selector's %s of %q takes no values", r.Operator, r.Key)
		}
	default:
		return fmt.Errorf("%q is no operator of a selector", r.Operator)
	}
	return nil
}

func meets(flat map[string]string, r metav1.LabelSelectorRequirement) bool {
	value, has := flat[r.Key]
	switch r.Operator {
	case metav1.LabelSelectorOpIn:
		return has && slices.Contains(r.Values, value)
	case metav1.LabelSelectorOpNotIn:
		return !has || !slices.Contains(r.Values, value)
	case metav1.LabelSelectorOpExists:
		return has
	}
	return !has
}

// flatten puts what is below a value into one map, with dots between the keys.
func flatten(out map[string]string, at string, v any) {
	below := func(key string) string { return strings.TrimPrefix(at+"."+key, ".") }
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			flatten(out, below(key), value)
		}
	case map[string]string:
		for key, value := range v {
			out[below(key)] = value
		}
	case []any:
		for i, value := range v {
			flatten(out, below(strconv.Itoa(i)), value)
		}
	default:
		out[at] = fmt.Sprint(v)
	}
}

// registrationKey is the label or annotation that a key of a filter means.
func registrationKey(key string) (part, name string, ok bool) {
	for _, part := range []string{"labels", "annotations"} {
		if name, ok := strings.CutPrefix(key, "metadata."+part+"."); ok {
			return part, name, true
		}
	}
	return "", "", false
}

// checkKey reports a label or annotation that no cluster of the hub has, unless it is
// one that a cluster may be without.
func (f filter) checkKey(r metav1.LabelSelectorRequirement, part, key string) {
	all := published.Keys(f.Fleet, part)
	if part == "labels" && (slices.Contains(addonLabels(), key) || key == shapeLabel || f.switches[key]) || slices.Contains(all, key) {
		return
	}
	known := make([]string, len(all))
	for i, k := range all {
		known[i] = "metadata." + part + "." + k
	}
	f.report(r, known)
}

func (f filter) report(r metav1.LabelSelectorRequirement, known []string) {
	for _, part := range []string{"labels", "annotations"} {
		if slices.Contains(published.Keys(f.Fleet, part), r.Key) {
			known = []string{"metadata." + part + "." + r.Key}
		}
	}
	at := tree.Wanted{Object: f.set.Object, Path: append(slices.Clip(f.at), "matchExpressions", "[]", "key"), Value: r.Key}
	if len(r.Values) == 1 {
		labels := tree.Wanted{Object: f.set.Object, Path: append(slices.Clip(f.at), "matchLabels", r.Key), Value: r.Values[0]}
		if _, ok := f.Files.Field(f.in.Read, labels, func(s string) string { return s }); ok {
			at = labels
		}
	}
	remedy := near.DidYouMean(r.Key, known, "use a parameter of the generator, such as metadata.labels.x or values.x")
	if len(known) == 1 && strings.HasSuffix(known[0], "."+r.Key) {
		remedy = "write it as " + known[0]
	}
	f.Refer(f.in, at, finding.Errorf("%s filters by %q, which no cluster of this hub has: it reaches none", f.set.Identity(), r.Key).
		WithRemedy(remedy))
}
