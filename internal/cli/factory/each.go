package factory

import (
	"context"

	"tombolo/automation"
	"tombolo/config"
	"tombolo/internal/render"
)

// Each opens the driver, which tells the progress what it does, and works on
// the clusters one after the other. It stops at the first failure.
func Each[D any](ctx context.Context, clusters []*config.Cluster, progress func() *render.Progress,
	open func(context.Context, automation.Observer) (D, error), work func(D, *render.Progress, *config.Cluster) error,
) error {
	p := progress()
	defer p.Close()
	driver, err := open(ctx, p)
	if err != nil {
		return err
	}
	for _, c := range clusters {
		if err := work(driver, p, c); err != nil {
			return err
		}
	}
	return nil
}
