// Command own is a team's own Pulumi program that needs no provider: it reads what core has put out.
package main

import (
	"errors"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() { pulumi.Run(run) }

func run(ctx *pulumi.Context) error {
	settings := config.New(ctx, "")
	core, err := pulumi.NewStackReference(ctx, "organization/tombolo/"+os.Getenv("TOMBOLO_CLUSTER")+"-core", nil)
	if err != nil {
		return err
	}
	ctx.Export("host", pulumi.String(settings.Require("host")))
	ctx.Export("core", core.GetStringOutput(pulumi.String("plain")))
	if settings.GetBool("broken") {
		return errors.New("no such version of the database")
	}
	return nil
}
