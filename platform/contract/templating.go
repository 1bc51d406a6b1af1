package contract

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// templating renders the template of an ApplicationSet for a cluster.
type templating struct {
	*walk
	in         *sync
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
	out := renderTemplate(text, t.parameters)
	what := wanted{path: at, value: text}
	for _, l := range out.missing {
		t.broken = true
		t.missing(what, l)
	}
	if out.err != nil && len(out.missing) == 0 {
		t.broken = true
		t.failed(what, out.err)
	}
	return out.text
}

// missing reports a label or annotation that the cluster's registration lacks.
func (t *templating) missing(what wanted, l lookup) {
	one := strings.TrimSuffix(l.part, "s")
	part := labels
	if l.part == "annotations" {
		part = annotations
	}
	f := Finding{
		Severity: Error,
		Message:  fmt.Sprintf("%s uses the %s %q, which the cluster's registration lacks: Argo CD renders nothing of it", t.set.identity(), one, l.key),
	}
	if l.silent {
		f.Message = fmt.Sprintf("%s uses the %s %q, which the cluster's registration lacks: it becomes empty, and Argo CD does not say so", t.set.identity(), one, l.key)
	}
	otherwise := fmt.Sprintf("add it to the %s of the cluster file", l.part)
	for _, p := range t.everyone {
		if _, ok := part(p.Registration)[l.key]; ok {
			otherwise = fmt.Sprintf("cluster %s has it: add it to this cluster's file too, or select clusters that have it", p.Cluster)
			f.Remedy = otherwise
			break
		}
	}
	if f.Remedy == "" {
		f.Remedy = didYouMean(l.key, known(t.everyone, part), otherwise)
	}
	t.refer(t.in, t.set.manifest, what, f)
}

var (
	unknownFunction = regexp.MustCompile(`function ("(?:[^"\\]|\\.)*") not defined$`)
	// templateStart is what text/template writes before the cause of an error.
	templateStart = regexp.MustCompile(`^template: [^ ]*:\d+(:\d+)?: (executing "[^"]*" at )?`)
)

// failed reports a template that cannot be rendered, whatever the cluster has.
func (t *templating) failed(what wanted, err error) {
	f := Finding{Severity: Error, Remedy: "correct the template"}
	cause := templateStart.ReplaceAllString(err.Error(), "")
	f.Message = fmt.Sprintf("%s cannot be rendered: %s", t.set.identity(), cause)
	if m := unknownFunction.FindStringSubmatch(err.Error()); m != nil {
		name, _ := strconv.Unquote(m[1]) // it was quoted by Go
		f.Message = fmt.Sprintf("%s cannot be rendered: Argo CD has no template function %q", t.set.identity(), name)
		f.Remedy = didYouMean(name, functionNames(), "use a function of sprig, or one that Argo CD adds")
	}
	if m := missingKey.FindStringSubmatch(err.Error()); m != nil {
		key, _ := strconv.Unquote(m[1]) // the same
		f.Message = fmt.Sprintf("%s cannot be rendered: there is no %q for this cluster in %s", t.set.identity(), key, strings.TrimSpace(what.value))
		f.Remedy = didYouMean(key, t.names(), f.Remedy)
	}
	t.refer(t.in, t.set.manifest, what, f)
}

// names are the parameters of the generator, and the names of the cluster's
// addons: what is below its values.
func (t *templating) names() []string {
	out := sortedKeys(t.parameters)
	if values, ok := t.parameters["values"].(map[string]any); ok {
		out = append(out, sortedKeys(values)...)
	}
	for _, a := range t.published.Registration.addons {
		out = append(out, a.Name)
	}
	return append(out, "cluster", "addons")
}

// functionNames are those of templates, with Go's own.
func functionNames() []string {
	return append(sortedKeys(templateFunctions()),
		"and", "or", "not", "len", "index", "slice", "print", "printf", "println", "html", "js", "urlquery", "call",
		"eq", "ne", "lt", "le", "gt", "ge")
}
