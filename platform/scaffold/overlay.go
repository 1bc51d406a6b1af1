package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"tombolo/config"
	files "tombolo/internal/file"
	"tombolo/platform/kustomization"
)

// layout is where the things of an engine's tree are.
type layout struct {
	// shared is copied in any case.
	shared []string
	// ofAddon are the folders and files of an addon.
	ofAddon func(name string) []string
	// overlay writes what is of one gitops.path alone.
	overlay func(w *writer, root string, clusters []*config.Cluster) error
}

func layoutOf(clusters []*config.Cluster) layout {
	if len(clusters) > 0 && clusters[0].GitOps.Engine == config.ArgoCD {
		return argocdLayout()
	}
	return fluxLayout()
}

// byPath are the clusters by the path of the tree that their engine follows: a
// spoke's is its hub's.
func byPath(clusters []*config.Cluster) (map[string][]*config.Cluster, error) {
	named := map[string]*config.Cluster{}
	for _, c := range clusters {
		named[c.Name] = c
	}
	out := map[string][]*config.Cluster{}
	for _, c := range clusters {
		if c.GitOps.Engine != clusters[0].GitOps.Engine {
			return nil, fmt.Errorf("write the platform tree: %s follows %s, %s follows %s; write a tree for each engine",
				clusters[0].Name, clusters[0].GitOps.Engine, c.Name, c.GitOps.Engine)
		}
		home := c
		if c.HasExternalHub() {
			return nil, fmt.Errorf("write the platform tree: cluster %s follows the tree of hub %s, which others run; ask its owners for the addons", c.Name, c.Hub())
		}
		if c.IsSpoke() {
			if home = named[c.Hub()]; home == nil {
				return nil, fmt.Errorf("write the platform tree: cluster %s comes without its hub %s; give the hub too", c.Name, c.Hub())
			}
		}
		root := path.Clean(strings.TrimPrefix(home.GitOps.Path, "/"))
		out[root] = append(out[root], c)
	}
	return out, nil
}

// relative is the way from one folder of the tree to another.
func relative(from, to string) string {
	rel, err := filepath.Rel(filepath.FromSlash(from), filepath.FromSlash(to))
	if err != nil {
		panic(err) // both are below the tree's root
	}
	return filepath.ToSlash(rel)
}

// list writes a kustomization that lists resources, or adds and removes entries
// in one that exists.
func (w *writer) list(file string, h header, wanted, unwanted []string) error {
	existing, err := files.ReadInside(filepath.Join(w.dir, filepath.FromSlash(file)), files.MostOfSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return w.put(file, newList(h, wanted), false)
	}
	if err != nil {
		return err
	}
	edited, err := kustomization.Edit(existing, wanted, unwanted)
	if err != nil {
		return fmt.Errorf("%s: %w; correct the file, or remove it and run the command again", file, err)
	}
	return w.put(file, edited, true)
}

// header is what a new list has besides resources.
type header struct {
	// stage labels what the list has. The label keeps an empty one valid, and
	// tells an object's stage.
	stage string
	// components that the list takes.
	components []string
}

// newList is a kustomization of resources.
func newList(h header, resources []string) []byte {
	var b strings.Builder
	b.WriteString("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")
	if h.stage != "" {
		fmt.Fprintf(&b, "labels:\n  - pairs:\n      tombolo/stage: %s\n", h.stage)
	}
	writeItems(&b, "resources", resources)
	if len(h.components) > 0 {
		writeItems(&b, "components", h.components)
	}
	return []byte(b.String())
}

func writeItems(b *strings.Builder, key string, items []string) {
	if len(items) == 0 {
		fmt.Fprintf(b, "%s: []\n", key)
		return
	}
	fmt.Fprintf(b, "%s:\n", key)
	for _, item := range items {
		fmt.Fprintf(b, "  - %s\n", item)
	}
}
