package lab

import (
	"github.com/spf13/cobra"

	"tombolo/internal/cli/factory"
	"tombolo/lab"
)

// NewCmdAWS returns the hidden command behind the lab's aws, which kubectl's
// exec plugin and the EKS component call.
func NewCmdAWS(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:    "aws -- <argument>...",
		Short:  "Answer as the AWS CLI does to an exec plugin",
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := f.Root()
			if err != nil {
				return err
			}
			return lab.AWSCommand(cmd.Context(), root, args, f.Streams.Out, f.Streams.ErrOut)
		},
	}
}
