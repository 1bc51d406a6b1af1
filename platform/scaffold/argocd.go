package scaffold

import (
	"errors"
	"io/fs"
	"path"

	"tombolo/config"
	"tombolo/config/addon"
)

// appsChart is the chart of the shape app of apps.
const appsChart = "app-of-apps"

// argocdLayout has for each addon a folder of ApplicationSets and a file of the
// chart app-of-apps, and for each overlay one list of folders.
func argocdLayout() layout {
	chart := func(name string) string { return path.Join(appsChart, name) }
	return layout{
		shared: []string{"README.md", baseDir, appsDir, chart("Chart.yaml"), chart("values.yaml"), chart("templates")},
		ofAddon: func(name string) []string {
			return []string{path.Join(addonsDir, name), chart(path.Join(addonsDir, name+".yaml"))}
		},
		overlay: (*writer).applicationSetsOf,
	}
}

// applicationSetsOf writes the list of what a hub's Argo CD has for its clusters.
func (w *writer) applicationSetsOf(root string, clusters []*config.Cluster) error {
	var wanted, unwanted []string
	for _, a := range addon.All() {
		folder := path.Join(addonsDir, a.Name)
		_, err := fs.Stat(w.reference, path.Join(folder, listFile))
		switch {
		case errors.Is(err, fs.ErrNotExist): // made in the cloud alone
		case err != nil:
			return err
		case on(clusters, a.Name):
			wanted = append(wanted, relative(root, folder))
		default:
			unwanted = append(unwanted, relative(root, folder))
		}
	}
	wanted = append(wanted, relative(root, appsDir))
	return w.list(path.Join(root, listFile), header{components: []string{relative(root, baseDir)}}, wanted, unwanted)
}
