// Package check is the command tombolo check.
package check

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/config"
	"tombolo/internal/cli/clusters"
	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/fault"
	"tombolo/internal/render"
	"tombolo/platform/contract"
)

// Options of the command.
type Options struct {
	Out, ErrOut io.Writer
	Status      func() render.Status
	JSON        func() bool
	Root        func() (string, error)
	Load        func(files []string) ([]*config.Cluster, error)
	// Fleets adds the clusters that have a hub in common with one.
	Fleets func([]*config.Cluster) ([]*config.Cluster, error)
	// Problems is how findings with a place are shown.
	Problems func() render.ProblemOptions

	Tree   string
	Names  []string
	Strict bool
}

// NewCmdCheck returns the command; runF, if not nil, runs in place of it.
func NewCmdCheck(f *factory.Factory, runF func(*Options) error) *cobra.Command {
	opts := &Options{
		Out: f.Streams.Out, ErrOut: f.Streams.ErrOut, Status: f.Status, JSON: f.JSON, Root: f.Root,
		Load: clusters.Load, Fleets: clusters.WithFleets,
		Problems: func() render.ProblemOptions { return problemOptions(f) },
	}
	cmd := &cobra.Command{
		Use:   "check <tree> [<cluster or file>...]",
		Short: "Check that a platform tree fits the clusters",
		Long: strings.TrimSpace(`
Check that a platform tree fits the clusters that follow it: that what it uses
is something that bootstrap publishes to each cluster, or that the tree makes
itself. <tree> is the root of the Git repository that the clusters follow.

The tree is followed as the clusters' engine does, from their gitops.path on,
with the cluster files alone: neither a cluster nor the network is needed. Of
Flux these are every ${variable}, valuesFrom, substituteFrom, sourceRef,
dependsOn and path. Of Argo CD these are the labels that selectors of
ApplicationSets use, the labels and annotations that their templates use, paths,
values files, and the charts in the tree. When no cluster is named, all of the
project's are checked whose gitops.path is in the tree.

Errors are what the engine would stop at, wait for, for ever, or take for empty
without a word. Warnings are what a cluster file publishes in vain, and what
works and is probably not meant.`),
		Example: strings.TrimSpace(`
  tombolo check platform/flux
  tombolo check ../platform demo
  tombolo check . ../infrastructure/clusters/prod.yaml --strict`),
		Args: someTree,
		RunE: func(_ *cobra.Command, args []string) error {
			opts.Tree, opts.Names = args[0], args[1:]
			if runF != nil {
				return runF(opts)
			}
			return checkRun(opts)
		},
		ValidArgsFunction: complete(f),
	}
	cmd.Flags().BoolVar(&opts.Strict, "strict", false, "take warnings for errors")
	return cmd
}

func someTree(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fault.NewUsage("no platform tree is named", "give its directory, such as platform/flux")
	}
	return nil
}

// complete offers directories for the tree, then clusters' names.
func complete(f *factory.Factory) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		var names []string
		for _, name := range f.CompleteClusters() {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
		return names, cobra.ShellCompDirectiveDefault
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

func checkRun(o *Options) error {
	tree, err := o.tree()
	if err != nil {
		return err
	}
	all, err := o.clusters()
	if err != nil {
		return err
	}
	fleets, err := o.Fleets(all)
	if err != nil {
		return err
	}
	chosen, skipped := all, []*config.Cluster(nil)
	if len(o.Names) == 0 {
		if chosen, skipped = followers(tree, all, fleets); len(chosen) == 0 {
			return fault.NewUsage(fmt.Sprintf("none of the clusters has its gitops.path in %s: %s", tree.Name, paths(all, fleets)),
				"name the root of the repository that they follow, or the clusters to check")
		}
	}
	found, err := contract.Check(tree, published(chosen, fleets), published(inFleets(fleets), fleets)...)
	if err != nil {
		return err
	}
	if o.Strict {
		for i := range found {
			if found[i].Severity == contract.Warning {
				found[i].Severity = contract.Error
			}
		}
	}
	return o.report(result{tree.Name, fleets, chosen, skipped, found})
}

// tree opens the directory that the command line names.
func (o *Options) tree() (contract.Tree, error) {
	info, err := os.Stat(o.Tree)
	if err != nil {
		return contract.Tree{}, fault.NewUsage(fmt.Sprintf("the platform tree %s cannot be read", o.Tree), "check the path")
	}
	if !info.IsDir() {
		return contract.Tree{}, fault.NewUsage(fmt.Sprintf("%s is not a directory", o.Tree), "give the root of the platform tree")
	}
	return contract.Tree{FS: os.DirFS(o.Tree), Name: clusters.Short(o.Tree)}, nil
}

// clusters are the named ones, or all of the project's.
func (o *Options) clusters() ([]*config.Cluster, error) {
	if len(o.Names) > 0 {
		files, err := clusters.Files(o.Root, o.Names)
		if err != nil {
			return nil, err
		}
		return o.Load(files)
	}
	root, err := o.Root()
	if err != nil {
		return nil, err
	}
	files, err := clusters.All(root)
	if err == nil && len(files) == 0 {
		err = fault.NewUsage("there is no cluster file in clusters/", "write clusters/<name>.yaml, or give the path of a cluster file")
	}
	if err != nil {
		return nil, err
	}
	return o.Load(files)
}

// followers are the clusters whose path is in the tree, and the others.
func followers(tree contract.Tree, all, fleets []*config.Cluster) (chosen, skipped []*config.Cluster) {
	for _, c := range all {
		if tree.HasDir(hub(c, fleets).GitOps.Path) {
			chosen = append(chosen, c)
			continue
		}
		skipped = append(skipped, c)
	}
	return chosen, skipped
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
	return slices.DeleteFunc(slices.Clone(all), func(c *config.Cluster) bool { return c.Hub() == "" })
}

func published(chosen, fleets []*config.Cluster) []contract.Published {
	out := make([]contract.Published, len(chosen))
	for i, c := range chosen {
		out[i] = contract.PublishTo(c, hub(c, fleets))
		out[i].File = clusters.Short(c.File)
	}
	return out
}

// paths are the clusters with their paths, for messages.
func paths(all, fleets []*config.Cluster) string {
	out := make([]string, len(all))
	for i, c := range all {
		out[i] = fmt.Sprintf("%s (%s)", hub(c, fleets).GitOps.Path, c.Name)
	}
	return strings.Join(out, ", ")
}
