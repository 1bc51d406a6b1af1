// Package programs has the program of every stack: what each makes.
package programs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/internal/wording"
	"tombolo/stacks"
	"tombolo/stacks/bootstrap"
	"tombolo/stacks/catalog"
	"tombolo/stacks/core"
	"tombolo/stacks/pipelines"
)

// Options of a program.
type Options = catalog.Options

// All are the programs of all stacks, for the driver and the commands, which do not import
// this package.
func All() catalog.Programs {
	return catalog.Programs{
		Of: Of, Preflight: Preflight, Live: core.Live, CheckValues: CheckValues, ContentsOf: ContentsOf, Roles: core.Roles,
		TerraformNetwork: TerraformNetwork,
		GitFiles:         bootstrap.GitFiles, ReadSecret: bootstrap.ReadSecret, GitCredentials: bootstrap.GitCredentials,
		ChannelAddress: bootstrap.ChannelAddress, HubKubeconfig: bootstrap.HubKubeconfig,
	}
}

// registry holds the programs by kind.
func registry() map[stacks.Kind]func(*pulumi.Context, *config.Cluster, Options) error {
	return map[stacks.Kind]func(*pulumi.Context, *config.Cluster, Options) error{
		stacks.Core: func(ctx *pulumi.Context, c *config.Cluster, o Options) error {
			if c.Rebuild != "" {
				ctx.Export(names.RebuildOutput, pulumi.String(c.Rebuild))
			}
			return core.Run(ctx, c.ForCore(), o.Hub.ForCore(), cmp.Or(o.Backend, loggedInto(ctx)))
		},
		stacks.Bootstrap: func(ctx *pulumi.Context, c *config.Cluster, o Options) error {
			return bootstrap.Run(ctx, c, bootstrap.Options{
				CoreStack: stacks.Name(c.Name, stacks.Core), Placeholders: o.Placeholders, Predicted: o.Predicted, Env: o.Env,
				Told: o.Told, PredictedHub: o.PredictedHub, ToldStacks: o.ToldStacks,
				WithoutSecrets: o.WithoutSecrets, New: o.New, Hub: o.Hub, HubCoreStack: stacks.Name(o.Hub.Name, stacks.Core),
			})
		},
		stacks.Pipelines: func(ctx *pulumi.Context, c *config.Cluster, o Options) error {
			return pipelines.Run(ctx, c.Account, cmp.Or(o.Backend, loggedInto(ctx)))
		},
	}
}

// Of is the program of a stack of a cluster, or of an account that a cluster
// stands for. It fails for an unknown kind, and for a spoke whose hub cannot be loaded.
func Of(c *config.Cluster, k stacks.Kind, o Options) (pulumi.RunFunc, error) {
	program, ok := registry()[k]
	if !ok || (k == stacks.Pipelines) != (c.Account != nil) {
		return nil, fmt.Errorf("no program for the kind of stack %q: expected %s", k, allowed())
	}
	if o.Hub == nil {
		var err error
		if o.Hub, err = config.LoadHub(c); err != nil {
			return nil, fmt.Errorf("load the hub of %s: %w", c.Name, err)
		}
	}
	return func(ctx *pulumi.Context) error { return program(ctx, c, o) }, nil
}

// ValuesOutput is the output of bootstrap with the values of other stacks and of
// Parameter Store that it has read, by their sources in words.
const ValuesOutput = bootstrap.ValuesOutput

// ContentsOf works out what GitOps reads on a cluster where core has these outputs, and
// these values were read from other stacks and from Parameter Store. It fails for a spoke whose hub cannot be loaded.
func ContentsOf(ctx context.Context, c *config.Cluster, outputs, read map[string]any) (catalog.Contents, error) {
	hub, err := config.LoadHub(c)
	if err != nil {
		return catalog.Contents{}, fmt.Errorf("load the hub of %s: %w", c.Name, err)
	}
	return bootstrap.ContentsOf(ctx, c, hub, outputs, read)
}

// CheckValues holds the values that a cluster file takes from other stacks to the outputs
// that these have, by the whole names of the stacks, with secrets masked, and reads the states of
// Terraform: all but those of Parameter Store. The error is strict.Problems.
func CheckValues(ctx context.Context, c *config.Cluster, outputs map[string]map[string]any, env map[string]string) error {
	return bootstrap.CheckValues(ctx, c, stacks.Project, outputs, env)
}

// Preflight checks what the programs of a cluster's stacks will need besides
// its file, before the first of them starts. All problems are reported together.
func Preflight(ctx context.Context, c *config.Cluster, o Options) error {
	return bootstrap.Preflight(ctx, c, o.Env)
}

func allowed() string {
	kinds := slices.Sorted(maps.Keys(registry()))
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return wording.Or(names)
}
