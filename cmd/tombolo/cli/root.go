package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/cli/version"
	"tombolo/cmd/tombolo/render"
)

// newRoot returns the command tombolo with all commands below it. The flag
// started is set when the command line has been parsed: an earlier error is one of
// usage.
func (p Program) newRoot(f *factory.Factory, started *bool) *cobra.Command {
	root := &cobra.Command{
		Use:   "tombolo",
		Short: "From nothing to GitOps in one command",
		Long: strings.TrimSpace(`
Tombolo takes a cluster from nothing to GitOps. A core stack builds the network
and the managed cluster. A bootstrap stack prepares the cluster with core's
outputs, and hands it over to Git.

The file clusters/<name>.yaml describes a cluster. Commands take the cluster's
name, or the path of its file.`),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseEmpty(cmd.Flags()); err != nil {
				return err
			}
			if err := f.ApplyEnv(cmd.Flags().Changed("lab")); err != nil {
				return err
			}
			if err := f.StartLog(cmd.Context(), cmd.Name(), cmd.Flags().Changed("verbose")); err != nil {
				return err
			}
			*started = true
			if hasTrace(cmd) {
				f.StartTrace(cmd.Context(), cmd.Name(), version.Own())
			}
			return nil
		},
	}
	root.SetIn(f.Streams.In)
	root.SetOut(f.Streams.Out)
	root.SetErr(f.Streams.ErrOut)
	addGlobals(root, f)
	p.Commands(root, f)
	root.SetUsageTemplate(usageTemplate(root))
	fitHelp(root)
	return root
}

// hasTrace says that the runs of a command have a trace: those that work on the stacks of clusters.
func hasTrace(cmd *cobra.Command) bool {
	traced := []string{"up", "upgrade", "preview", "destroy", "rebuild", "drift"}
	return cmd.Parent() == cmd.Root() && slices.Contains(traced, cmd.Name())
}

func addGlobals(root *cobra.Command, f *factory.Factory) {
	g := f.Globals
	output := flags.NewEnum(&g.Output, render.Formats()...)
	pf := root.PersistentFlags()
	pf.BoolVar(&g.Lab, "lab", false, "run everything in the lab, and start it if necessary (TOMBOLO_LAB=1)")
	pf.VarP(output, "output", "o", "text is a live view on a terminal, and plain elsewhere; json is one document per line")
	pf.BoolVar(&g.NoColor, "no-color", false, "no colours (NO_COLOR)")
	pf.BoolVar(&g.Verbose, "verbose", false, "log to standard error what is done, and how long it takes (TOMBOLO_DEBUG=1)")
	pf.StringVar(&g.Root, "root", "", "the project's `directory` (default: the first one upwards from here)")
	pf.StringVar(&g.Backend, "backend", "", "`URL` of the Pulumi state (default: PULUMI_BACKEND_URL, or where pulumi is logged in)")
	pf.StringVar(&g.SecretsProvider, "secrets-provider", "", "what encrypts the secrets of new stacks (default: the backend's own)")
	factory.CompleteFlag(root, "output", output.Values())
}

// usage turns an error of cobra into a usage error.
func usage(cmd *cobra.Command, err error) error {
	path := "tombolo"
	if cmd != nil {
		path = cmd.CommandPath()
	}
	text, more, _ := strings.Cut(err.Error(), "\n")
	if _, near, ok := strings.Cut(more, "\t"); ok { // cobra's "Did you mean this?" with a line for each
		near, _, _ = strings.Cut(near, "\n")
		text += fmt.Sprintf(", did you mean %q?", near)
	}
	return fault.NewUsage(text, "see `"+path+" --help`")
}
