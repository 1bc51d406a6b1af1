package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/check"
	"tombolo/cmd/tombolo/cli/comment"
	"tombolo/cmd/tombolo/cli/destroy"
	"tombolo/cmd/tombolo/cli/doctor"
	"tombolo/cmd/tombolo/cli/drift"
	"tombolo/cmd/tombolo/cli/export"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/cli/graph"
	"tombolo/cmd/tombolo/cli/initialize"
	"tombolo/cmd/tombolo/cli/issue"
	"tombolo/cmd/tombolo/cli/kubeconfig"
	"tombolo/cmd/tombolo/cli/lab"
	"tombolo/cmd/tombolo/cli/list"
	"tombolo/cmd/tombolo/cli/man"
	"tombolo/cmd/tombolo/cli/outputs"
	"tombolo/cmd/tombolo/cli/pipelines"
	"tombolo/cmd/tombolo/cli/plugins"
	"tombolo/cmd/tombolo/cli/preview"
	"tombolo/cmd/tombolo/cli/push"
	"tombolo/cmd/tombolo/cli/rebuild"
	"tombolo/cmd/tombolo/cli/roles"
	"tombolo/cmd/tombolo/cli/status"
	"tombolo/cmd/tombolo/cli/unlock"
	"tombolo/cmd/tombolo/cli/up"
	"tombolo/cmd/tombolo/cli/upgrade"
	"tombolo/cmd/tombolo/cli/validate"
	"tombolo/cmd/tombolo/cli/verify"
	"tombolo/cmd/tombolo/cli/version"
	"tombolo/cmd/tombolo/render"
)

// newRoot returns the command tombolo with all commands below it. The flag
// started is set when the command line has been parsed: an earlier error is one of
// usage.
func newRoot(f *factory.Factory, started *bool) *cobra.Command {
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
	addCommands(root, f)
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

func addCommands(root *cobra.Command, f *factory.Factory) {
	const clusters, other = "clusters", "other"
	root.AddGroup(&cobra.Group{ID: clusters, Title: "Clusters:"}, &cobra.Group{ID: other, Title: "Other:"})
	for _, cmd := range []*cobra.Command{
		up.NewCmdUp(f, nil), upgrade.NewCmdUpgrade(f, nil), preview.NewCmdPreview(f, nil), destroy.NewCmdDestroy(f, nil), rebuild.NewCmdRebuild(f, nil),
		push.NewCmdPush(f, nil), outputs.NewCmdOutputs(f, nil), verify.NewCmdVerify(f, nil), kubeconfig.NewCmdKubeconfig(f, nil),
		drift.NewCmdDrift(f, nil), doctor.NewCmdDoctor(f, nil), unlock.NewCmdUnlock(f, nil),
		validate.NewCmdValidate(f, nil), check.NewCmdCheck(f, nil), list.NewCmdList(f, nil), roles.NewCmdRoles(f, nil),
		status.NewCmdStatus(f, nil), graph.NewCmdGraph(f, nil), export.NewCmdExport(f), issue.NewCmdIssue(f, nil),
	} {
		cmd.GroupID = clusters
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = completeClusters(f, cmd.Name())
		}
		root.AddCommand(cmd)
	}
	for _, cmd := range []*cobra.Command{comment.NewCmdComment(f, nil), pipelines.NewCmdPipelines(f, nil), plugins.NewCmdPlugins(f), initialize.NewCmdInit(f), lab.NewCmdLab(f), man.NewCmdMan(nil), version.NewCmdVersion(f, nil)} {
		cmd.GroupID = other
		root.AddCommand(cmd)
	}
	root.SetHelpCommandGroupID(other)
	root.SetCompletionCommandGroupID(other)
}

// completeClusters offers clusters' names. Paths are left to the shell.
func completeClusters(f *factory.Factory, command string) cobra.CompletionFunc {
	one := command == "outputs" || command == "kubeconfig" || command == "unlock" || command == "upgrade" || command == "rebuild" || command == "roles"
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if command == "list" || (one && len(args) > 0) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f.CompleteClusters(prefix), cobra.ShellCompDirectiveDefault
	}
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
