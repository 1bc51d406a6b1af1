package contract

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	"sigs.k8s.io/kustomize/api/konfig"
)

func isKustomizationFile(name string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(name))
}

// remoteReference is what kustomize would fetch: a URL, or an address that
// only Git understands.
var remoteReference = regexp.MustCompile(`^(git::|gh:|git@|github\.com[/:]|[A-Za-z][A-Za-z0-9+.-]*://|[\w.-]+@[\w.-]+:)`)

// isRemote looks behind the name= that a generator's file may have.
func isRemote(reference string) bool {
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
	if root := doc.Content[0]; child(root, "generatorOptions") == nil {
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

// dropRemote removes the items of lists that are remote, and the patches whose
// file is.
func dropRemote(n *yaml.Node, removed func(*yaml.Node)) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		if value.Kind == yaml.SequenceNode {
			value.Content = slices.DeleteFunc(value.Content, func(item *yaml.Node) bool {
				at := loaded(key, item)
				if at == nil || !isRemote(at.Value) {
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
	return child(item, "path")
}

// child is the value of a key of a mapping, or nil.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
