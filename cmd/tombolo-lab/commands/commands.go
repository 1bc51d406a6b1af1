// Package commands is the commands of tombolo-lab: those of `tombolo lab`, with the lab.
package commands

import (
	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	cli "tombolo/cmd/tombolo/cli/lab"
	"tombolo/lab"
)

// Add adds them to the root.
func Add(root *cobra.Command, f *factory.Factory) {
	open := func(root string) cli.Lab { return lab.Open(root) }
	root.AddCommand(cli.NewCmdLab(f, &cli.Here{Open: open, Serve: lab.Serve}))
}
