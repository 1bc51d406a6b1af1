// Package kustomization edits the lists of kustomization files that people
// maintain too: what they wrote stays as it is.
package kustomization

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"

	"gopkg.in/yaml.v3"
)

// Names are the names that a kustomization file may have, the usual one first.
func Names() []string {
	return []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}
}

// Edit adds entries to the resources of a kustomization file and removes
// others. An entry that is there under another spelling, such as ./a for a, is
// there. Comments, order and everything else stay; when nothing changes, so does
// every byte. Text that is no kustomization is refused with the reason.
func Edit(text []byte, add, remove []string) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if document.Kind == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("is no kustomization: expected a mapping with resources")
	}
	list, err := resources(document.Content[0])
	if err != nil {
		return nil, err
	}
	if !edit(list, add, remove) {
		return text, nil
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(&document), encoder.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// resources is the list of a kustomization, which is added if it is missing.
func resources(root *yaml.Node) (*yaml.Node, error) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != "resources" {
			continue
		}
		list := root.Content[i+1]
		if list.Tag == "!!null" { // "resources:" with nothing after it
			list.Kind, list.Tag, list.Value = yaml.SequenceNode, "!!seq", ""
		}
		if list.Kind != yaml.SequenceNode {
			return nil, fmt.Errorf("line %d: resources is no list", list.Line)
		}
		return list, nil
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	root.Content = append(root.Content, scalar("resources"), list)
	return list, nil
}

// edit changes a list, and says whether there was anything to change.
func edit(list *yaml.Node, add, remove []string) (changed bool) {
	before := len(list.Content)
	list.Content = slices.DeleteFunc(list.Content, func(n *yaml.Node) bool {
		return slices.ContainsFunc(remove, func(entry string) bool { return same(n.Value, entry) })
	})
	changed = len(list.Content) != before
	for _, entry := range add {
		if slices.ContainsFunc(list.Content, func(n *yaml.Node) bool { return same(n.Value, entry) }) {
			continue
		}
		list.Content = append(list.Content, scalar(entry))
		changed = true
	}
	switch {
	case len(list.Content) == 0:
		list.Style = yaml.FlowStyle // an empty list has no other form
	case before == 0:
		list.Style = 0
	}
	return changed
}

func same(a, b string) bool { return path.Clean(a) == path.Clean(b) }

func scalar(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}
