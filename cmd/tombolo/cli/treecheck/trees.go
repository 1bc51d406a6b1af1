package treecheck

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"tombolo/check/tree"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/config"
	"tombolo/internal/file"
	"tombolo/internal/wording"
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
	if dir := clusters.TreeSet(root, o.Lookup); dir != "" {
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
	g.skipped = g.adopt(g.skipped, all, fleets)
	if len(g.clusters) == 0 {
		return group{}, fault.NewUsage(fmt.Sprintf("no cluster has its gitops.path in %s: %s", tree.name, paths(all, fleets)),
			"name the root of the repository that they follow, or the clusters to check")
	}
	return g, nil
}

// adopt takes the clusters whose path is one of the tree's, mistyped: but for a part that is nearly the same, it is a
// directory that no cluster follows. It returns the others.
func (g *group) adopt(others, all, fleets []*config.Cluster) (left []*config.Cluster) {
	for _, c := range others {
		mistyped := func(dir string) bool { return isMistyped(pathOf(c, fleets), dir) }
		if !c.HasExternalHub() && slices.ContainsFunc(g.tree.unclaimed(pathOf(c, fleets), all, fleets), mistyped) {
			g.clusters = append(g.clusters, c)
		} else {
			left = append(left, c)
		}
	}
	return left
}

func isMistyped(written, dir string) bool {
	parts, meant := strings.Split(written, "/"), strings.Split(dir, "/")
	differ := -1
	for i := range parts {
		if parts[i] == meant[i] {
			continue
		}
		if differ >= 0 {
			return false
		}
		differ = i
	}
	return differ >= 0 && wording.Nearest(parts[differ], meant[differ:differ+1]) != ""
}

// unclaimed are the directories as deep in the tree as a path that no cluster follows.
func (t platformTree) unclaimed(dir string, all, fleets []*config.Cluster) []string {
	entries, _ := fs.Glob(t.FS, strings.Repeat("*/", strings.Count(dir, "/"))+"*") // the pattern is one
	return slices.DeleteFunc(entries, func(name string) bool {
		return !t.hasDir(name) || slices.ContainsFunc(all, func(c *config.Cluster) bool { return pathOf(c, fleets) == name })
	})
}

// pathOf is where a cluster's engine begins in the tree.
func pathOf(c *config.Cluster, fleets []*config.Cluster) string {
	return tree.Relative(hub(c, fleets).GitOps.Path)
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

// find finds the trees of clusters in the project, in the order of the clusters. Where no tree has a cluster's path,
// it is looked for mistyped.
func find(root string, all, fleets []*config.Cluster) (groups []group, elsewhere []*config.Cluster) {
	at := map[string]int{}
	in := func(dir string) *group {
		tree, err := open(dir)
		if _, known := at[dir]; !known && err == nil {
			at[dir] = len(groups)
			groups = append(groups, group{tree: tree})
		}
		if err != nil {
			return nil
		}
		return &groups[at[dir]]
	}
	for _, c := range all {
		git := hub(c, fleets).GitOps
		if dir, ok := clusters.Tree(root, git); ok {
			if g := in(dir); g != nil {
				g.clusters = append(g.clusters, c)
				continue
			}
		}
		left := []*config.Cluster{c}
		for _, dir := range clusters.Trees(root, git.Engine) {
			if g := in(dir); g != nil {
				left = g.adopt(left, all, fleets)
			}
		}
		elsewhere = append(elsewhere, left...)
	}
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.clusters) == 0 }), elsewhere
}

// paths are the clusters with their paths, for messages.
func paths(all, fleets []*config.Cluster) string {
	out := make([]string, len(all))
	for i, c := range all {
		out[i] = fmt.Sprintf("%s (%s)", hub(c, fleets).GitOps.Path, c.Name)
	}
	return strings.Join(out, ", ")
}
