// Package check is the command tombolo check.
package check

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/check"
	"tombolo/check/finding"
	"tombolo/check/published"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// Options of the command.
type Options struct {
	Out, ErrOut io.Writer
	Status      func() render.Status
	JSON        func() bool
	// Markdown says that promotions are written as a comment.
	Markdown func() bool
	Root     func() (string, error)
	// Lookup reads an environment variable.
	Lookup func(string) (string, bool)
	Load   func(files []string) ([]*config.Cluster, error)
	// Fleets adds the clusters that have a hub in common with one.
	Fleets func([]*config.Cluster) ([]*config.Cluster, error)
	// Problems is how findings with a place are shown.
	Problems func() render.ProblemOptions

	// Tree is the platform tree's directory; "" is to find it.
	Tree   string
	Names  []string
	Strict bool
	// Promotion compares the branches of the clusters in place of checking the tree.
	Promotion bool
	// Remote whose branches are compared; "" is to choose it.
	Remote string
}

// NewCmdCheck returns the command; runF, if not nil, runs in place of it.
func NewCmdCheck(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := newOptions(f)
	cmd := &cobra.Command{
		Use:   "check [<tree> [<cluster or file>...]]",
		Short: "Check that a platform tree fits the clusters",
		Long: strings.TrimSpace(`
Check that a platform tree fits the clusters that follow it: bootstrap publishes
everything that it uses, or the tree has it. Notes name what the command does
not follow, such as other repositories. <tree> is the root of the Git repository
that the clusters follow.

Without <tree>, TOMBOLO_TREE names the directory, relative to the project's root.
If it is not set, check looks for the cluster's gitops.path in platform/flux or
platform/argocd, depending on the engine, and then in the project's root. If the
tree of a cluster is in another repository, check names the cluster and does not
check it: run the command there.

The command follows the tree as the engine does, from each cluster's gitops.path.
It reads only the cluster files and the tree, and needs neither a cluster nor the
network. With Flux, it checks every ${variable}, valuesFrom, substituteFrom,
sourceRef, dependsOn and path. With Argo CD, it checks the labels in selectors of
ApplicationSets, the labels and annotations in their templates, paths, values
files, and the charts in the tree. Without named clusters, it checks all clusters
of the project that have their gitops.path in the tree.

An error is something that makes the engine stop, wait forever, or silently use
an empty value. A warning is a published value that nothing uses, or something
that works but is probably a mistake.

With --promotion, the command compares the branches that the clusters follow
(gitops.branch), in the order of the clusters' waves. It says whether a
fast-forward promotes each branch to the next one, and which commits, addons,
apps and systems that brings. It reads the clone that <tree> is in, as it was
last fetched.`),
		Example: strings.TrimSpace(`
  tombolo check
  tombolo check platform/flux
  tombolo check ../platform demo
  tombolo check . ../infrastructure/clusters/prod.yaml --strict
  tombolo check --promotion --output markdown`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.Tree, opts.Names = args[0], args[1:]
			}
			return factory.Run(cmd.Context(), opts, runF, checkRun)
		},
		ValidArgsFunction: complete(f),
	}
	fl := cmd.Flags()
	fl.BoolVar(&opts.Strict, "strict", false, "treat warnings as errors")
	fl.BoolVar(&opts.Promotion, "promotion", false, "compare the branches of the environments")
	fl.StringVar(&opts.Remote, "remote", "", "with --promotion, compare the branches of this `remote`; origin if the clone has it, else its own branches")
	formats := flags.NewEnum(&f.Globals.Output, append(render.Formats(), render.Markdown)...)
	fl.VarP(formats, "output", "o", "text, plain and json as everywhere; with --promotion, markdown is a comment for a pull request")
	factory.CompleteFlag(cmd, "output", formats.Values())
	return cmd
}

func newOptions(f *factory.Factory) *Options {
	return &Options{
		Out: f.Streams.Out, ErrOut: f.Streams.ErrOut, Status: f.Status, JSON: f.JSON, Root: f.Root, Lookup: f.Lookup,
		Load: clusters.Load, Fleets: clusters.WithFleets,
		Problems: func() render.ProblemOptions { return problemOptions(f) },
		Markdown: func() bool { return f.Globals.Output == render.Markdown },
	}
}

// Cluster checks the platform tree of one cluster, if it is in the project, and shows what
// it finds. The cluster is taken as it is given, which may be another one than its file
// describes by now.
func Cluster(ctx context.Context, f *factory.Factory, c *config.Cluster) error {
	o := newOptions(f)
	o.Names = []string{c.File}
	o.Load = func([]string) ([]*config.Cluster, error) { return []*config.Cluster{c}, nil }
	return checkRun(ctx, o)
}

// complete offers directories for the tree, then clusters' names.
func complete(f *factory.Factory) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		return f.CompleteClusters(prefix), cobra.ShellCompDirectiveDefault
	}
}

func problemOptions(f *factory.Factory) render.ProblemOptions {
	terminal := f.Streams.ErrIsTerminal()
	return render.ProblemOptions{
		Style:    f.Style(terminal),
		Terminal: terminal && f.Globals.Output == render.Text,
		Width:    f.Streams.ErrWidth(),
	}
}

func checkRun(ctx context.Context, o *Options) error {
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
	fleets, err := o.Fleets(all)
	if err != nil {
		return err
	}
	groups, elsewhere, err := o.trees(all, fleets)
	if err != nil {
		return err
	}
	results := make([]result, len(groups))
	for i, g := range groups {
		found, err := check.Check(g.tree, publishedTo(g.clusters, fleets), publishedTo(inFleets(fleets), fleets)...)
		if err != nil {
			return err
		}
		if o.Strict {
			found = warningsAsErrors(found)
		}
		results[i] = result{g.tree.Name, fleets, g.clusters, g.skipped, found}
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
	}
	return out
}
