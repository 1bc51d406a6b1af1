package kustomize

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	"sigs.k8s.io/kustomize/api/types"

	"tombolo/platform/contract/tree"
)

// remoteReference is what kustomize would fetch: a URL, or an address that
// only Git understands.
var remoteReference = regexp.MustCompile(`^(git::|gh:|git@|github\.com[/:]|[A-Za-z][A-Za-z0-9+.-]*://|[\w.-]+@[\w.-]+:)`)

// IsRemote says whether a reference of a kustomization file is one to the network.
// It looks behind the name= that a generator's file may have.
func IsRemote(reference string) bool {
	if _, file, named := strings.Cut(reference, "="); named && remoteReference.MatchString(file) {
		return true
	}
	return remoteReference.MatchString(reference)
}

// withoutRemote returns a kustomization file without what only the network
// could give, and reports each such reference.
func withoutRemote(text []byte, report func(line, column int, reference string)) ([]byte, error) {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) != 1 {
		return text, nil // kustomize says what is wrong with it
	}
	removed := false
	dropRemote(doc.Content[0], func(n *yaml.Node) {
		removed = true
		report(n.Line, n.Column, n.Value)
	})
	if !removed {
		return text, nil
	}
	if root := doc.Content[0]; tree.Child(root, "generatorOptions") == nil {
		// kustomize refuses a file that says nothing.
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "generatorOptions"}, &yaml.Node{Kind: yaml.MappingNode})
	}
	return yaml.Marshal(&doc)
}

// fetching are the lists of a kustomization file whose items kustomize loads.
var fetching = []string{
	"resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators",
	"patchesStrategicMerge", "files", "envs",
}

// Lists are the fields of a kustomization file that hold what kustomize loads.
func Lists() []string { return slices.Clone(fetching) }

// Loads returns the file or directory that a value of a kustomization file
// names.
func Loads(v tree.Value) (string, bool) {
	if v.IsKey || v.Node.Kind != yaml.ScalarNode || IsRemote(v.Node.Value) || strings.Contains(v.Node.Value, "\n") || len(v.Path) < 2 {
		return "", false
	}
	last := len(v.Path) - 1
	switch {
	case v.Path[last] == "[]" && slices.Contains(fetching, v.Path[last-1]):
		_, name, named := strings.Cut(v.Node.Value, "=")
		if !named {
			name = v.Node.Value
		}
		return name, true
	case v.Path[last] == "path" && v.Path[0] != "replacements" && len(v.Path) == 3:
		return v.Node.Value, true
	}
	return "", false
}

var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// UnknownField is a field in the text of a kustomization file that it cannot
// have, or "".
func UnknownField(text []byte) string {
	var kus types.Kustomization
	if m := unknownField.FindStringSubmatch(fmt.Sprint(kus.Unmarshal(text))); m != nil {
		return m[1]
	}
	return ""
}

// dropRemote removes the items of lists that are remote, and the patches whose
// file is.
func dropRemote(n *yaml.Node, removed func(*yaml.Node)) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		if value.Kind == yaml.SequenceNode {
			value.Content = slices.DeleteFunc(value.Content, func(item *yaml.Node) bool {
				at := loaded(key, item)
				if at == nil || !IsRemote(at.Value) {
					return false
				}
				removed(at)
				return true
			})
			for _, item := range value.Content {
				dropRemote(item, removed)
			}
		}
	}
}

// loaded is the scalar of a list's item that names something to load.
func loaded(list string, item *yaml.Node) *yaml.Node {
	if item.Kind == yaml.ScalarNode && slices.Contains(fetching, list) && !strings.Contains(item.Value, "\n") {
		return item
	}
	if list != "patches" && list != "patchesJson6902" && list != "replacements" {
		return nil
	}
	return tree.Child(item, "path")
}
