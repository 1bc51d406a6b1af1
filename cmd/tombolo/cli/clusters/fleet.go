package clusters

import (
	"path/filepath"
	"slices"

	"tombolo/config"
)

// WithFleets returns clusters together with all others of their hubs: one tree
// is for a hub and its spokes, whichever of them a command line names. Clusters
// with another engine come alone. The error, if any, is strict.Problems with
// everything that is wrong in the other files of the hubs' directories.
func WithFleets(chosen []*config.Cluster) ([]*config.Cluster, error) {
	all := slices.Clone(chosen)
	has := func(c *config.Cluster) bool {
		return slices.ContainsFunc(all, func(o *config.Cluster) bool { return o.Name == c.Name })
	}
	read := map[string][]*config.Cluster{}
	for _, c := range chosen {
		if c.Hub() == "" {
			continue
		}
		dir := filepath.Dir(c.File)
		beside, known := read[dir]
		if !known {
			var err error
			if beside, err = config.LoadDir(dir); err != nil {
				return nil, Shortened(err)
			}
			read[dir] = beside
		}
		for _, o := range beside {
			if o.Hub() == c.Hub() && !has(o) {
				all = append(all, o)
			}
		}
	}
	return all, nil
}
