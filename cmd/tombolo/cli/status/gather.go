package status

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"tombolo/automation"
	"tombolo/automation/backend"
	"tombolo/automation/health"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/wording"
)

// gather returns the status of the clusters, in the order of their waves. Clusters
// that have stacks but no longer a file come last.
func (o *Options) gather(ctx context.Context, all []*config.Cluster) ([]Standing, error) {
	root, err := o.Root()
	if err != nil {
		return nil, err
	}
	var found []Standing
	err = factory.With(ctx, o.Progress, o.Driver, func(driver Driver, _ *render.Progress) error {
		listed, err := driver.List(ctx, filepath.Join(root, "clusters"))
		if err != nil {
			return err
		}
		runs, err := o.Records()
		if err != nil {
			return err
		}
		if found, err = o.remembered(all, listed, runs); err != nil {
			return err
		}
		o.Status().Doing("looking at %s", wording.Count(len(all), "cluster"))
		return o.lookAll(ctx, driver, all, found)
	})
	return found, err
}

// remembered is what is known of the clusters without asking them: the first
// ones are those of the files, in their order.
func (o *Options) remembered(all []*config.Cluster, listed []automation.ClusterInfo, runs []rollout.Record) ([]Standing, error) {
	stacks := map[string][]backend.StackInfo{}
	var found []Standing
	for _, c := range all {
		found = append(found, fromFile(c))
	}
	for _, c := range listed {
		stacks[c.Name] = c.Stacks
		if c.File == "" && o.Selection.Everything() {
			found = append(found, Standing{Name: c.Name, Wave: c.Wave, GitOps: withoutFile(c.Stacks)})
		}
	}
	for i := range found {
		s := &found[i]
		s.Stacks, s.Last = append([]backend.StackInfo{}, stacks[s.Name]...), lastOf(s.Name, runs)
		var err error
		if s.Drift, err = o.Drift(s.Name); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// withoutFile is the state of a cluster that has stacks and no file.
func withoutFile(stacks []backend.StackInfo) GitOps {
	if !slices.ContainsFunc(stacks, func(s backend.StackInfo) bool { return s.Resources > 0 }) {
		return GitOps{State: gitopsNone}
	}
	return GitOps{State: gitopsUnknown, Cause: "it has no cluster file any more"}
}

func fromFile(c *config.Cluster) Standing {
	s := Standing{
		Name: c.Name, Environment: c.Environment, Region: c.Cloud.Region, Wave: c.Wave,
		Engine: string(c.GitOps.Engine), EngineVersion: c.GitOps.Distribution.Version,
		Kubernetes: Kubernetes{File: c.Kubernetes.Version},
	}
	if c.IsSpoke() {
		s.Hub = c.Hub()
	}
	return s
}

// lastOf is the outcome for a cluster in the newest run that has started it.
func lastOf(cluster string, runs []rollout.Record) *Last {
	for _, r := range runs {
		e, ok := r.Ends[cluster]
		if !ok || e.Started.IsZero() {
			continue
		}
		at := e.Finished
		if at.IsZero() {
			at = e.Started
		}
		return &Last{
			Operation: r.Operation, Outcome: e.Outcome, Phase: e.Phase, Changes: e.Changes,
			At: at, Seconds: e.Duration.Seconds(), Cause: e.Cause,
			OutsideWindow: r.Outside[cluster].Reason,
		}
	}
	return nil
}

// lookAll looks at all clusters that have a file. A failure for one does not stop
// the others.
func (o *Options) lookAll(ctx context.Context, driver Driver, all []*config.Cluster, found []Standing) error {
	var group errgroup.Group
	group.SetLimit(o.Parallel)
	for i, c := range all {
		if len(found[i].Stacks) == 0 {
			found[i].GitOps, found[i].Drift = GitOps{State: gitopsNone}, nil
			continue
		}
		group.Go(func() error {
			looking, cancel := context.WithTimeout(ctx, o.Timeout)
			defer cancel()
			found[i].look(looking, driver, c)
			return nil
		})
	}
	return errors.Join(group.Wait(), ctx.Err())
}

// look asks the cluster, where the states have one. The drift that was found
// before is of what is gone, where the cluster was destroyed.
func (s *Standing) look(ctx context.Context, driver Driver, c *config.Cluster) {
	remains, err := driver.Remains(ctx, c)
	switch {
	case err != nil:
		s.see(health.Look{}, err)
	case remains.None():
		s.GitOps, s.Drift = GitOps{State: gitopsNone}, nil
	case remains.Incomplete:
		s.GitOps = left(s.Name, remains)
	default:
		s.see(driver.Look(ctx, c))
	}
}

// see records the result of a look, or why there is none.
func (s *Standing) see(look health.Look, err error) {
	s.Kubernetes.Deployed, s.Systems = look.Kubernetes, look.Systems
	g := GitOps{State: gitopsReady, Total: len(look.Checks)}
	for _, c := range look.Checks {
		if c.Ready {
			g.Ready++
		} else {
			g.Waiting = append(g.Waiting, c.String())
		}
	}
	switch {
	case err != nil:
		g.State, g.Cause = gitopsUnknown, err.Error()
	case look.Cause != nil && look.Cause.Unreachable():
		g = GitOps{State: gitopsUnknown, Cause: look.Cause.String()}
	case look.Cause != nil:
		g.State, g.Cause = gitopsNotReady, look.Cause.String()
	}
	s.GitOps = g
}
