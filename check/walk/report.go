package walk

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/published"
	"tombolo/check/tree"
)

// At reports a finding at a place of the tree.
func (w *Walk) At(p tree.Place, f finding.Finding) {
	f.File, f.Line, f.Column = path.Join(w.Name, p.File), p.Line, p.Column
	w.Findings = append(w.Findings, finding.OfCluster{Finding: f})
}

// Note reports something that needs no change.
func (w *Walk) Note(p tree.Place, message string) {
	w.At(p, finding.Notef("%s", message))
}

// Refer reports a finding about a value of an object that comes from a build, at
// the value's place in the files of that build.
func (w *Walk) Refer(in *Origin, what tree.Wanted, f finding.Finding) {
	if strings.Contains(what.Value, manifest.Unset) {
		return
	}
	if p, ok := w.Find(in, what); ok {
		w.At(p, f)
		return
	}
	w.At(w.start(in), f)
}

// start is the directory that a build begins with. One of a composed tree has no place in the platform tree:
// then it is a file that the build read.
func (w *Walk) start(in *Origin) tree.Place {
	if in == nil || in.Source == nil {
		return tree.Place{File: in.Dir()}
	}
	if len(in.Read) > 0 {
		return w.SourceOf(in).Files.Origin(tree.Place{File: in.Read[0]})
	}
	return w.start(in.Parent)
}

// Find is where the files of a build, or of those that hold it, have a value.
func (w *Walk) Find(in *Origin, what tree.Wanted) (tree.Place, bool) {
	for o := in; o != nil; o = o.Parent {
		if p, ok := w.SourceOf(o).Files.Field(o.Read, what, o.plain); ok {
			return p, true
		}
	}
	return tree.Place{}, false
}

// Occurring reports a finding at all places where something occurs in the files
// of a build. What is in none of them came with the object that asks for the
// build, from the files of its parent, where it may have been escaped from the
// parent's own substitution.
func (w *Walk) Occurring(in *Origin, find func(escaped bool) tree.Finder, f finding.Finding) {
	for o := in; o != nil; o = o.Parent {
		if places := w.SourceOf(o).Files.Occurrences(o.Read, find(o != in)); len(places) > 0 {
			f.Places = len(places)
			w.At(places[0], f)
			return
		}
	}
	w.At(w.start(in), f)
}

// InClusterFile reports a finding about a setting of the cluster file, and returns
// it to be added to.
func (w *Walk) InClusterFile(setting []string, f finding.Finding) *finding.OfCluster {
	depth := -1
	for _, s := range append([]published.Source{{File: w.Published.File, Text: w.Published.Source}}, w.Published.Shared...) {
		if line, column, keys := settingPlace([]byte(s.Text), setting); keys > depth {
			f.File, f.Line, f.Column, depth = s.File, line, column, keys
		}
	}
	w.Findings = append(w.Findings, finding.OfCluster{Finding: f, General: true})
	return &w.Findings[len(w.Findings)-1]
}

// OpenNetwork reports that nothing keeps the network of the cluster's systems apart.
func (w *Walk) OpenNetwork() {
	if !w.Published.OpenNetwork {
		return
	}
	w.InClusterFile([]string{"kubernetes", "addons", "vpc-cni"}, finding.Warningf(
		"the cluster has systems, and nothing holds the NetworkPolicies that keep their pods apart").
		WithRemedy("set enableNetworkPolicy: \"true\" in the configuration of vpc-cni, in kubernetes.addons: see docs/guide/systems.md"))
}

// WrongStart reports that the cluster's path is not in the tree.
func (w *Walk) WrongStart() {
	p := w.Published
	w.InClusterFile([]string{"gitops", "path"}, finding.Errorf("gitops.path %q is not a directory of the platform tree", p.Path).
		WithRemedy(w.NearDir(p.Path)))
}

// EmptyStart reports that the cluster's path makes nothing: the cluster would follow it, and
// have nothing.
func (w *Walk) EmptyStart() {
	if w.Incomplete {
		return
	}
	if w.Elsewhere {
		w.InClusterFile([]string{"gitops", "path"}, finding.Warningf("nothing is checked: all that gitops.path %q makes is in none of this tree's files", w.Published.Path).
			WithRemedy("see the notes about what is not followed"))
		return
	}
	w.Incomplete = true
	w.InClusterFile([]string{"gitops", "path"}, finding.Errorf("gitops.path %q makes no objects", w.Published.Path).
		WithRemedy("add what the cluster has to follow to the directory, or correct the path"))
}

// InFile is where a YAML file of a tree has a value, by its keys, or the nearest
// of them.
func InFile(files *tree.Files, file string, keys []string) tree.Place {
	at := tree.Place{File: file}
	if text, err := files.Read(file); err == nil {
		at.Line, at.Column, _ = settingPlace(text, keys)
	}
	return at
}

// Locate is where the files have a value of an object: its first text, or the object's name where that is not found.
func (w *Walk) Locate(in *Origin, o manifest.Object, at []string, n *yaml.Node) tree.Wanted {
	what := tree.Wanted{Object: o, Path: at, Value: n.Value}
	if n.Kind != yaml.ScalarNode {
		var value any
		_ = n.Decode(&value) // what cannot be decoded has no place of its own
		what.Path, what.Value = First(at, value)
	}
	if _, ok := w.Find(in, what); !ok { // 1.40 is 1.4 once kustomize has read it
		what.Path, what.Value = []string{"metadata", "name"}, o.Metadata.Name
	}
	return what
}

// First is the first text at or below a value, with its path: maps and lists have
// no place of their own in an object's files.
func First(path []string, value any) ([]string, string) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			return First(append(slices.Clone(path), key), value[key])
		}
	case []any:
		for _, item := range value {
			return First(append(slices.Clone(path), "[]"), item)
		}
	case nil:
		return path, "null"
	}
	return path, fmt.Sprint(value)
}

// settingPlace is where a cluster file has a setting: keys of mappings, and
// names of the items of lists.
func settingPlace(text []byte, setting []string) (line, column, depth int) {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) != 1 {
		return 0, 0, 0
	}
	n := doc.Content[0]
	for _, part := range setting {
		key, below := step(n, part)
		if below == nil {
			return line, column, depth
		}
		line, column, n = key.Line, key.Column, below
		depth++
	}
	return line, column, depth
}

// step goes from a node to the one below a key, or to the item of that name.
func step(n *yaml.Node, part string) (key, below *yaml.Node) {
	for i, item := range n.Content {
		switch {
		case n.Kind == yaml.MappingNode && i%2 == 0 && item.Value == part:
			return item, n.Content[i+1]
		case n.Kind == yaml.SequenceNode:
			if name := tree.Child(item, "name"); name != nil && name.Value == part {
				return name, item
			}
		}
	}
	return nil, nil
}
