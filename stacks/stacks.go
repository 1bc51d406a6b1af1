// Package stacks knows the two stacks of a cluster, the one of an account, and the
// program of each.
package stacks

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/internal/wording"
	"tombolo/stacks/bootstrap"
	"tombolo/stacks/core"
	"tombolo/stacks/pipelines"
)

// Project is the name of the Pulumi project that all stacks are in.
const Project = "tombolo"

// Kind is a kind of stack.
type Kind string

// The kinds. Core builds the network and the cluster; Bootstrap prepares the
// cluster and hands it to the GitOps engine. Pipelines makes the roles of pipelines
// in an account.
const (
	Core      Kind = "core"
	Bootstrap Kind = "bootstrap"
	Pipelines Kind = "pipelines"
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
func registry() map[Kind]func(*pulumi.Context, *config.Cluster, Options) error {
	return map[Kind]func(*pulumi.Context, *config.Cluster, Options) error{
		Core: func(ctx *pulumi.Context, c *config.Cluster, o Options) error {
			if c.Rebuild != "" {
				ctx.Export(names.RebuildOutput, pulumi.String(c.Rebuild))
			}
			return core.Run(ctx, c.ForCore(), o.Hub.ForCore(), cmp.Or(o.Backend, loggedInto(ctx)))
		},
		Bootstrap: func(ctx *pulumi.Context, c *config.Cluster, o Options) error {
			return bootstrap.Run(ctx, c, bootstrap.Options{
				CoreStack: Name(c.Name, Core), Placeholders: o.Placeholders, Predicted: o.Predicted, Env: o.Env,
				Told: o.Told, PredictedHub: o.PredictedHub, ToldStacks: o.ToldStacks,
				Hub: o.Hub, HubCoreStack: Name(o.Hub.Name, Core),
			})
		},
		Pipelines: func(ctx *pulumi.Context, c *config.Cluster, o Options) error {
			return pipelines.Run(ctx, c.Account, cmp.Or(o.Backend, loggedInto(ctx)))
		},
	}
}

// Kinds lists the kinds of a cluster in the order of deployment.
func Kinds() []Kind { return []Kind{Core, Bootstrap} }

// Name is the name of a stack of a cluster or an account, such as demo-core.
func Name(cluster string, k Kind) string { return cluster + "-" + string(k) }

// Parse splits the name of a stack. Cluster names may contain dashes.
func Parse(stack string) (cluster string, k Kind, err error) {
	for kind := range registry() {
		if name, ok := strings.CutSuffix(stack, "-"+string(kind)); ok && name != "" {
			return name, kind, nil
		}
	}
	return "", "", fmt.Errorf("stack %q is not named after a cluster and a kind: expected <cluster>-core, <cluster>-bootstrap or <account>-pipelines", stack)
}

// Program is the program of a stack of a cluster, or of an account that a cluster
// stands for. It fails for an unknown kind, and for a spoke whose hub cannot be loaded.
func Program(c *config.Cluster, k Kind, o Options) (pulumi.RunFunc, error) {
	program, ok := registry()[k]
	if !ok || (k == Pipelines) != (c.Account != nil) {
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
	return bootstrap.CheckValues(c, Project, outputs)
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
