package bootstrap

import (
	"context"
	"fmt"

	"tombolo/components/distribution"
	"tombolo/components/flux"
	"tombolo/config"
	"tombolo/internal/names"
)

// strictSubstitution: a variable without a value is an error everywhere.
const strictSubstitution = true

// substitutesStrictly says whether Flux is told to. One that was there before is not: the
// manifests of others would have to be strict, too.
func substitutesStrictly(takenOver bool) bool { return strictSubstitution && !takenOver }

// makeFlux installs Flux.
func (p *program) makeFlux() error {
	_, err := p.makeEngine(flux.Product(), fluxEngine(p.c, p.takenOver), func(args distribution.EngineArgs) (*distribution.Engine, error) {
		return flux.NewEngine(p.ctx, p.c.Name, &flux.EngineArgs{
			EngineArgs: args, StrictSubstitution: substitutesStrictly(p.takenOver), SubstituteFrom: names.InfraConfig,
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
		Manifest: manifest, StrictSubstitution: strictSubstitution, Private: c.GitOps.Auth != nil,
		Follow: flux.Follow{Repository: repository, SubstituteFrom: names.InfraConfig},
	})
}
