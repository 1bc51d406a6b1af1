// Command tombolo takes clusters from nothing to GitOps.
package main

import (
	"os"

	"tombolo/automation/clouds"
	"tombolo/check"
	"tombolo/cmd/tombolo/cli"
	"tombolo/cmd/tombolo/cli/commands"
	"tombolo/stacks/programs"
)

func main() {
	os.Exit(cli.Main(cli.Program{Commands: commands.Add, Programs: programs.All(), Clouds: clouds.All(), CheckTree: check.Check}))
}
