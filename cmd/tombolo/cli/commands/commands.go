// Package commands is the commands of tombolo.
package commands

import (
	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/check"
	"tombolo/cmd/tombolo/cli/comment"
	"tombolo/cmd/tombolo/cli/destroy"
	"tombolo/cmd/tombolo/cli/doctor"
	"tombolo/cmd/tombolo/cli/drift"
	"tombolo/cmd/tombolo/cli/export"
	"tombolo/cmd/tombolo/cli/factory"
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
	"tombolo/cmd/tombolo/cli/promote"
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
)

// Add adds them to the root.
func Add(root *cobra.Command, f *factory.Factory) {
	const clusters, other = "clusters", "other"
	root.AddGroup(&cobra.Group{ID: clusters, Title: "Clusters:"}, &cobra.Group{ID: other, Title: "Other:"})
	for _, cmd := range []*cobra.Command{
		up.NewCmdUp(f, nil), upgrade.NewCmdUpgrade(f, nil), preview.NewCmdPreview(f, nil), destroy.NewCmdDestroy(f, nil), rebuild.NewCmdRebuild(f, nil),
		push.NewCmdPush(f, nil), outputs.NewCmdOutputs(f, nil), verify.NewCmdVerify(f, nil), kubeconfig.NewCmdKubeconfig(f, nil),
		drift.NewCmdDrift(f, nil), doctor.NewCmdDoctor(f, nil), unlock.NewCmdUnlock(f, nil),
		validate.NewCmdValidate(f), check.NewCmdCheck(f, nil), promote.NewCmdPromote(f), list.NewCmdList(f, nil), roles.NewCmdRoles(f, nil),
		status.NewCmdStatus(f, nil), graph.NewCmdGraph(f), export.NewCmdExport(f), issue.NewCmdIssue(f),
	} {
		cmd.GroupID = clusters
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = completeClusters(f, cmd.Name())
		}
		root.AddCommand(cmd)
	}
	for _, cmd := range []*cobra.Command{comment.NewCmdComment(f, nil), pipelines.NewCmdPipelines(f, nil), plugins.NewCmdPlugins(f), initialize.NewCmdInit(f), lab.NewCmdLab(f, nil), man.NewCmdMan(), version.NewCmdVersion(f)} {
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
