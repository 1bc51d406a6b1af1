package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// editList adds entries to the resources of a kustomization and removes others.
// Comments, order and everything else stay; when nothing changes, so does every
// byte.
func editList(content []byte, add, remove []string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("is no kustomization: expected a mapping")
	}
	list, err := resources(doc.Content[0])
	if err != nil {
		return nil, err
	}
	if !editItems(list, add, remove) {
		return content, nil
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(&doc), encoder.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// resources is the list of a kustomization, which is added if need be.
func resources(root *yaml.Node) (*yaml.Node, error) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != "resources" {
			continue
		}
		list := root.Content[i+1]
		if list.Kind != yaml.SequenceNode {
			return nil, fmt.Errorf("line %d: resources is no list", list.Line)
		}
		return list, nil
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "resources"}, list)
	return list, nil
}

func editItems(list *yaml.Node, add, remove []string) bool {
	before := len(list.Content)
	list.Content = slices.DeleteFunc(list.Content, func(n *yaml.Node) bool { return slices.Contains(remove, n.Value) })
	changed := len(list.Content) != before
	for _, entry := range add {
		if slices.ContainsFunc(list.Content, func(n *yaml.Node) bool { return n.Value == entry }) {
			continue
		}
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: entry})
		changed = true
	}
	if changed {
		list.Style = 0
		if len(list.Content) == 0 {
			list.Style = yaml.FlowStyle
		}
	}
	return changed
}
