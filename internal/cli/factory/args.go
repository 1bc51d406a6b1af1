package factory

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/internal/cli/fault"
)

// SomeClusters asks for at least one cluster on the command line.
func SomeClusters(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return noCluster()
	}
	return nil
}

// OneCluster asks for one cluster, and for at most as many arguments in all.
func OneCluster(most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return noCluster()
		}
		if len(args) > most {
			return fault.NewUsage(fmt.Sprintf("too many arguments: %s", strings.Join(args[most:], " ")),
				fmt.Sprintf("see `%s --help`", cmd.CommandPath()))
		}
		return nil
	}
}

func noCluster() error {
	return fault.NewUsage("no cluster is named", "give the name of one in clusters/, or the path of a cluster file")
}
