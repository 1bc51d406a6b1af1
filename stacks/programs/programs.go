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
	"tombolo/stacks/core"
	"tombolo/stacks/pipelines"
)

// Options of a program.
type Options struct {
	// Placeholders stand for core's outputs in a preview of bootstrap, when
	// core does not have them yet. They cannot be applied.
	Placeholders bool
	// Predicted are core's outputs as a preview of core has just told them, for
	// a preview of bootstrap that shows what follows. They cannot be applied.
	Predicted map[string]any
	// Told says that Predicted, and PredictedHub of a spoke's hub, are all that is known
	// of these outputs: the backend of the run has neither stack.
	Told         bool
	PredictedHub map[string]any
	// ToldStacks are the outputs of the stacks that the cluster file takes values from,
	// by their whole names, with secrets masked, when the backend of the run does not
	// have these stacks. Nil when it has them.
	ToldStacks map[string]map[string]any
	// Hub is the cluster that config.LoadHub returns for a spoke. Default: it
	// is loaded from beside the spoke's file.
	Hub *config.Cluster
	// Env is the environment of the run, before the process's own: secrets
	// are read from it, and the AWS CLI runs in it. May be nil.
	Env map[string]string
	// Backend is the URL of the state, whose fingerprint marks what core makes.
	// Default: where Pulumi looks, by variable, project and login.
	Backend string
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
				Hub: o.Hub, HubCoreStack: stacks.Name(o.Hub.Name, stacks.Core),
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

// Contents is what GitOps reads on a cluster.
type Contents = bootstrap.Contents

// ValuesOutput is the output of bootstrap with the values of other stacks and of
// Parameter Store that it has read, by their sources in words.
const ValuesOutput = bootstrap.ValuesOutput

// ContentsOf works out what GitOps reads on a cluster where core has these outputs, and
// these values were read from other stacks and from Parameter Store. It fails for a spoke whose hub cannot be loaded.
func ContentsOf(ctx context.Context, c *config.Cluster, outputs, read map[string]any) (Contents, error) {
	hub, err := config.LoadHub(c)
	if err != nil {
		return Contents{}, fmt.Errorf("load the hub of %s: %w", c.Name, err)
	}
	return bootstrap.ContentsOf(ctx, c, hub, outputs, read)
}

// CheckValues holds the values that a cluster file takes from other stacks to the outputs
// that these have, by the whole names of the stacks, with secrets masked: without those
// of Parameter Store. The error is strict.Problems.
func CheckValues(c *config.Cluster, outputs map[string]map[string]any) error {
	return bootstrap.CheckValues(c, stacks.Project, outputs)
}

// Preflight checks what the programs of a cluster's stacks will need besides
// its file, before the first of them starts. All problems are reported together.
func Preflight(ctx context.Context, c *config.Cluster, o Options) error {
	return bootstrap.Preflight(ctx, c, o.Env)
}

// ReadSecret reads a secret of the cluster file that is in the environment or in a file, as
// bootstrap does; path is the key of the file that refers to it, for errors.
func ReadSecret(c *config.Cluster, env map[string]string, path string, ref *config.SecretRef) (string, error) {
	return bootstrap.ReadSecret(c, env, path, ref)
}

func allowed() string {
	kinds := slices.Sorted(maps.Keys(registry()))
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return wording.Or(names)
}
