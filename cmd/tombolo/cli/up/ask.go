package up

import (
	"context"
	"fmt"
	"sync"

	"tombolo/automation"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/cli/result"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// ask shows the plans and prompts once for confirmation. It returns the clusters
// that have something to change: there is nothing to ask about the others.
func (o *Options) ask(ctx context.Context, s *fleet.Session[Driver], all []*config.Cluster) ([]*config.Cluster, error) {
	plans, err := o.plans(ctx, s, all)
	if err != nil {
		return nil, err
	}
	status := o.Status()
	var wanted []*config.Cluster
	for _, c := range all {
		if !result.Changes(plans[c.Name]) {
			status.Done("%s: nothing to change", c.Name)
			continue
		}
		wanted = append(wanted, c)
		render.FileChanges(o.Streams.ErrOut, c.Name, plans[c.Name].FileChanges)
		for _, plan := range result.Plans(s.Progress, plans[c.Name]) {
			render.WritePlan(o.Streams.ErrOut, plan, render.PlanOptions{Style: status.Style, Width: status.Width})
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	return wanted, o.Streams.Confirm(ctx, fmt.Sprintf("Change %s as planned?", clusters.Names(wanted)), left(wanted))
}

// plans previews the clusters.
func (o *Options) plans(ctx context.Context, s *fleet.Session[Driver], all []*config.Cluster) (map[string]automation.Result, error) {
	var mu sync.Mutex
	plans := map[string]automation.Result{}
	err := s.Look(ctx, "preview", all, fleet.Tasks{
		Work: func(ctx context.Context, _ fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			r, err := s.Driver.Preview(ctx, c, automation.PreviewOptions{Refresh: o.Refresh})
			mu.Lock()
			defer mu.Unlock()
			plans[c.Name] = r
			return result.Work(r), err
		},
	})
	return plans, err
}

func left(all []*config.Cluster) string {
	if len(all) == 1 {
		return all[0].Name + " was not changed"
	}
	return clusters.Names(all) + " were not changed"
}
