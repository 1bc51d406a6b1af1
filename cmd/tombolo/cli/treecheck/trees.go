package treecheck

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tombolo/check/tree"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/config"
	"tombolo/internal/file"
)

// platformTree is the root of a Git repository that an engine follows. The name goes before the
// names of its files.
type platformTree struct {
	fs.FS
	name string
}

// hasDir says whether the tree has a directory, such as a cluster's gitops.path.
func (t platformTree) hasDir(dir string) bool {
	info, err := fs.Stat(t.FS, tree.Relative(dir))
	return err == nil && info.IsDir()
}

// group is a platform tree with the clusters that are checked against it.
type group struct {
	tree platformTree
	// skipped are clusters that do not follow this tree.
	clusters, skipped []*config.Cluster
}

// trees are the trees to check, and the clusters whose tree was not found here.
func (o *Options) trees(all, fleets []*config.Cluster) (groups []group, elsewhere []*config.Cluster, err error) {
	if o.Tree != "" {
		g, err := o.named(o.Tree, all, fleets)
		return []group{g}, nil, err
	}
	root, err := o.Root()
	if err != nil {
		return nil, nil, err
	}
	if dir, _ := o.Lookup(clusters.TreeVariable); dir != "" {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		g, err := o.named(dir, all, fleets)
		return []group{g}, nil, err
	}
	groups, elsewhere = find(root, all, fleets)
	return groups, elsewhere, nil
}

// named is the tree in a directory that the user has named: it must be there, and
// be the tree of some cluster.
func (o *Options) named(dir string, all, fleets []*config.Cluster) (group, error) {
	tree, err := open(dir)
	if err != nil {
		return group{}, err
	}
	g := group{tree: tree, clusters: all}
	for _, c := range all {
		if len(o.Names) > 0 && c.HasExternalHub() {
			return group{}, fault.NewUsage(fmt.Sprintf("cluster %s follows the tree of hub %s, which others run", c.Name, c.Hub()),
				"leave it out: what its registration carries, `tombolo check` cannot hold against a tree that no file names")
		}
	}
	if len(o.Names) > 0 {
		return g, nil
	}
	g.clusters = nil
	for _, c := range all {
		if !c.HasExternalHub() && tree.hasDir(hub(c, fleets).GitOps.Path) {
			g.clusters = append(g.clusters, c)
		} else {
			g.skipped = append(g.skipped, c)
		}
	}
	if len(g.clusters) == 0 {
		return group{}, fault.NewUsage(fmt.Sprintf("no cluster has its gitops.path in %s: %s", tree.name, paths(all, fleets)),
			"name the root of the repository that they follow, or the clusters to check")
	}
	return g, nil
}

// open opens the tree in a directory.
func open(dir string) (platformTree, error) {
	name := clusters.Short(dir)
	if err := file.Inside(dir); err != nil {
		return platformTree{}, fault.NewUsage(fmt.Sprintf("the platform tree %s cannot be read: %v", name, err), "")
	}
	info, err := os.Stat(dir)
	if err != nil {
		return platformTree{}, fault.NewUsage(fmt.Sprintf("the platform tree %s cannot be read", name), "check the path")
	}
	if !info.IsDir() {
		return platformTree{}, fault.NewUsage(name+" is not a directory", "give the root of the platform tree")
	}
	root, err := os.OpenRoot(dir) // which no link in the tree leaves
	if err != nil {
		return platformTree{}, fmt.Errorf("open the platform tree %s: %w", name, err)
	}
	return platformTree{root.FS(), name}, nil
}

// find finds the trees of clusters in the project, in the order of the clusters.
func find(root string, all, fleets []*config.Cluster) (groups []group, elsewhere []*config.Cluster) {
	at := map[string]int{}
	for _, c := range all {
		dir, ok := clusters.Tree(root, hub(c, fleets).GitOps)
		tree, err := open(dir)
		if !ok || err != nil {
			elsewhere = append(elsewhere, c)
			continue
		}
		if _, known := at[dir]; !known {
			at[dir] = len(groups)
			groups = append(groups, group{tree: tree})
		}
		g := &groups[at[dir]]
		g.clusters = append(g.clusters, c)
	}
	return groups, elsewhere
}

// paths are the clusters with their paths, for messages.
func paths(all, fleets []*config.Cluster) string {
	out := make([]string, len(all))
	for i, c := range all {
		out[i] = fmt.Sprintf("%s (%s)", hub(c, fleets).GitOps.Path, c.Name)
	}
	return strings.Join(out, ", ")
}
