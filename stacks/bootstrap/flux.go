package bootstrap

import (
	"context"
	"fmt"

	"tombolo/components/distribution"
	"tombolo/components/flux"
	"tombolo/config"
	"tombolo/internal/names"
)

// substitution: a variable without a value is an error everywhere. A Flux that was there
// before does as it did, or the manifests of others would be refused after an upgrade.
func (r distributionRecord) substitution() flux.Substitution {
	switch {
	case !r.TakenOver:
		return flux.SubstituteStrictly
	case r.Lenient:
		return flux.SubstituteLeniently
	}
	return flux.SubstituteAsReleased
}

// engineRecord is what this run is to record, without what it makes.
func (p *program) engineRecord() distributionRecord {
	return distributionRecord{TakenOver: p.takenOver, Lenient: p.lenient}
}

// makeFlux installs Flux.
func (p *program) makeFlux() error {
	_, err := p.makeEngine(flux.Product(), fluxEngine(p.c, p.engineRecord()), func(args distribution.EngineArgs) (*distribution.Engine, error) {
		return flux.NewEngine(p.ctx, p.c.Name, &flux.EngineArgs{
			EngineArgs: args, Substitution: p.engineRecord().substitution(), SubstituteFrom: names.InfraConfig,
		}, p.own.provider, p.prepared)
	})
	return err
}

// GitFiles are the files by which Flux manages itself from the cluster's
// repository, by their name. It fails for another engine.
func GitFiles(ctx context.Context, c *config.Cluster) (map[string][]byte, error) {
	if c.GitOps.Engine != config.Flux {
		return nil, fmt.Errorf("files for %s: its engine is %s, and only flux manages itself by files of ours", c.Name, c.GitOps.Engine)
	}
	manifest, err := manifestOf(ctx, flux.Product(), c)
	if err != nil {
		return nil, err
	}
	repository, err := repository(c)
	if err != nil {
		return nil, err
	}
	return flux.Files(&flux.FilesArgs{
		Manifest: manifest, Substitution: flux.SubstituteStrictly, Private: c.GitOps.Auth != nil,
		Follow: flux.Follow{Repository: repository, SubstituteFrom: names.InfraConfig},
	})
}
