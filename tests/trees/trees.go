// Package trees makes platform trees from a seed: of what the engines accept, by a small grammar, and
// with the faults that people make. The same seed makes the same trees.
package trees

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
)

// Tree is a part of a repository that an engine follows from one directory on.
type Tree struct {
	// Name is that of its directory, its namespace, and how the names of its objects begin.
	Name string
	// Fault is what was done to it, such as "a quote is missing"; "" for a tree as the grammar has it.
	Fault string
	// Where is the file and line of the fault, and what stands there now.
	Where string
	// Files by their paths in the repository.
	Files map[string]string
}

// Start is the directory that the engine begins at.
func (t Tree) Start() string { return path.Join(t.Name, "start") }

// String is the whole tree as text.
func (t Tree) String() string {
	var b strings.Builder
	for _, name := range t.names() {
		fmt.Fprintf(&b, "-- %s --\n%s", name, t.Files[name])
	}
	return b.String()
}

// names are the paths of its files, sorted: maps have no order, and a seed has to repeat.
func (t Tree) names() []string { return slices.Sorted(maps.Keys(t.Files)) }

// Make makes trees for an engine. Of three, one is as the grammar has it, and two have a fault. Each has
// random numbers of its own, so that a tree stays what it is when more are made.
func Make(engine Engine, seed uint64, count int) []Tree {
	prefix, grammar := "f", fluxTree
	if engine == ArgoCD {
		prefix, grammar = "a", argocdTree
	}
	out := make([]Tree, count)
	for i := range out {
		m := &maker{
			Rand: rand.New(rand.NewPCG(seed, uint64(i))), //nolint:gosec // it has to repeat
			tree: Tree{Name: fmt.Sprintf("%s%03d", prefix, i+1), Files: map[string]string{}},
		}
		grammar(m)
		if i%3 > 0 {
			m.spoil(i)
		}
		out[i] = m.tree
	}
	return out
}

// maker makes one tree.
type maker struct {
	*rand.Rand
	tree Tree
}

// chance is true so many times of a hundred.
func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

// one of several.
func one[T any](m *maker, of ...T) T { return of[m.IntN(len(of))] }

// write adds a file, by its path in the tree. NAME stands for the tree's name.
func (m *maker) write(name string, documents ...string) {
	text := strings.Join(documents, "---\n")
	m.tree.Files[path.Join(m.tree.Name, name)] = strings.ReplaceAll(text, "NAME", m.tree.Name)
}
