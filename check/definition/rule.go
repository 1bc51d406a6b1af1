package definition

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"tombolo/check/manifest"
	"tombolo/check/tree"
)

// rule is a condition that a definition has for a mapping, in the Common Expression Language. Those of Flux's kinds compare
// fields and ask whether they are there: they read as expressions of Go, once quotes are double and type is no word of Go's.
type rule struct {
	Message string `json:"message"`
	Rule    string `json:"rule"`
}

func rulesOf(schema *spec.Schema) (out []rule) {
	text, err := json.Marshal(schema.Extensions["x-kubernetes-validations"])
	if err != nil || json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}

// holds evaluates the rule for a mapping.
func (r rule) holds(n *yaml.Node, schema *spec.Schema) (bool, error) {
	expression, err := parser.ParseExpr(strings.NewReplacer("'", `"`, "self.type", "self."+typeField).Replace(r.Rule))
	if err != nil {
		return false, err
	}
	value, err := scope{n, schema}.evaluate(expression)
	return value == true, err
}

// typeField stands for the field type.
const typeField = "type_"

func nameOf(e *ast.SelectorExpr) string { return strings.TrimSuffix(e.Sel.Name, "_") }

// scope is what self is in a rule.
type scope struct {
	self   *yaml.Node
	schema *spec.Schema
}

// evaluate returns a bool, a string or an int.
func (s scope) evaluate(e ast.Expr) (any, error) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return s.evaluate(e.X)
	case *ast.BasicLit:
		if e.Kind == token.INT {
			return strconv.Atoi(e.Value)
		}
		return strconv.Unquote(e.Value)
	case *ast.UnaryExpr:
		value, err := s.evaluate(e.X)
		if is, ok := value.(bool); ok && e.Op == token.NOT {
			return !is, err
		}
	case *ast.BinaryExpr:
		return s.compare(e)
	case *ast.SelectorExpr:
		switch n, fallback := s.field(e); {
		case n != nil && !strings.Contains(n.Value, manifest.Unset):
			return n.Value, nil
		case n == nil && fallback != nil:
			return fallback, nil
		}
	case *ast.CallExpr:
		return s.call(e)
	}
	return nil, fmt.Errorf("%T cannot be evaluated", e)
}

// compare evaluates the right side only where the left one does not decide.
func (s scope) compare(e *ast.BinaryExpr) (any, error) {
	left, err := s.evaluate(e.X)
	if err != nil {
		return nil, err
	}
	if e.Op == token.LAND && left == false || e.Op == token.LOR && left == true {
		return left, nil
	}
	right, err := s.evaluate(e.Y)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case token.LAND, token.LOR:
		return right, nil
	case token.EQL:
		return left == right, nil
	case token.NEQ:
		return left != right, nil
	case token.GTR:
		a, isInt := left.(int)
		b, areInts := right.(int)
		if isInt && areInts {
			return a > b, nil
		}
	}
	return nil, fmt.Errorf("%s cannot be evaluated", e.Op)
}

func (s scope) call(e *ast.CallExpr) (any, error) {
	name, ok := e.Fun.(*ast.Ident)
	if !ok || len(e.Args) != 1 {
		return nil, fmt.Errorf("%T cannot be called", e.Fun)
	}
	n, fallback := s.field(e.Args[0])
	switch name.Name {
	case "has":
		return n != nil || fallback != nil, nil
	case "size":
		if n != nil && n.Kind == yaml.SequenceNode {
			return len(n.Content), nil
		}
	}
	return nil, fmt.Errorf("%s cannot be evaluated", name.Name)
}

// field is what a path from self leads to, and the default where nothing is there.
func (s scope) field(e ast.Expr) (n *yaml.Node, fallback any) {
	of, ok := e.(*ast.SelectorExpr)
	if !ok {
		return nil, nil
	}
	parent, schema := s.self, s.schema
	if _, isSelf := of.X.(*ast.Ident); !isSelf {
		inner, ok := of.X.(*ast.SelectorExpr)
		if !ok {
			return nil, nil
		}
		parent, _ = s.field(inner)
		below := s.schema.Properties[nameOf(inner)] // rules go two fields deep
		schema = &below
	}
	if n := tree.Child(parent, nameOf(of)); n != nil && TypeOf(n) != Null {
		return n, nil
	}
	return nil, schema.Properties[nameOf(of)].Default
}
