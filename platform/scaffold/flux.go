package scaffold

import (
	"io/fs"
	"path"

	"tombolo/config"
	"tombolo/config/addon"
)

// fluxLayout has a folder for each addon, and for each overlay the stages with a
// list of folders in each.
func fluxLayout() layout {
	return layout{
		shared:  []string{"README.md", baseDir, appsDir},
		ofAddon: func(name string) []string { return []string{path.Join(addonsDir, name)} },
		overlay: (*writer).stagesOf,
	}
}

// stagesOf writes what is of one environment alone: which stages it has, and what
// is in each.
func (w *writer) stagesOf(root string, clusters []*config.Cluster) error {
	wanted, unwanted := []string{relative(root, baseDir)}, []string(nil)
	if withChannel(clusters) {
		wanted = append(wanted, relative(root, channelDir))
	} else {
		unwanted = append(unwanted, relative(root, channelDir))
	}
	if err := w.list(path.Join(root, listFile), header{}, wanted, unwanted); err != nil {
		return err
	}
	for _, stage := range stages() {
		folder := path.Join(root, stage)
		var wanted, unwanted []string
		for _, a := range addon.All() {
			entry, ok := w.entry(a, stage)
			switch {
			case !ok:
			case on(clusters, a.Name):
				wanted = append(wanted, relative(folder, entry))
			default:
				unwanted = append(unwanted, relative(folder, entry))
			}
		}
		if stage == appsDir {
			wanted = append(wanted, relative(folder, appsDir))
		}
		if err := w.list(path.Join(folder, listFile), header{stage: stage}, wanted, unwanted); err != nil {
			return err
		}
	}
	return nil
}

// stages of the tree: the definitions, the addons', the apps.
func stages() []string {
	var all []string
	for _, s := range addon.Stages() {
		all = append(all, string(s))
	}
	return append(all, appsDir)
}

// entry is the folder that a stage takes from an addon, if it takes one.
func (w *writer) entry(a *addon.Addon, stage string) (folder string, ok bool) {
	folder = path.Join(addonsDir, a.Name)
	if stage == crdsDir {
		folder = path.Join(folder, crdsDir)
	} else if string(a.Stage) != stage {
		return "", false
	}
	_, err := fs.Stat(w.reference, path.Join(folder, listFile))
	return folder, err == nil
}
