package handover

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/automation/fault"
	"tombolo/platform/kustomization"
)

// Alone says which ConfigMap the pushed files have and no other file of the tree may: Argo CD applies the
// objects of each Application for the same field manager, so that of two Applications with one object each
// takes away what the other sets.
type Alone struct {
	// Tree is the directory that the cluster follows, and Except what the engine has of it for itself.
	Tree, Except string
	// ConfigMap by its name.
	ConfigMap string
}

// check refuses a repository where the tree has the ConfigMap, too. Only kustomization files lead on.
func (a Alone) check(repository fs.FS) error {
	at, found := a.in(repository, a.Tree, map[string]bool{})
	if !found {
		return nil
	}
	return &fault.Error{
		What:   fmt.Sprintf("%s has the ConfigMap %s, which would be in %s, too: each would undo what the other sets", at, a.ConfigMap, a.Except),
		Remedy: fmt.Sprintf("move its keys from there into a patch in %s/kustomization.yaml, and push again", a.Except),
	}
}

// in is the file with the ConfigMap among those that a directory's kustomization file leads to.
func (a Alone) in(repository fs.FS, dir string, seen map[string]bool) (string, bool) {
	if seen[dir] || dir == a.Except {
		return "", false
	}
	seen[dir] = true
	var list struct{ Resources, Components []string }
	for _, name := range kustomization.Names() {
		if text, err := fs.ReadFile(repository, path.Join(dir, name)); err == nil && yaml.Unmarshal(text, &list) == nil {
			break
		}
	}
	for _, entry := range slices.Concat(list.Resources, list.Components) {
		at := path.Join(dir, entry)
		if strings.Contains(entry, "://") || !fs.ValidPath(at) {
			continue // of others, or out of the repository
		}
		if text, err := fs.ReadFile(repository, at); err == nil {
			if a.declared(text) {
				return at, true
			}
		} else if file, found := a.in(repository, at, seen); found {
			return file, true
		}
	}
	return "", false
}

// declared says that a file has the ConfigMap. What cannot be read is for check to report.
func (a Alone) declared(text []byte) bool {
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var o struct {
			Kind     string
			Metadata struct{ Name string }
		}
		err := decoder.Decode(&o)
		if o.Kind == "ConfigMap" && o.Metadata.Name == a.ConfigMap {
			return true
		}
		if typed := new(yaml.TypeError); err != nil && !errors.As(err, &typed) {
			return false // its end, or no YAML
		}
	}
}
