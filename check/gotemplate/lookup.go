package gotemplate

import (
	"slices"
	"text/template/parse"
)

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
