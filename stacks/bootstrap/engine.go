package bootstrap

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/flux"
	"tombolo/components/infraconfig"
	"tombolo/config"
)

// strictSubstitution: a variable without a value is an error everywhere.
const strictSubstitution = true

// makeEngine installs the engine, unless Git has taken it over, and records
// what was applied.
func makeEngine(ctx *pulumi.Context, c *config.Cluster, o Options, last distributionRecord, kubeconfig pulumi.StringOutput, opts ...pulumi.ResourceOption) error {
	args, err := engineArgs(ctx, c, o)
	if err != nil {
		return err
	}
	own, err := custodyOf(ctx, c, args.Manifest, last, kubeconfig, o.Env)
	if err != nil {
		return err
	}
	args.HandedOver, args.Made = own.handedOver, own.made
	engine, err := flux.NewEngine(ctx, c.Name, args, opts...)
	if err != nil {
		return err
	}
	ctx.Export(distributionKey, distributionRecord{Digest: own.digest}.output(engine.Made))
	return nil
}

func engineArgs(ctx *pulumi.Context, c *config.Cluster, o Options) (*flux.EngineArgs, error) {
	manifest, err := flux.Product().Load(ctx.Context(), source(c))
	if err != nil {
		return nil, err
	}
	follow, err := follow(c)
	if err != nil {
		return nil, err
	}
	args := &flux.EngineArgs{Manifest: manifest, StrictSubstitution: strictSubstitution, Follow: follow}
	if c.GitOps.Auth != nil {
		s := secrets{ctx: ctx, cluster: c, env: o.Env}
		if args.Auth, err = s.auth(*c.GitOps.Auth); err != nil {
			return nil, err
		}
	}
	return args, nil
}

func follow(c *config.Cluster) (flux.Follow, error) {
	interval, err := time.ParseDuration(c.GitOps.Interval)
	if err != nil {
		return flux.Follow{}, fmt.Errorf("gitops.interval: %w", err)
	}
	return flux.Follow{
		URL: c.GitOps.URL, Branch: c.GitOps.Branch, Path: c.GitOps.Path,
		Interval: interval, SubstituteFrom: infraconfig.Name,
	}, nil
}

// GitFiles are the files by which the engine manages itself from the cluster's
// repository, by their name.
func GitFiles(ctx context.Context, c *config.Cluster) (map[string][]byte, error) {
	manifest, err := flux.Product().Load(ctx, source(c))
	if err != nil {
		return nil, err
	}
	follow, err := follow(c)
	if err != nil {
		return nil, err
	}
	return flux.Files(&flux.FilesArgs{
		Manifest: manifest, StrictSubstitution: strictSubstitution, Follow: follow, Private: c.GitOps.Auth != nil,
	})
}

// besideFile is a path of the cluster file, which is relative to it.
func besideFile(c *config.Cluster, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(c.File), path)
}
