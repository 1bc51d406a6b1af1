package contract

import (
	"os"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// at reports a finding at a place of the tree.
func (w *walk) at(p place, f Finding) {
	f.File, f.Line, f.Column = w.files.shown(p.file), p.line, p.column
	w.findings = append(w.findings, finding{Finding: f})
}

func (w *walk) note(p place, message string) {
	w.at(p, Finding{Severity: Note, Message: message})
}

// refer reports a finding about a value of an object that comes from the build
// of a Kustomization, at the value's place in the files of that build.
func (w *walk) refer(in *sync, object manifest, what wanted, f Finding) {
	if strings.Contains(what.value, unset) {
		return
	}
	what.object = object
	for s := in; s != nil; s = s.parent {
		if p, ok := w.files.field(s.read, what, s.plainText); ok {
			w.at(p, f)
			return
		}
	}
	w.at(place{file: in.dir()}, f)
}

// plainText is a text of the files after substitution, or the text itself when
// it cannot be substituted.
func (s *sync) plainText(text string) string {
	if !s.vars.substituting || !strings.Contains(text, "$") {
		return text
	}
	out, err := s.vars.evaluate(text)
	if err != nil {
		return text
	}
	return out
}

// dir is where a Kustomization's files are.
func (s *sync) dir() string {
	if s == nil {
		return "."
	}
	return relative(s.Spec.Path)
}

// occurring reports a finding at all places where something occurs in the
// files of a Kustomization's build. What is in none of them came with the
// Kustomization itself, from the files of its parent, where it may have been
// escaped from the parent's own substitution.
func (w *walk) occurring(s *sync, find func(escaped bool) finder, f Finding) {
	for from := s; from != nil; from = from.parent {
		var places, texts []place
		for _, name := range from.read {
			places = append(places, w.files.occurrences(name, find(from != s))...)
			texts = append(texts, w.files.inText(name, find(from != s))...)
		}
		if len(places) == 0 {
			places = texts
		}
		if len(places) == 0 {
			continue
		}
		slices.SortFunc(places, byPlace)
		f.Places = len(slices.Compact(places))
		w.at(places[0], f)
		return
	}
	w.at(place{file: s.dir()}, f)
}

// inClusterFile reports a finding about a setting of the cluster file.
func (w *walk) inClusterFile(setting []string, f Finding) {
	f.File = w.published.File
	if text, err := os.ReadFile(f.File); err == nil {
		f.Line, f.Column = settingPlace(text, setting)
	}
	w.findings = append(w.findings, finding{Finding: f, general: true})
}

// settingPlace is where a cluster file has a setting: keys of mappings, and
// names of the items of lists.
func settingPlace(text []byte, setting []string) (line, column int) {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) != 1 {
		return 0, 0
	}
	n := doc.Content[0]
	for _, part := range setting {
		key, below := step(n, part)
		if below == nil {
			return line, column
		}
		line, column, n = key.Line, key.Column, below
	}
	return line, column
}

// step goes from a node to the one below a key, or to the item of that name.
func step(n *yaml.Node, part string) (key, below *yaml.Node) {
	for i, item := range n.Content {
		switch {
		case n.Kind == yaml.MappingNode && i%2 == 0 && item.Value == part:
			return item, n.Content[i+1]
		case n.Kind == yaml.SequenceNode:
			if name := child(item, "name"); name != nil && name.Value == part {
				return name, item
			}
		}
	}
	return nil, nil
}
