package factory

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/internal/cli/fault"
)

// OneCluster asks for one cluster, and for at most as many arguments in all.
func OneCluster(most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return NoCluster()
		}
		if len(args) > most {
			return fault.NewUsage(fmt.Sprintf("too many arguments: %s", strings.Join(args[most:], " ")),
				fmt.Sprintf("see `%s --help`", cmd.CommandPath()))
		}
		return nil
	}
}

// NoCluster is the error of a command line without a cluster.
func NoCluster() error {
	return fault.NewUsage("no cluster is named", "give the name of one in clusters/, or the path of a cluster file")
}
