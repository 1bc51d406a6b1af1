package argocd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tombolo/check/finding"
	"tombolo/check/gotemplate"
	"tombolo/check/near"
	"tombolo/check/published"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// templating renders the template of an ApplicationSet for a cluster.
type templating struct {
	*Walk
	in         *walk.Origin
	set        applicationSet
	parameters map[string]any
	// broken says that something could not be rendered.
	broken bool
}

// value renders all texts in a value.
func (t *templating) value(at []string, v any) any {
	switch v := v.(type) {
	case string:
		return t.text(at, v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = t.value(append(slices.Clip(at), "[]"), item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out[t.text(at, key)] = t.value(append(slices.Clip(at), key), v[key])
		}
		return out
	}
	return v
}

// text renders one text, and reports what it uses and the cluster lacks.
func (t *templating) text(at []string, text string) string {
	out := gotemplate.Render(text, t.parameters)
	what := tree.Wanted{Object: t.set.Object, Path: at, Value: text}
	for _, l := range out.Missing {
		t.broken = true
		t.missing(what, l)
	}
	if out.Err != nil && len(out.Missing) == 0 {
		t.broken = true
		t.failed(what, out.Err)
	}
	return out.Text
}

// missing reports a label or annotation that the cluster's registration lacks.
func (t *templating) missing(what tree.Wanted, l gotemplate.Lookup) {
	one := strings.TrimSuffix(l.Part, "s")
	f := finding.Finding{
		Severity: finding.Error,
		Message:  fmt.Sprintf("%s uses the %s %q, which the cluster's registration lacks: Argo CD renders nothing of it", t.set.Identity(), one, l.Key),
	}
	if l.Silent {
		f.Message = fmt.Sprintf("%s uses the %s %q, which the cluster's registration lacks: it becomes empty, and Argo CD does not say so", t.set.Identity(), one, l.Key)
	}
	f.Remedy = near.DidYouMean(l.Key, published.Keys(t.Fleet, l.Part), fmt.Sprintf("add it to the %s of the cluster file", l.Part))
	for _, p := range t.Fleet {
		if _, ok := p.Registration.Part(l.Part)[l.Key]; ok {
			f.Remedy = fmt.Sprintf("cluster %s has it: add it to this cluster's file too, or select clusters that have it", p.Cluster)
			break
		}
	}
	t.Refer(t.in, what, f)
}

// failed reports a template that cannot be rendered, whatever the cluster has.
func (t *templating) failed(what tree.Wanted, err error) {
	f := finding.Finding{Severity: finding.Error, Remedy: "correct the template"}
	f.Message = fmt.Sprintf("%s cannot be rendered: %s", t.set.Identity(), gotemplate.Cause(err))
	if name, ok := gotemplate.UnknownFunction(err); ok {
		f.Message = fmt.Sprintf("%s cannot be rendered: Argo CD has no template function %q", t.set.Identity(), name)
		f.Remedy = near.DidYouMean(name, gotemplate.Functions(), "use a function of sprig, or one that Argo CD adds")
	}
	if key, ok := gotemplate.MissingKey(err); ok {
		f.Message = fmt.Sprintf("%s cannot be rendered: there is no %q for this cluster in %s", t.set.Identity(), key, strings.TrimSpace(what.Value))
		f.Remedy = near.DidYouMean(key, t.names(), f.Remedy)
	}
	t.Refer(t.in, what, f)
}

// names are the parameters of the generator, and the names of the cluster's
// addons: what is below its values.
func (t *templating) names() []string {
	out := slices.Collect(maps.Keys(t.parameters))
	if values, ok := t.parameters["values"].(map[string]any); ok {
		out = slices.AppendSeq(out, maps.Keys(values))
	}
	for _, a := range t.Published.Registration.Addons {
		out = append(out, a.Name)
	}
	return append(out, "cluster", "addons")
}
