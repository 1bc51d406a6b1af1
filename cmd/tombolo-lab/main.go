// Command tombolo-lab is the lab: `tombolo lab` and `tombolo --lab` start it. Its commands are
// those of `tombolo lab`.
package main

import (
	"os"

	"tombolo/cmd/tombolo-lab/commands"
	"tombolo/cmd/tombolo/cli"
)

func main() {
	os.Exit(cli.Main(cli.Program{Commands: commands.Add}))
}
