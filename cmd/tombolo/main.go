// Command tombolo takes clusters from nothing to GitOps. Started as tombolo-program, it is the
// Pulumi program for plain `pulumi up -s demo-core`, as cmd/program is in a checkout.
package main

import (
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/clouds"
	"tombolo/check"
	"tombolo/cmd/tombolo/cli"
	"tombolo/cmd/tombolo/cli/commands"
	"tombolo/internal/names"
	"tombolo/stacks/programs"
)

func main() {
	// Released archives have a link of this name: with a program of its own they would have twice the size.
	if filepath.Base(os.Args[0]) == names.Program {
		pulumi.Run(programs.Plain)
		return
	}
	os.Exit(cli.Main(cli.Program{Commands: commands.Add, Programs: programs.All(), Clouds: clouds.All(), CheckTree: check.Check}))
}
