package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// measure reads the arrows of a package from what its files use of each other.
func measure(p *packages.Package) (room, error) {
	r := room{path: strings.TrimPrefix(p.PkgPath, "tombolo/")}
	index := map[string]int{}
	for i, name := range p.GoFiles {
		index[name] = i
		n, err := lines(name)
		if err != nil {
			return room{}, err
		}
		r.files, r.lines = r.files+1, r.lines+n
	}
	if len(p.GoFiles) > 0 {
		tests, err := filepath.Glob(filepath.Join(filepath.Dir(p.GoFiles[0]), "*_test.go"))
		if err != nil {
			return room{}, err
		}
		for _, name := range tests {
			n, err := lines(name)
			if err != nil {
				return room{}, err
			}
			r.testLines += n
		}
	}
	g, names := newGraph(len(p.GoFiles)), map[edge][]string{}
	for _, file := range p.Syntax {
		from, ok := index[p.Fset.Position(file.Package).Filename]
		if !ok {
			continue
		}
		for to, used := range uses(p, file, index) {
			g.add(from, to)
			names[edge{from, to}] = slices.Sorted(maps.Keys(used))
		}
	}
	r.arrows = g.arrows()
	for _, e := range g.back() {
		r.back = append(r.back, fmt.Sprintf("%s → %s: %s", filepath.Base(p.GoFiles[e.from]), filepath.Base(p.GoFiles[e.to]), strings.Join(names[e], ", ")))
	}
	return r, nil
}

// uses are the names that a file uses of each other file: functions, types, methods,
// fields, variables and constants of the package.
func uses(p *packages.Package, file *ast.File, index map[string]int) map[int]map[string]bool {
	out := map[int]map[string]bool{}
	own := p.Fset.Position(file.Package).Filename
	ast.Inspect(file, func(n ast.Node) bool {
		ident, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		object := p.TypesInfo.Uses[ident]
		if object == nil || object.Pkg() != p.Types || object.Pos() == token.NoPos || local(object) {
			return true
		}
		if name := p.Fset.Position(object.Pos()).Filename; name != own {
			if to, ok := index[name]; ok {
				if out[to] == nil {
					out[to] = map[string]bool{}
				}
				out[to][object.Name()] = true
			}
		}
		return true
	})
	return out
}

// local says that nothing outside a function can use the object.
func local(object types.Object) bool {
	scope := object.Parent()
	return scope != nil && scope != object.Pkg().Scope()
}

func lines(name string) (int, error) {
	text, err := os.ReadFile(name)
	return bytes.Count(text, []byte("\n")), err
}
