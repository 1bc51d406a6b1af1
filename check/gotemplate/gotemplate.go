// Package gotemplate renders the templates of ApplicationSets as Argo CD does with
// goTemplate: true.
package gotemplate

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"

	"tombolo/check/manifest"
)

// functions are those that ApplicationSets of Argo CD 3 have: sprig's
// without a view of the controller's environment, and a few more.
var functions = sync.OnceValue(func() template.FuncMap {
	all := template.FuncMap(sprig.GenericFuncMap())
	for _, name := range []string{"env", "expandenv", "getHostByName"} {
		delete(all, name)
	}
	maps.Copy(all, template.FuncMap{
		"normalize": Normalize,
		"slugify":   func(arguments ...any) string { return Normalize(asText(arguments)) },
		"toYaml": func(v any) (string, error) {
			text, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"fromYaml":      manifest.Decode[map[string]any],
		"fromYamlArray": manifest.Decode[[]any],
	})
	return all
})

// Functions are the names of those that templates have, with Go's own.
func Functions() []string {
	return append(slices.Collect(maps.Keys(functions())),
		"and", "or", "not", "len", "index", "slice", "print", "printf", "println", "html", "js", "urlquery", "call",
		"eq", "ne", "lt", "le", "gt", "ge")
}

var notInNames = regexp.MustCompile(`[^-a-z0-9.]`)

// Normalize makes a text a name of an object.
func Normalize(name string) string {
	return strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-.")
}

// asText is the last of a function's arguments, which slugify works on.
func asText(arguments []any) string {
	if len(arguments) == 0 {
		return ""
	}
	text, _ := arguments[len(arguments)-1].(string)
	return text
}

// Rendered is what a template became.
type Rendered struct {
	Text string
	// Missing are the lookups of what the cluster's registration lacks.
	Missing []Lookup
	// Err says that it cannot be rendered for another reason.
	Err error
}

// Render does with a text of an ApplicationSet what Argo CD does. What is missing
// becomes manifest.Unset, so that everything that is can be told.
func Render(text string, parameters map[string]any) Rendered {
	if !strings.Contains(text, "{{") {
		return Rendered{Text: text}
	}
	t, err := template.New("").Funcs(functions()).Option("missingkey=error").Parse(text)
	if err != nil {
		return Rendered{Err: err}
	}
	var out Rendered
	used := lookups(t.Root)
	parameters = withOwnMetadata(parameters)
	for _, l := range used {
		if present := registered(parameters, l.Part); l.Silent && present != nil {
			if _, ok := present[l.Key]; !ok {
				out.Missing = append(out.Missing, l)
			}
		}
	}
	for {
		var b strings.Builder
		err := t.Execute(&b, parameters)
		if err == nil {
			out.Text = b.String()
			return out
		}
		l, ok := missingLookup(err, used)
		present := registered(parameters, l.Part)
		if !ok || present == nil {
			out.Err = err
			return out
		}
		out.Missing = append(out.Missing, l)
		present[l.Key] = manifest.Unset
	}
}

// withOwnMetadata are parameters whose labels and annotations may be added to.
func withOwnMetadata(parameters map[string]any) map[string]any {
	out := maps.Clone(parameters)
	out["metadata"] = map[string]any{
		"labels":      maps.Clone(registered(parameters, "labels")),
		"annotations": maps.Clone(registered(parameters, "annotations")),
	}
	return out
}

// missingLookup is the lookup that an error of a template is about.
func missingLookup(err error, used []Lookup) (Lookup, bool) {
	key, ok := MissingKey(err)
	at := slices.IndexFunc(used, func(l Lookup) bool { return !l.Silent && l.Key == key })
	if !ok || at < 0 {
		return Lookup{}, false
	}
	return used[at], true
}

// registered are the labels or annotations among a template's parameters.
func registered(parameters map[string]any, part string) map[string]string {
	metadata, _ := parameters["metadata"].(map[string]any)
	found, _ := metadata[part].(map[string]string)
	return found
}
