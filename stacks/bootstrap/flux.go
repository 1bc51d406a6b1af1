package bootstrap

import (
	"context"
	"fmt"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/flux"
	"tombolo/config"
	"tombolo/internal/names"
)

// strictSubstitution: a variable without a value is an error everywhere.
const strictSubstitution = true

// makeFlux installs Flux, unless Git has taken it over, and records what was
// applied.
func (p *program) makeFlux() error {
	args, err := p.fluxArgs()
	if err != nil {
		return err
	}
	own, err := p.custody(fluxEngine(p.c), args.Manifest)
	if err != nil {
		return err
	}
	args.HandedOver, args.Made = own.handedOver, own.made
	engine, err := flux.NewEngine(p.ctx, p.c.Name, args, p.own.provider, p.prepared)
	if err != nil {
		return err
	}
	p.ctx.Export(distributionKey, distributionRecord{Digest: own.digest}.output(engine.Made))
	return nil
}

func (p *program) fluxArgs() (*flux.EngineArgs, error) {
	manifest, err := flux.Product().Load(p.ctx.Context(), source(p.c))
	if err != nil {
		return nil, err
	}
	follow, err := follow(p.c)
	if err != nil {
		return nil, err
	}
	args := &flux.EngineArgs{Manifest: manifest, StrictSubstitution: strictSubstitution, Follow: follow}
	auth, err := p.secrets().auth(p.c.GitOps.Auth)
	if err != nil || auth == nil {
		return args, err
	}
	args.Auth = &flux.Auth{Username: auth.username, Password: auth.password, PrivateKey: auth.privateKey}
	if auth.knownHosts != "" {
		args.Auth.KnownHosts = pulumi.String(auth.knownHosts)
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
		Interval: interval, SubstituteFrom: names.InfraConfig,
	}, nil
}

// GitFiles are the files by which Flux manages itself from the cluster's
// repository, by their name. It fails for another engine.
func GitFiles(ctx context.Context, c *config.Cluster) (map[string][]byte, error) {
	if c.GitOps.Engine != config.Flux {
		return nil, fmt.Errorf("files for %s: its engine is %s, and only flux manages itself by files of ours", c.Name, c.GitOps.Engine)
	}
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
