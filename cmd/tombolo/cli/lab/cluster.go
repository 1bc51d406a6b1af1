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
		cmd.AddCommand(newCmdDisturb(f, c.name, c.short, c.done, c.do))
	}
	return cmd
}

// ClusterOptions are the options of the commands lab cluster.
type ClusterOptions struct {
	Options

	// Done is what to say afterwards, a format for the cluster's name.
	Done string
	// Do is what to do to the cluster.
	Do func(Lab, context.Context, string) error
	// Cluster to do it to.
	Cluster string
}

func newCmdDisturb(f *Given, name, short, done string, do func(Lab, context.Context, string) error) *cobra.Command {
	opts := &ClusterOptions{Options: f.options(), Done: done, Do: do}
	return &cobra.Command{
		Use:   name + " <cluster>",
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Cluster = args[0]
			return clusterRun(cmd.Context(), opts)
		},
	}
}

func clusterRun(ctx context.Context, o *ClusterOptions) error {
	l, err := o.Lab()
	if err != nil {
		return err
	}
	if err := o.Do(l, ctx, o.Cluster); err != nil {
		return err
	}
	o.Status().Done(o.Done, o.Cluster)
	return nil
}
