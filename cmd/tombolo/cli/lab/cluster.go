package lab

import (
	"context"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
)

// NewCmdCluster returns the group of commands lab cluster.
func NewCmdCluster(f *Given) *cobra.Command {
	cmd := factory.Group("cluster <command>", "Cut a cluster of the lab off, or restart its API server", `
Disturb the Kubernetes API of one of the lab's clusters. A cluster has the name
that it has in EKS, see "tombolo lab status".`)
	for _, c := range []struct {
		name, short, done string
		do                func(Lab, context.Context, string) error
	}{
		{"cut", "Make the API silent, as a network does that loses everything", "cluster %s is cut off", Lab.Cut},
		{"restore", "Let the API answer again", "cluster %s answers", Lab.Restore},
		{"restart", "Restart the API server, and wait until it serves", "the API server of cluster %s serves again", Lab.Restart},
	} {
		cmd.AddCommand(&cobra.Command{
			Use:   c.name + " <cluster>",
			Short: c.short,
			Args:  cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				l, err := f.open()
				if err != nil {
					return err
				}
				if err := c.do(l, cmd.Context(), args[0]); err != nil {
					return err
				}
				f.Status().Done(c.done, args[0])
				return nil
			},
		})
	}
	return cmd
}
