// Package treecheck checks whether platform trees fit clusters, for check and for what makes clusters.
package treecheck

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"tombolo/check/finding"
	"tombolo/check/published"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// Options of a check.
type Options struct {
	factory.Base
	// Markdown says that promotions are written as a comment.
	Markdown func() bool
	// Lookup reads an environment variable.
	Lookup func(string) (string, bool)
	Load   func(files []string) ([]*config.Cluster, error)
	// Problems is how findings with a place are shown.
	Problems func() render.ProblemOptions
	// CheckTree checks a tree.
	CheckTree factory.CheckTree

	// Tree is the platform tree's directory; "" is to find it.
	Tree   string
	Names  []string
	Strict bool
	// Promotion compares the branches of the clusters in place of checking the tree.
	Promotion bool
	// Remote whose branches are compared; "" is to choose it.
	Remote string
}

// NewOptions are those of the process.
func NewOptions(f *factory.Factory) *Options {
	return &Options{
		Base: f.Base(), Lookup: f.Lookup, CheckTree: f.CheckTree, Load: clusters.Load, Problems: f.Problems,
		Markdown: func() bool { return f.Globals.Output == render.Markdown },
	}
}

// Cluster checks the platform tree of one cluster, if it is in the project, and shows what
// it finds. The cluster is taken as it is given, which may be another one than its file
// describes by now.
func Cluster(ctx context.Context, f *factory.Factory, c *config.Cluster) error {
	o := NewOptions(f)
	o.Names = []string{c.File}
	o.Load = func([]string) ([]*config.Cluster, error) { return []*config.Cluster{c}, nil }
	return Run(ctx, o)
}

// Run checks, or compares the branches of environments.
func Run(ctx context.Context, o *Options) error {
	if err := o.onlyPromotion(); err != nil {
		return err
	}
	if o.Promotion {
		return o.promotionRun(ctx)
	}
	all, err := o.clusters()
	if err != nil {
		return err
	}
	fleets, err := clusters.WithFleets(all)
	if err != nil {
		return err
	}
	groups, elsewhere, err := o.trees(all, fleets)
	if err != nil {
		return err
	}
	results := make([]result, len(groups))
	for i, g := range groups {
		found, err := o.CheckTree(g.tree.FS, g.tree.name, publishedTo(g.clusters, fleets), publishedTo(inFleets(fleets), fleets)...)
		if err != nil {
			return err
		}
		if o.Strict {
			found = warningsAsErrors(found)
		}
		results[i] = result{g.tree.name, fleets, g.clusters, g.skipped, found}
	}
	return o.report(results, elsewhere, fleets)
}

// warningsAsErrors takes warnings for errors.
func warningsAsErrors(found finding.List) finding.List {
	for i := range found {
		if found[i].Severity == finding.Warning {
			found[i].Severity = finding.Error
		}
	}
	return found
}

// clusters are the named ones, or all of the project's.
func (o *Options) clusters() ([]*config.Cluster, error) {
	files, err := clusters.FilesOrAll(o.Root, o.Names)
	if err != nil {
		return nil, err
	}
	return o.Load(files)
}

// hub is the cluster whose gitops counts for another one.
func hub(c *config.Cluster, fleets []*config.Cluster) *config.Cluster {
	at := slices.IndexFunc(fleets, func(o *config.Cluster) bool { return o.Name == c.Hub() })
	if !c.IsSpoke() || at < 0 {
		return c
	}
	return fleets[at]
}

// inFleets are the clusters that a hub's Argo CD runs.
func inFleets(all []*config.Cluster) []*config.Cluster {
	return slices.DeleteFunc(slices.Clone(all), func(c *config.Cluster) bool { return c.Hub() == "" || c.HasExternalHub() })
}

func publishedTo(chosen, fleets []*config.Cluster) []published.Set {
	out := make([]published.Set, len(chosen))
	for i, c := range chosen {
		out[i] = published.To(c, hub(c, fleets))
		out[i].File = clusters.Short(c.File)
		for s := range out[i].Shared {
			out[i].Shared[s].File = clusters.Short(out[i].Shared[s].File)
		}
	}
	return out
}

// Complete offers directories for the tree, then clusters' names.
func Complete(f *factory.Factory) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		return f.CompleteClusters(prefix), cobra.ShellCompDirectiveDefault
	}
}
