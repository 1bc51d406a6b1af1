package clusters

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/fault"
)

// Kind is what a file describes that people name by its name or by its path.
type Kind struct {
	// Name of the kind, such as cluster; its file in words; and where files are below the project's root.
	Name, File, Dir string
}

// One asks for one of the kind, and for at most as many arguments in all.
func (k Kind) One(most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fault.NewUsage(fmt.Sprintf("no %s is named", k.Name), fmt.Sprintf("give the name of one in %s/, or the path of %s", k.Dir, k.File))
		}
		return AtMost(most)(cmd, args)
	}
}

// AtMost refuses more arguments.
func AtMost(most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > most {
			return fault.NewUsage("too many arguments: "+strings.Join(args[most:], " "), fmt.Sprintf("see `%s --help`", cmd.CommandPath()))
		}
		return nil
	}
}

// Unknown says that a name is not among those of the project's files, which it names.
func (k Kind) Unknown(name string, known []string) error {
	if len(known) == 0 {
		return fault.NewUsage(fmt.Sprintf("%s %q is not known: there is no %s file in %s/", k.Name, name, k.Name, k.Dir),
			fmt.Sprintf("write %s/%s%s, or give the path of %s", k.Dir, name, suffix, k.File))
	}
	return fault.NewUsage(fmt.Sprintf("%s %q is not known%s", k.Name, name, fault.Meant(name, known)),
		fmt.Sprintf("known are: %s; or give the path of %s", strings.Join(known, ", "), k.File))
}
