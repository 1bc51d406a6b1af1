package contract

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	gosync "sync"
	"text/template"
	"text/template/parse"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

// templateFunctions are those that ApplicationSets of Argo CD 3 have: sprig's
// without a view of the controller's environment, and a few more.
var templateFunctions = gosync.OnceValue(func() template.FuncMap {
	functions := template.FuncMap(sprig.GenericFuncMap())
	for _, name := range []string{"env", "expandenv", "getHostByName"} {
		delete(functions, name)
	}
	maps.Copy(functions, template.FuncMap{
		"normalize": normalize,
		"slugify":   func(arguments ...any) string { return normalize(asText(arguments)) },
		"toYaml": func(v any) (string, error) {
			text, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"fromYaml":      decode[map[string]any],
		"fromYamlArray": decode[[]any],
	})
	return functions
})

var notInNames = regexp.MustCompile(`[^-a-z0-9.]`)

// normalize makes a text a name of an object.
func normalize(name string) string {
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

// lookup is something of a registration that a template uses.
type lookup struct {
	// part is labels or annotations.
	part, key string
	// silent lookups of what is missing give an empty text, others an error.
	silent bool
}

// rendered is what a template became.
type rendered struct {
	text string
	// missing are the lookups of what the cluster's registration lacks.
	missing []lookup
	// err says that it cannot be rendered for another reason.
	err error
}

// missingKey is how text/template names what a map lacks.
var missingKey = regexp.MustCompile(`map has no entry for key ("(?:[^"\\]|\\.)*")$`)

// renderTemplate does with a text of an ApplicationSet what Argo CD does. What is
// missing becomes unset, so that everything that is can be told.
func renderTemplate(text string, parameters map[string]any) rendered {
	if !strings.Contains(text, "{{") {
		return rendered{text: text}
	}
	t, err := template.New("").Funcs(templateFunctions()).Option("missingkey=error").Parse(text)
	if err != nil {
		return rendered{err: err}
	}
	var out rendered
	used := lookups(t.Root)
	parameters = withOwnMetadata(parameters)
	for _, l := range used {
		if present := registered(parameters, l.part); l.silent && present != nil {
			if _, ok := present[l.key]; !ok {
				out.missing = append(out.missing, l)
			}
		}
	}
	for {
		var b strings.Builder
		err := t.Execute(&b, parameters)
		if err == nil {
			out.text = b.String()
			return out
		}
		l, ok := missingLookup(err, used)
		present := registered(parameters, l.part)
		if !ok || present == nil {
			out.err = err
			return out
		}
		out.missing = append(out.missing, l)
		present[l.key] = unset
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
func missingLookup(err error, used []lookup) (lookup, bool) {
	m := missingKey.FindStringSubmatch(err.Error())
	if m == nil {
		return lookup{}, false
	}
	key, err := strconv.Unquote(m[1])
	at := slices.IndexFunc(used, func(l lookup) bool { return !l.silent && l.key == key })
	if err != nil || at < 0 {
		return lookup{}, false
	}
	return used[at], true
}

// registered are the labels or annotations among a template's parameters.
func registered(parameters map[string]any, part string) map[string]string {
	metadata, _ := parameters["metadata"].(map[string]any)
	found, _ := metadata[part].(map[string]string)
	return found
}

// tolerant are functions that are asked whether there is something: index may
// give them nothing.
var tolerant = []string{"eq", "ne", "and", "or", "not", "default", "coalesce", "empty", "ternary", "hasPrefix", "hasSuffix", "contains"}

// lookups are the uses of labels and annotations in a template: fields, which
// have to be there, and index, which has to give something unless its result is
// only looked at.
func lookups(n parse.Node) []lookup {
	var out []lookup
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
func branches(n *parse.BranchNode) []lookup {
	asked := slices.DeleteFunc(lookups(n.Pipe), func(l lookup) bool { return l.silent })
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
func field(n parse.Node) (lookup, bool) {
	var parts []string
	switch n := n.(type) {
	case *parse.FieldNode:
		parts = n.Ident
	case *parse.VariableNode:
		parts = n.Ident[1:]
	}
	if len(parts) < 3 || parts[0] != "metadata" || !isPart(parts[1]) {
		return lookup{}, false
	}
	return lookup{part: parts[1], key: parts[2]}, true
}

// indexed is the lookup of index .metadata.labels "x".
func indexed(command *parse.CommandNode) (lookup, bool) {
	name, ok := command.Args[0].(*parse.IdentifierNode)
	if !ok || name.Ident != "index" || len(command.Args) != 3 {
		return lookup{}, false
	}
	key, ok := command.Args[2].(*parse.StringNode)
	if !ok {
		return lookup{}, false
	}
	var parts []string
	switch of := command.Args[1].(type) {
	case *parse.FieldNode:
		parts = of.Ident
	case *parse.VariableNode:
		parts = of.Ident[1:]
	}
	if len(parts) != 2 || parts[0] != "metadata" || !isPart(parts[1]) {
		return lookup{}, false
	}
	return lookup{part: parts[1], key: key.Text, silent: true}, true
}

func isPart(name string) bool { return name == "labels" || name == "annotations" }
