// Package check is the command tombolo check.
package check

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/cli/treecheck"
	"tombolo/cmd/tombolo/render"
)

// NewCmdCheck returns the command; runF, if not nil, runs in place of it.
func NewCmdCheck(f *factory.Factory, runF func(context.Context, *treecheck.Options) error) *cobra.Command {
	opts := treecheck.NewOptions(f)
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
			return factory.Run(cmd.Context(), opts, runF, treecheck.Run)
		},
		ValidArgsFunction: treecheck.Complete(f),
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
