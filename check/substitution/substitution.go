// Package substitution substitutes variables in manifests as Flux does, and finds
// their uses.
package substitution

import (
	"maps"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"github.com/fluxcd/pkg/envsubst/parse"

	"tombolo/check/manifest"
)

// Use of a variable in a text.
type Use struct {
	Name string
	How  How
}

// How a variable is used decides what a missing one becomes.
type How int

// The manners, the gravest last.
const (
	// Defaulted is ${x:=y} and its kin: y takes its place.
	Defaulted How = iota
	// Changed is ${x^^}, ${x/a/b} and such: without the variable the result is
	// empty, and not even strict substitution says so.
	Changed
	// Plain is ${x}: strict substitution stops at a variable that is not there.
	Plain
)

// Uses are the variables that Flux would substitute in a text.
func Uses(text string) ([]Use, error) {
	tree, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	var out []Use
	collect(tree.Root, &out)
	return out, nil
}

func collect(node parse.Node, out *[]Use) {
	switch n := node.(type) {
	case *parse.ListNode:
		for _, item := range n.Nodes {
			collect(item, out)
		}
	case *parse.FuncNode:
		for _, argument := range n.Args {
			collect(argument, out)
		}
		*out = append(*out, Use{n.Param, manner(n.Name)})
	}
}

func manner(function string) How {
	switch function {
	case "":
		return Plain
	case "=", ":=", ":-", ":?", ":+", "-", "+":
		return Defaulted
	default:
		return Changed
	}
}

// Variables are those that a Flux Kustomization substitutes.
type Variables struct {
	// Values by name.
	Values map[string]string
	// Substituting says that Flux substitutes at all.
	Substituting bool
	// Open says that a source holds keys that are not known here.
	Open bool
}

// Has says whether a variable is there, or may be.
func (v Variables) Has(name string) bool {
	_, ok := v.Values[name]
	return ok || v.Open
}

// Names of the variables, sorted.
func (v Variables) Names() []string { return slices.Sorted(maps.Keys(v.Values)) }

// Set takes a value as Flux does: without line breaks.
func (v Variables) Set(name, value string) { v.Values[name] = strings.ReplaceAll(value, "\n", "") }

// Evaluate substitutes what is there; what is missing becomes manifest.Unset,
// unless it has a default.
func (v Variables) Evaluate(text string) (string, error) {
	all, err := Uses(text)
	if err != nil {
		return "", err
	}
	missing := map[string]bool{}
	for _, u := range all {
		if _, ok := v.Values[u.Name]; !ok && u.How != Defaulted {
			missing[u.Name] = true
		}
	}
	return envsubst.Eval(text, func(name string) (string, bool) {
		if missing[name] {
			return manifest.Unset, true
		}
		return v.Values[name], true
	})
}
