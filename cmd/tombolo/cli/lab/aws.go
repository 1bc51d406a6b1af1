package lab

import (
	"context"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/lab/awscli"
)

// NewCmdAWS returns the hidden command behind the lab's aws where the program for it is not
// there: cmd/lab-aws is the same, and starts in a tenth of the time.
func NewCmdAWS(f *Given) *cobra.Command {
	return newShim("aws", "Answer as the AWS CLI does to an exec plugin", func(ctx context.Context, args []string) error {
		root, err := f.Root()
		if err != nil {
			return err
		}
		opts := awscli.In(root, f.Streams.Out, f.Streams.ErrOut)
		opts.Args = args
		return awscli.Run(ctx, opts)
	})
}
