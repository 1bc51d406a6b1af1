package contract

import (
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"github.com/fluxcd/pkg/envsubst/parse"
)

// use of a variable in a text.
type use struct {
	name string
	how  how
}

// how a variable is used decides what becomes of it when it is not there.
type how int

// The manners, the gravest last.
const (
	// defaulted is ${x:=y} and its kin: y takes its place.
	defaulted how = iota
	// changed is ${x^^}, ${x/a/b} and such: without the variable the result is
	// empty, and not even strict substitution says so.
	changed
	// plain is ${x}: strict substitution stops at a variable that is not there.
	plain
)

// unset stands for a variable that is missing, so that what it is in can be
// read on. What holds it is not judged: its own finding is there already.
const unset = "unset-variable-of-tombolo-check"

// uses are the variables that Flux would substitute in a text.
func uses(text string) ([]use, error) {
	tree, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	var out []use
	collect(tree.Root, &out)
	return out, nil
}

func collect(node parse.Node, out *[]use) {
	switch n := node.(type) {
	case *parse.ListNode:
		for _, item := range n.Nodes {
			collect(item, out)
		}
	case *parse.FuncNode:
		for _, argument := range n.Args {
			collect(argument, out)
		}
		*out = append(*out, use{n.Param, manner(n.Name)})
	}
}

func manner(function string) how {
	switch function {
	case "":
		return plain
	case "=", ":=", ":-", ":?", ":+", "-", "+":
		return defaulted
	default:
		return changed
	}
}

// variables are the values that a Flux Kustomization substitutes.
type variables struct {
	values map[string]string
	// substituting says that Flux substitutes at all.
	substituting bool
	// open says that a source holds keys that nobody can know here.
	open bool
}

// has says whether a variable is there, or may be.
func (v variables) has(name string) bool {
	_, ok := v.values[name]
	return ok || v.open
}

func (v variables) names() []string {
	out := make([]string, 0, len(v.values))
	for name := range v.values {
		out = append(out, name)
	}
	return out
}

// set takes a value as Flux does: without line breaks.
func (v variables) set(name, value string) { v.values[name] = strings.ReplaceAll(value, "\n", "") }

// evaluate substitutes what is there; what is missing becomes unset, unless it
// has a default.
func (v variables) evaluate(text string) (string, error) {
	all, err := uses(text)
	if err != nil {
		return "", err
	}
	missing := map[string]bool{}
	for _, u := range all {
		if _, ok := v.values[u.name]; !ok && u.how != defaulted {
			missing[u.name] = true
		}
	}
	return envsubst.Eval(text, func(name string) (string, bool) {
		if missing[name] {
			return unset, true
		}
		return v.values[name], true
	})
}
