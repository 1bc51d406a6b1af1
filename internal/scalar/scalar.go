// Package scalar finds a scalar in YAML that others have written.
package scalar

import (
	"bytes"
	"errors"
	"io"

	"gopkg.in/yaml.v3"
)

// At is the scalar below some keys of a file's first document, whatever else is wrong
// with the file; "" when there is none. It follows aliases and merge keys, and looks at
// no value twice: the decoder of yaml.v3 compares each key with all others. The error says
// that the document is no YAML.
func At(content []byte, keys ...string) (string, error) {
	var doc yaml.Node
	err := yaml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")))).Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && len(doc.Content) != 1 {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	n := doc.Content[0]
	for _, key := range keys {
		if n = below(n, key, map[*yaml.Node]bool{}); n == nil {
			return "", nil
		}
	}
	if n = target(n); n.Kind != yaml.ScalarNode {
		return "", nil
	}
	return n.Value, nil
}

func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// below is the value of a key in a mapping or in one that it merges; nil for none.
func below(n *yaml.Node, key string, seen map[*yaml.Node]bool) *yaml.Node {
	n = target(n)
	if seen[n] {
		return nil
	}
	seen[n] = true
	if n.Kind == yaml.SequenceNode { // the list of a merge key
		for _, item := range n.Content {
			if found := below(item, key, seen); found != nil {
				return found
			}
		}
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind == yaml.ScalarNode && n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() == "!!merge" {
			if found := below(n.Content[i+1], key, seen); found != nil {
				return found
			}
		}
	}
	return nil
}
