// Package gotemplate renders the templates of ApplicationSets as Argo CD does with
// goTemplate: true.
package gotemplate

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"text/template/parse"

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

// MissingIsError is the option that makes Argo CD refuse what is missing. Without it, what is
// missing becomes NoValue.
const (
	MissingIsError = "missingkey=error"
	NoValue        = "<no value>"
)

// Render does with a text of an ApplicationSet what Argo CD does with goTemplateOptions. What is
// missing becomes manifest.Unset, so that everything that is can be told.
func Render(text string, parameters map[string]any, options []string) Rendered {
	if !strings.Contains(text, "{{") {
		return Rendered{Text: text}
	}
	if slices.Contains(options, MissingIsError) {
		return renderStrictly(text, parameters)
	}
	lax, err := execute(text, parameters, "missingkey=default")
	if err != nil {
		return Rendered{Err: err}
	}
	if out := renderStrictly(text, parameters); strings.Contains(lax, NoValue) || slices.ContainsFunc(out.Missing, isSilent) && out.Err == nil {
		return out
	}
	return Rendered{Text: lax}
}

func isSilent(l Lookup) bool { return l.Silent }

// parsed are the templates that were parsed, by option and text: an ApplicationSet's are rendered for every
// cluster.
var parsed sync.Map

func parseOnce(text, option string) (*template.Template, error) {
	if known, ok := parsed.Load(option + text); ok {
		return known.(*template.Template), nil
	}
	t, err := template.New("").Funcs(functions()).Option(option).Parse(text)
	if err == nil {
		parsed.Store(option+text, t)
	}
	return t, err
}

func execute(text string, parameters map[string]any, option string) (string, error) {
	t, err := parseOnce(text, option)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, parameters)
	return b.String(), err
}

// renderStrictly renders with everything that is missing as an error.
func renderStrictly(text string, parameters map[string]any) Rendered {
	t, err := parseOnce(text, MissingIsError)
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

// Lookup is something of a registration that a template uses.
type Lookup struct {
	// Part is labels or annotations.
	Part, Key string
	// Silent lookups of what is missing give an empty text, others an error.
	Silent bool
}

// tolerant are functions that are asked whether there is something: index may
// give them nothing.
var tolerant = []string{"eq", "ne", "and", "or", "not", "default", "coalesce", "empty", "ternary", "hasPrefix", "hasSuffix", "contains"}

// lookups are the uses of labels and annotations in a template: fields, which
// have to be there, and index, which has to give something unless its result is
// only looked at.
func lookups(n parse.Node) []Lookup {
	var out []Lookup
	var visit func(n parse.Node, asked bool)
	visit = func(n parse.Node, asked bool) {
		switch n := n.(type) {
		case *parse.ListNode:
			if n != nil {
				for _, item := range n.Nodes {
					visit(item, false)
				}
			}
		case *parse.ActionNode:
			visit(n.Pipe, false)
		case *parse.IfNode:
			out = append(out, branches(&n.BranchNode)...)
		case *parse.WithNode:
			out = append(out, branches(&n.BranchNode)...)
		case *parse.RangeNode:
			out = append(out, branches(&n.BranchNode)...)
		case *parse.PipeNode:
			for i, command := range n.Cmds {
				visit(command, asked || slices.ContainsFunc(n.Cmds[i+1:], isTolerant))
			}
		case *parse.CommandNode:
			if l, ok := indexed(n); ok && !asked {
				out = append(out, l)
			}
			for _, argument := range n.Args {
				visit(argument, asked || isTolerant(n))
			}
		case *parse.ChainNode:
			visit(n.Node, asked)
		default:
			if l, ok := field(n); ok {
				out = append(out, l)
			}
		}
	}
	visit(n, false)
	return out
}

// branches are the lookups of a condition or loop. What is only asked for need
// not be there.
func branches(n *parse.BranchNode) []Lookup {
	asked := slices.DeleteFunc(lookups(n.Pipe), func(l Lookup) bool { return l.Silent })
	out := append(asked, lookups(n.List)...)
	if n.ElseList != nil {
		out = append(out, lookups(n.ElseList)...)
	}
	return out
}

func isTolerant(command *parse.CommandNode) bool {
	name, ok := command.Args[0].(*parse.IdentifierNode)
	return ok && slices.Contains(tolerant, name.Ident)
}

// field is the lookup of .metadata.labels.x, or with $ before it.
func field(n parse.Node) (Lookup, bool) {
	var parts []string
	switch n := n.(type) {
	case *parse.FieldNode:
		parts = n.Ident
	case *parse.VariableNode:
		parts = n.Ident[1:]
	}
	if len(parts) < 3 || parts[0] != "metadata" || !isPart(parts[1]) {
		return Lookup{}, false
	}
	return Lookup{Part: parts[1], Key: parts[2]}, true
}

// indexed is the lookup of index .metadata.labels "x".
func indexed(command *parse.CommandNode) (Lookup, bool) {
	name, ok := command.Args[0].(*parse.IdentifierNode)
	if !ok || name.Ident != "index" || len(command.Args) != 3 {
		return Lookup{}, false
	}
	key, ok := command.Args[2].(*parse.StringNode)
	if !ok {
		return Lookup{}, false
	}
	var parts []string
	switch of := command.Args[1].(type) {
	case *parse.FieldNode:
		parts = of.Ident
	case *parse.VariableNode:
		parts = of.Ident[1:]
	}
	if len(parts) != 2 || parts[0] != "metadata" || !isPart(parts[1]) {
		return Lookup{}, false
	}
	return Lookup{Part: parts[1], Key: key.Text, Silent: true}, true
}

func isPart(name string) bool { return name == "labels" || name == "annotations" }

// How text/template names what a map lacks and a function that there is not, and
// what it writes before the cause of an error.
var (
	missingKey      = regexp.MustCompile(`map has no entry for key ("(?:[^"\\]|\\.)*")$`)
	unknownFunction = regexp.MustCompile(`function ("(?:[^"\\]|\\.)*") not defined$`)
	templateStart   = regexp.MustCompile(`^template: [^ ]*:\d+(:\d+)?: (executing "[^"]*" at )?`)
)

// MissingKey is the key that a template uses and no map has, if an error says so.
func MissingKey(err error) (string, bool) { return quoted(missingKey, err) }

// UnknownFunction is the function that there is not, if an error says so.
func UnknownFunction(err error) (string, bool) { return quoted(unknownFunction, err) }

// Cause is an error of a template without the place in the template.
func Cause(err error) string { return templateStart.ReplaceAllString(err.Error(), "") }

func quoted(pattern *regexp.Regexp, err error) (string, bool) {
	m := pattern.FindStringSubmatch(err.Error())
	if m == nil {
		return "", false
	}
	text, err := strconv.Unquote(m[1])
	return text, err == nil
}
