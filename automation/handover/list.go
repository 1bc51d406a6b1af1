package handover

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"gopkg.in/yaml.v3"
)

// List is a directory's kustomization file, and what it must list.
type List struct {
	// Dir in the repository.
	Dir string
	// Resources that must be among those of the file. Others stay, and so do
	// order and comments.
	Resources []string
	// Create the file where there is none. Otherwise its absence means that
	// everything in the directory is taken.
	Create bool
}

// kustomizations are the names that a kustomization file may have.
func kustomizations() []string {
	return []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}
}

// write changes the file, and returns its path; "" when there is nothing to do.
func (l List) write(root *os.Root) (string, error) {
	for _, name := range kustomizations() {
		file := path.Join(l.Dir, name)
		text, err := root.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return file, err
		}
		added, err := addResources(text, l.Resources)
		if err != nil {
			return file, err
		}
		return file, root.WriteFile(file, added, 0o644)
	}
	if !l.Create {
		return "", nil
	}
	file := path.Join(l.Dir, kustomizations()[0])
	text, err := addResources([]byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"), l.Resources)
	if err != nil {
		return file, err
	}
	return file, root.WriteFile(file, text, 0o644)
}

// addResources adds what is missing to a kustomization's resources. A text that
// lists everything comes back as it was, byte by byte.
func addResources(text []byte, resources []string) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if document.Kind == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it is no kustomization: expected a mapping with resources")
	}
	list := resourcesOf(document.Content[0])
	if list.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("line %d: resources is no list", list.Line)
	}
	changed := false
	for _, name := range resources {
		if !slices.ContainsFunc(list.Content, func(n *yaml.Node) bool { return path.Clean(n.Value) == path.Clean(name) }) {
			list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name})
			changed = true
		}
	}
	if !changed {
		return text, nil
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// resourcesOf is the list of a kustomization, which is added if it is missing.
func resourcesOf(kustomization *yaml.Node) *yaml.Node {
	for i := 0; i+1 < len(kustomization.Content); i += 2 {
		if kustomization.Content[i].Value != "resources" {
			continue
		}
		value := kustomization.Content[i+1]
		if value.Tag == "!!null" { // "resources:" with nothing after it
			*value = yaml.Node{Kind: yaml.SequenceNode}
		}
		return value
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	kustomization.Content = append(kustomization.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "resources"}, list)
	return list
}
