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
	"tombolo/internal/wording"
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

// render is what a text becomes, if it can be rendered.
func (t *templating) render(text string) (string, bool) {
	if !t.set.Spec.GoTemplate {
		out, _, err := gotemplate.Plain(text, t.parameters)
		return out, err == nil
	}
	out := gotemplate.Render(text, t.parameters, t.set.Spec.GoTemplateOptions)
	return out.Text, out.Err == nil && len(out.Missing) == 0
}

// asFarAsKnown renders the texts that the parameters are enough for.
func (t *templating) asFarAsKnown(v any) any {
	fields, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for key, value := range fields {
		text, ok := value.(string)
		if !ok {
			continue
		}
		strict := *t
		strict.set.Spec.GoTemplateOptions = []string{gotemplate.MissingIsError}
		if out, ok := strict.render(text); ok {
			fields[key] = out
		}
	}
	return fields
}

// text renders one text, and reports what it uses and the cluster lacks.
func (t *templating) text(at []string, text string) string {
	what := tree.Wanted{Object: t.set.Object, Path: at, Value: text}
	if !t.set.Spec.GoTemplate {
		return t.plain(what)
	}
	out := gotemplate.Render(text, t.parameters, t.set.Spec.GoTemplateOptions)
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
	becomes := "Argo CD renders nothing of it"
	switch {
	case l.Silent:
		becomes = "it becomes empty, and Argo CD does not say so"
	case !t.set.Spec.GoTemplate:
		becomes = "Argo CD leaves it as it is written"
	case !t.strict():
		becomes = "it becomes " + gotemplate.NoValue + ", and Argo CD does not say so"
	}
	f := finding.Errorf("%s uses the %s %q, which the cluster's registration lacks: %s", t.set.Identity(), strings.TrimSuffix(l.Part, "s"), l.Key, becomes)
	f.Remedy = near.DidYouMean(l.Key, published.Keys(t.Fleet, l.Part), fmt.Sprintf("add it to the %s of the cluster file", l.Part))
	for _, p := range t.Fleet {
		if _, ok := p.Registration.Part(l.Part)[l.Key]; ok {
			f.Remedy = fmt.Sprintf("cluster %s has it: add it to this cluster's file too, or select clusters that have it", p.Cluster)
			break
		}
	}
	t.Refer(t.in, what, f)
}

// strict says whether Argo CD refuses what is missing.
func (t *templating) strict() bool {
	return slices.Contains(t.set.Spec.GoTemplateOptions, gotemplate.MissingIsError)
}

// plain renders a text without goTemplate, and reports what stays in braces by mistake.
func (t *templating) plain(what tree.Wanted) string {
	out, left, err := gotemplate.Plain(what.Value, t.parameters)
	if err != nil {
		t.broken = true
		t.failed(what, err)
		return out
	}
	for _, tag := range left {
		if part, key, ok := registrationKey(tag); ok {
			t.broken = true
			t.missing(what, gotemplate.Lookup{Part: part, Key: key})
			continue
		}
		known := slices.Sorted(maps.Keys(t.parameters))
		name := strings.TrimPrefix(tag, ".")
		switch nearest := wording.Nearest(name, known); {
		case name != tag && slices.Contains(known, name), name != tag && hasNoBraces(what.Path):
			t.stays(what, tag, "set goTemplate: true and goTemplateOptions: [missingkey=error], or write {{"+name+"}}")
		case nearest != "":
			t.stays(what, tag, fmt.Sprintf("did you mean {{%s}}?", nearest))
		case hasNoBraces(what.Path):
			t.stays(what, tag, "use a parameter of the generator, such as "+strings.Join(known[:min(3, len(known))], ", "))
		}
	}
	return out
}

// stays reports braces that no parameter replaces.
func (t *templating) stays(what tree.Wanted, tag, remedy string) {
	t.broken = true
	t.Refer(t.in, what, finding.Errorf("%s: without goTemplate, {{%s}} is no parameter of its generators, and stays as it is written", t.set.Identity(), tag).
		WithRemedy(remedy))
}

// hasNoBraces says that a field of the template can have no braces, whatever the Application is for. Values of
// charts and patches may have templates of their own.
func hasNoBraces(at []string) bool {
	switch at[len(at)-1] {
	case "name", "namespace", "path", "repoURL", "targetRevision", "server", "project":
		return at[1] == "template" && !slices.Contains(at, "helm")
	}
	return false
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
		if !t.strict() {
			f.Message = fmt.Sprintf("%s: there is no %q for this cluster in %s: it becomes %s, and Argo CD does not say so", t.set.Identity(), key, strings.TrimSpace(what.Value), gotemplate.NoValue)
		}
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
