// Command program is the Pulumi program for plain `pulumi up -s demo-core`; the
// driver runs the same programs without it.
package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/stacks/programs"
)

func main() { pulumi.Run(programs.Plain) }
