package main

import (
	"bytes"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
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
	g := newGraph(len(p.GoFiles))
	for _, file := range p.Syntax {
		from, ok := index[p.Fset.Position(file.Package).Filename]
		if !ok {
			continue
		}
		for to := range uses(p, file, index) {
			g.add(from, to)
		}
	}
	r.arrows, r.back = g.arrows(), g.back()
	return r, nil
}

// uses are the other files whose definitions a file uses: functions, types,
// methods, fields, variables and constants of the package.
func uses(p *packages.Package, file *ast.File, index map[string]int) map[int]bool {
	out := map[int]bool{}
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
				out[to] = true
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
