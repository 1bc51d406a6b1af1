package destroy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/hubs"
	"tombolo/automation/operation"
	"tombolo/automation/pulumicli"
	"tombolo/automation/step"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/internal/wording"
	"tombolo/stacks"
)

func (d Destroyer) sweep(c *config.Cluster, o Options, core *backend.State) *teardown.Sweep {
	return &teardown.Sweep{
		Cluster: c, Cloud: d.Runner.Cloud(c), Observer: d.Runner.Observer,
		Owner: core.Owner(), ControlPlane: d.controlPlane(c, core),
		Policy: o.Leftovers, KeepData: o.KeepData, Timeout: o.DrainTimeout,
	}
}

// destruction of a cluster under way.
type destruction struct {
	Destroyer
	cluster *config.Cluster
	options Options
	// env is what the destruction needs in its environment when something that bootstrap reaches is gone.
	env map[string]string
	// end adds the result of a stack.
	end func(operation.StackResult)
}

// Steps of a destruction: see automation.Driver.Destroy. end is called with the result of each stack.
func (d Destroyer) Steps(c *config.Cluster, o Options, end func(operation.StackResult)) []step.Step {
	t := &destruction{Destroyer: d, cluster: c, options: o, end: end}
	bootstrap := []step.Step{
		{Name: "drain", Part: true, Do: t.empty},
		{Name: string(stacks.Bootstrap), Part: true, Do: t.bootstrap},
	}
	core := []step.Step{{Name: string(stacks.Core), Part: true, Do: t.core}}
	switch o.Only {
	case stacks.Bootstrap:
		return bootstrap
	case stacks.Core:
		return core
	}
	return slices.Concat(bootstrap, core)
}

// empty has the cluster leave its hub, and its controllers give back what they have in the cloud.
func (t *destruction) empty(ctx context.Context) error {
	// They are listed before the hub deletes them.
	applications, err := t.applications(ctx, t.cluster)
	if err != nil {
		return err
	}
	if t.env, err = t.Hubs.Leave(ctx, t.cluster, hubs.LeaveOptions{
		Unreachable: t.options.Unreachable, Timeout: t.options.DrainTimeout, TakeOff: t.options.Leftovers == teardown.DeleteLeftovers,
	}); err != nil {
		return err
	}
	return t.drain(ctx, t.cluster, t.options, t.env, applications)
}

// bootstrap destroys bootstrap. When that fails core is kept.
func (t *destruction) bootstrap(ctx context.Context) error {
	stop := t.retryDeletions(ctx, t.cluster)
	s, result, err := t.stack(ctx, t.cluster, stacks.Bootstrap, t.options, t.env, withoutData)
	stop()
	if err == nil && s != nil {
		result, err = t.removed(ctx, s, result, t.options)
	} else if err != nil && t.options.Only == "" {
		err = keptCore(t.cluster, err)
	}
	t.end(result)
	return err
}

// core destroys core. It keeps the identity until a search has found nothing that is left over:
// a second destruction can prove by it what it deletes. What holds data and is kept
// needs it, too.
func (t *destruction) core(ctx context.Context) error {
	if err := t.refuseWhileBootstrapped(ctx, t.cluster); err != nil {
		return err
	}
	core, err := t.Backend.State(ctx, stacks.Name(t.cluster.Name, stacks.Core))
	if err != nil {
		return err
	}
	sweep := t.sweep(t.cluster, t.options, core)
	if err := t.clearCloud(ctx, t.cluster, sweep, core); err != nil {
		return err
	}
	result, err := t.coreAfter(ctx, sweep)
	t.end(result)
	return err
}

// coreAfter destroys core after a sweep, and sweeps again.
func (t *destruction) coreAfter(ctx context.Context, sweep *teardown.Sweep) (operation.StackResult, error) {
	kept := withoutData
	if len(sweep.Kept) > 0 {
		kept = withData
	}
	s, result, err := t.stack(ctx, t.cluster, stacks.Core, t.options, nil, kept)
	if err != nil || s == nil {
		return result, err
	}
	found, err := sweep.AfterCore(ctx, t.staying(ctx, t.cluster))
	result.Leftovers = sweep.Deleted
	if err != nil {
		return result, err
	}
	t.keep(s, &result, found)
	if t.cluster.Rebuild == "" && (len(result.Kept) == 0 || t.options.Remove) {
		if err := t.forget(ctx, s); err != nil {
			return result, err
		}
	}
	return t.removed(ctx, s, result, t.options)
}

// Pipelines destroys the stack of an account. No controller has made anything that could be left over.
func (d Destroyer) Pipelines(ctx context.Context, c *config.Cluster, o Options) (operation.StackResult, error) {
	s, r, err := d.stack(ctx, c, stacks.Pipelines, o, nil, withoutData)
	if err != nil || s == nil {
		return r, err
	}
	if err := d.forget(ctx, s); err != nil {
		return r, err
	}
	return d.removed(ctx, s, r, o)
}

// deletionPause is how long a cluster has to delete definitions and namespaces by itself.
const deletionPause = 10 * time.Second

// retryDeletions has the cluster try again to delete what it could not while bootstrap is
// destroyed, and returns what ends that. A cluster that does not answer has nothing to try.
func (d Destroyer) retryDeletions(ctx context.Context, c *config.Cluster) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		select {
		case <-ctx.Done(): // most destructions end before
			return
		case <-time.After(deletionPause):
		}
		st, err := d.Backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap))
		if err != nil {
			return
		}
		ours := func(kind, name string) bool {
			return slices.ContainsFunc(st.All(), func(r apitype.ResourceV3) bool {
				return strings.HasSuffix(string(r.Type), ":"+kind) && string(r.ID) == name && !r.External
			})
		}
		if own, err := d.Connector.Probe(ctx, c); err == nil && own.Answers() {
			teardown.Cluster{Cluster: own.Cluster}.RetryDeletions(ctx, deletionPause, ours)
		}
	})
	return func() { cancel(); work.Wait() }
}

// clearCloud deals with what controllers have left over, before core is destroyed.
func (d Destroyer) clearCloud(ctx context.Context, c *config.Cluster, sweep *teardown.Sweep, core *backend.State) error {
	if core.Resources() == 0 {
		return nil
	}
	bootstrap, err := d.Backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap))
	if err != nil {
		return err
	}
	return sweep.BeforeCore(ctx, core.All(), bootstrap.All())
}

// keptCore says that a failed teardown of bootstrap kept core.
func keptCore(c *config.Cluster, err error) error {
	if command := new(pulumicli.Error); !errors.As(err, &command) {
		return err // nothing was started
	}
	what := fmt.Sprintf("%v (stack %s was kept)", err, stacks.Name(c.Name, stacks.Core))
	return &fault.Error{Class: fault.Deployment, What: what, Err: err}
}

// refuseWhileBootstrapped keeps core alive as long as bootstrap has resources.
func (d Destroyer) refuseWhileBootstrapped(ctx context.Context, c *config.Cluster) error {
	bootstrap := stacks.Name(c.Name, stacks.Bootstrap)
	st, err := d.Backend.State(ctx, bootstrap)
	if err != nil {
		return err
	}
	n := st.Resources()
	if st != nil {
		n += len(st.Deployment.PendingOperations)
	}
	if n == 0 {
		return nil
	}
	return &fault.Error{
		What: fmt.Sprintf("stack %s cannot be destroyed: stack %s still has %s",
			stacks.Name(c.Name, stacks.Core), bootstrap, wording.Plural(n, "resource", "resources")),
		Remedy: fmt.Sprintf("destroy both with `tombolo destroy %s`", c.Name),
	}
}
