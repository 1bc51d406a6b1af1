package automation

import (
	"context"
	"time"

	"tombolo/automation/destroy"
	"tombolo/automation/health"
	"tombolo/automation/operation"
	"tombolo/automation/rebuild"
	"tombolo/automation/step"
	"tombolo/automation/upgrader"
	"tombolo/config"
)

type (
	// UpgradeOptions of an upgrade of Kubernetes.
	UpgradeOptions = upgrader.Options
	// UpgradePlan says how a cluster's Kubernetes gets to another version.
	UpgradePlan = upgrader.Plan
	// RebuildOptions of a rebuild.
	RebuildOptions = rebuild.Options
	// RebuildPhase is a part of a rebuild whose time is told.
	RebuildPhase = rebuild.Phase
	// RebuildPlan says what a rebuild is going to do.
	RebuildPlan = rebuild.Plan
	// RebuildRecord says how far a rebuild has come.
	RebuildRecord = rebuild.Record
)

// DefaultNodeTimeout is the longest wait for nodes of an upgrade when none is given.
const DefaultNodeTimeout = upgrader.DefaultNodeTimeout

// PlanUpgrade finds out what an upgrade would do, and changes nothing. It refuses what
// cannot be done or is not safe: strict.Problems when the cluster file says so, and a
// fault.Error for all else.
func (d *Driver) PlanUpgrade(ctx context.Context, c *config.Cluster, o UpgradeOptions) (UpgradePlan, error) {
	return d.upgrader().Plan(ctx, c, o)
}

// Upgrade goes through the steps of a plan: see upgrader.Upgrader.Steps.
func (d *Driver) Upgrade(ctx context.Context, c *config.Cluster, p UpgradePlan, o UpgradeOptions) error {
	return step.Run(ctx, d.upgrader().Steps(c, p, o), nil)
}

// PlanRebuild finds out what a rebuild would do, and changes nothing. It refuses what would
// keep the cluster from being destroyed, and what would keep the new one from being made:
// strict.Problems when the cluster file says so, and a fault.Error for all else.
func (d *Driver) PlanRebuild(ctx context.Context, c *config.Cluster, o RebuildOptions) (RebuildPlan, error) {
	if err := d.own().RefuseInTheWay(ctx, c, "rebuild"); err != nil {
		return RebuildPlan{}, err
	}
	return d.rebuilder().Plan(ctx, c, o)
}

// Rebuild destroys the cluster and makes it again, as a plan of PlanRebuild says: see rebuild.Rebuilder.Steps.
func (d *Driver) Rebuild(ctx context.Context, c *config.Cluster, p RebuildPlan, o RebuildOptions) error {
	return step.Run(ctx, d.rebuilder().Steps(c, p, o), nil)
}

func (d *Driver) upgrader() upgrader.Upgrader {
	return upgrader.Upgrader{
		Connector: d.connector(), Observer: d.opts.Observer, Cloud: d.deps.cloud, Run: host{d}.Run, Live: d.live,
		Up: func(ctx context.Context, c *config.Cluster) error {
			_, err := d.Up(ctx, c, UpOptions{Previewed: true})
			return err
		},
		Verify: d.verifyWithin,
	}
}

func (d *Driver) rebuilder() rebuild.Rebuilder {
	return rebuild.Rebuilder{
		Backend: d.backend, Connector: d.connector(), Hubs: d.hubs(), Destroyer: d.destroyer(), Reach: d.reach(),
		Progress: d.rebuildProgress(), Live: d.live, Prepare: d.prepare, Doctor: d.Doctor, Now: d.deps.now,
		Destroy: func(ctx context.Context, c *config.Cluster, o destroy.Options) ([]operation.StackResult, error) {
			r, err := d.Destroy(ctx, c, o)
			return r.Stacks, err
		},
		Up: func(ctx context.Context, c *config.Cluster, began func(string)) error {
			_, err := d.Up(ctx, c, UpOptions{Previewed: true, began: began})
			return err
		},
		Verify: func(ctx context.Context, c *config.Cluster) error {
			return d.verifyWithin(ctx, c, upgrader.DefaultGateTimeout)
		},
	}
}

func (d *Driver) verifyWithin(ctx context.Context, c *config.Cluster, timeout time.Duration) error {
	_, err := d.Verify(ctx, c, health.Options{Timeout: timeout})
	return err
}
