// Package substitution substitutes variables in manifests as Flux does, and finds
// their uses.
package substitution

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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

// Variable looks for the uses of a variable in a text: the byte offsets of its
// ${. escaped takes those for uses that a $ before them escapes.
func Variable(variable string, escaped bool) func(text string) []int {
	opening := regexp.MustCompile(`\$\{#?` + regexp.QuoteMeta(variable))
	return func(text string) []int {
		var out []int
		for _, at := range opening.FindAllStringIndex(text, -1) {
			next, _ := utf8.DecodeRuneInString(text[at[1]:])
			if !isName(next) && (escaped || !isEscaped(text, at[0])) {
				out = append(out, at[0])
			}
		}
		return out
	}
}

// Malformed looks for ${…} that is no variable: the byte offsets in a text.
func Malformed(text string) []int {
	var out []int
	for from := 0; ; {
		at := strings.Index(text[from:], "${")
		if at < 0 {
			return out
		}
		at += from
		from = at + 2
		piece := text[at:]
		if end := strings.IndexAny(piece, "}\n"); end >= 0 {
			piece = strings.TrimSuffix(piece[:end+1], "\n")
		}
		// What is nested has more } than the piece; it is not looked into.
		if _, err := Uses(piece); err != nil && !isEscaped(text, at) && strings.Count(piece, "${") == 1 {
			out = append(out, at)
		}
	}
}

// isName says whether a rune can continue a variable's name.
func isName(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// isEscaped says whether the $ at an offset belongs to the $$ before it.
func isEscaped(text string, at int) bool {
	before := len(text[:at]) - len(strings.TrimRight(text[:at], "$"))
	return before%2 == 1
}
