package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// found is a test of the lab in the source.
type found struct {
	Package, Test, File string
	// Tier and Why are what its first statement says; Calls is how many such calls it has.
	Tier, Why string
	Calls     int
}

// noTest are functions that go test takes for tests of the lab, and why they are none.
func noTest() map[string]string {
	return map[string]string{"TestDriverToBeKilled": "the driver that TestKilledAtRandomMoments kills, in a process of its own"}
}

// scan finds the tests that have the build tag lab, in all packages below a directory.
func scan(root string) ([]found, error) {
	var all []found
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"bin", "node_modules", "testdata"}, entry.Name())):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(text), "//go:build lab\n") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		tests, err := testsIn(filepath.ToSlash(name), text)
		all = append(all, tests...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking for the tests of the lab: %w", err)
	}
	return all, nil
}

// testsIn are the tests of a file.
func testsIn(name string, text []byte) ([]found, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []found
	for _, declaration := range parsed.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Body == nil || !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == "TestMain" || noTest()[f.Name.Name] != "" {
			continue
		}
		t := found{Package: filepath.ToSlash(filepath.Dir(name)), Test: f.Name.Name, File: name}
		if len(f.Body.List) > 0 {
			if s, ok := f.Body.List[0].(*ast.ExprStmt); ok {
				t.Tier, t.Why = tierOf(s.X)
			}
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if tier, _ := tierOf(e); tier != "" {
					t.Calls++
				}
			}
			return true
		})
		all = append(all, t)
	}
	return all, nil
}

// tierOf is the tier that a call names, with its reason; "" for what is no such call.
func tierOf(e ast.Expr) (tier, why string) {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) < 2 {
		return "", ""
	}
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if in, ok := of.X.(*ast.Ident); !ok || in.Name != "tier" {
		return "", ""
	}
	if literal, ok := call.Args[1].(*ast.BasicLit); ok {
		why, _ = strconv.Unquote(literal.Value)
	}
	return strings.ToLower(of.Sel.Name), why
}
