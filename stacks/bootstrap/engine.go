package bootstrap

import (
	"fmt"
	"time"

	"tombolo/components/distribution"
	"tombolo/config"
)

// makeEngine makes an engine by install, unless Git has taken it over, and records
// what was applied.
func (p *program) makeEngine(product distribution.Product, e engine,
	install func(distribution.EngineArgs) (*distribution.Engine, error),
) (*distribution.Engine, error) {
	args, err := p.engineArgs(product)
	if err != nil {
		return nil, err
	}
	own, err := p.custody(e, args.Manifest)
	if err != nil {
		return nil, err
	}
	args.HandedOver, args.Made, args.TakenOver = own.handedOver, own.made, p.takenOver
	made, err := install(args)
	if err != nil {
		return nil, err
	}
	record := p.engineRecord()
	record.Digest = own.digest
	p.ctx.Export(distributionKey, record.output(made.Made))
	return made, nil
}

func (p *program) engineArgs(product distribution.Product) (distribution.EngineArgs, error) {
	manifest, err := manifestOf(p.ctx.Context(), product, p.c)
	if err != nil {
		return distribution.EngineArgs{}, err
	}
	repository, err := repository(p.c)
	if err != nil {
		return distribution.EngineArgs{}, err
	}
	args := distribution.EngineArgs{Manifest: manifest, Repository: repository, CertificateAuthority: p.c.Egress.Certificates()}
	if args.PullConfig, err = p.pullConfig(); err != nil {
		return distribution.EngineArgs{}, err
	}
	auth, err := p.secrets().auth(p.c.GitOps.Auth)
	if auth != nil {
		args.Auth = &distribution.Auth{
			Username: auth.username, Password: auth.password, PrivateKey: auth.privateKey, KnownHosts: auth.knownHosts,
		}
	}
	return args, err
}

// repository is what the cluster's engine follows.
func repository(c *config.Cluster) (distribution.Repository, error) {
	g := c.GitOps
	interval, err := time.ParseDuration(g.Interval)
	if err != nil {
		err = fmt.Errorf("gitops.interval: %w", err)
	}
	return distribution.Repository{URL: g.URL, Branch: g.Branch, Path: g.Path, Interval: interval}, err
}
