package handover

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"tombolo/automation/fault"
	"tombolo/platform/kustomization"
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

// write changes the file, and returns its path; "" when there is nothing to do.
func (l List) write(root *os.Root) (string, error) {
	for _, name := range kustomization.Names() {
		file := path.Join(l.Dir, name)
		text, err := root.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return file, err
		}
		added, err := kustomization.Edit(text, l.Resources, nil)
		if err != nil {
			return file, err
		}
		return file, root.WriteFile(file, added, 0o644)
	}
	if !l.Create {
		if _, err := root.Stat(path.Join(l.Dir, "Chart.yaml")); err == nil {
			return "", &fault.Error{
				What:   l.Dir + " is a Helm chart, and no directory of manifests",
				Remedy: "have gitops.path lead to a directory of manifests, or to a kustomization",
			}
		}
		return "", nil
	}
	file := path.Join(l.Dir, kustomization.Names()[0])
	text, err := kustomization.Edit([]byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"), l.Resources, nil)
	if err != nil {
		return file, err
	}
	return file, root.WriteFile(file, text, 0o644)
}
