// Command tombolo takes clusters from nothing to GitOps.
package main

import (
	"os"

	"tombolo/internal/cli"
)

func main() {
	os.Exit(cli.Main())
}
