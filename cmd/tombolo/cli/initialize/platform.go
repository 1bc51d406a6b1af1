package initialize

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/platform"
	"tombolo/platform/scaffold"
)

// PlatformOptions are the options of init platform.
type PlatformOptions struct {
	factory.Base
	// Clusters loads the named clusters; all without a name.
	Clusters func([]string) ([]*config.Cluster, error)

	Dir       string
	Names     []string
	Overwrite bool
}

// NewCmdPlatform returns the command init platform.
func NewCmdPlatform(f *factory.Factory) *cobra.Command {
	opts := &PlatformOptions{Base: f.Base(), Clusters: f.ClustersOrAll}
	cmd := &cobra.Command{
		Use:   "platform <dir> [<cluster or file>...]",
		Short: "Write the platform tree for clusters, with the addons they turn on",
		Long: strings.TrimSpace(`
Write the platform tree for clusters into a directory: the root of the repository
that their engine follows. Without named clusters, write it for all clusters of the
project. All of them must have the same engine. A hub of Argo CD and its spokes are
always included together.

The tree has only the addons that the clusters turn on. You can run the command
again: it writes missing files, updates the lists of addons, and leaves every other
file as it is. It deletes nothing.`),
		Example: strings.TrimSpace(`
  tombolo init platform ../platform demo
  tombolo check ../platform demo`),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fault.NewUsage("the directory is missing", "say where to write: tombolo init platform <dir>")
			}
			opts.Dir, opts.Names = args[0], args[1:]
			return platformRun(opts)
		},
	}
	cmd.Flags().BoolVar(&opts.Overwrite, "overwrite", false, "replace files that differ from the reference tree's")
	return cmd
}

func platformRun(o *PlatformOptions) error {
	loaded, err := o.Clusters(o.Names)
	if err != nil {
		return err
	}
	if loaded, err = clusters.WithFleets(loaded); err != nil {
		return err
	}
	if err := oneEngine(loaded); err != nil {
		return err
	}
	done, err := scaffold.Write(o.Dir, platform.Reference(loaded[0].GitOps.Engine), loaded, o.Overwrite)
	if err != nil {
		return err
	}
	if o.JSON() {
		return render.WriteJSON(o.Out, document{Type: "platform", Directory: o.Dir, Files: done})
	}
	o.report(done)
	return nil
}

// oneEngine refuses clusters of several engines: each has a tree of its own.
func oneEngine(loaded []*config.Cluster) error {
	first := loaded[0]
	for _, c := range loaded {
		if c.GitOps.Engine != first.GitOps.Engine {
			return fault.NewUsage(fmt.Sprintf("%s follows its tree with %s, %s with %s", first.Name, first.GitOps.Engine, c.Name, c.GitOps.Engine),
				"name the clusters of one engine, and write a tree for each")
		}
	}
	return nil
}

// document is the result in the JSON format.
type document struct {
	Type      string          `json:"type"`
	Directory string          `json:"directory"`
	Files     []scaffold.File `json:"files"`
}

func (o *PlatformOptions) report(done []scaffold.File) {
	status, count := o.Status(), map[scaffold.Change]int{}
	for _, f := range done {
		count[f.Change]++
		switch f.Change {
		case scaffold.Updated:
			status.Plain("  updated  %s", f.Path)
		case scaffold.Kept:
			status.Plain("  kept     %s, which differs from the reference tree's", f.Path)
		case scaffold.Unused:
			status.Plain("  unused   %s: no cluster turns the addon on; remove the folder if nothing else uses it", f.Path)
		}
	}
	status.Done("%s: %s", o.Dir, summary(count))
}

func summary(count map[scaffold.Change]int) string {
	var parts []string
	for _, c := range []scaffold.Change{scaffold.Written, scaffold.Updated, scaffold.Same, scaffold.Kept} {
		if n := count[c]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, c))
		}
	}
	return strings.Join(parts, ", ")
}
