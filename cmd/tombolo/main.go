// Command tombolo takes clusters from nothing to GitOps.
package main

import (
	"os"

	"tombolo/automation/clouds"
	"tombolo/cmd/tombolo/cli"
	"tombolo/stacks/programs"
)

func main() {
	os.Exit(cli.Main(programs.All(), clouds.All()))
}
