package automation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/pulumicli"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/internal/wording"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
	"tombolo/stacks/owner"
)

// Destroy takes the cluster down: bootstrap, then core. When bootstrap could
// not be destroyed, core is kept: what is left in the cluster would otherwise
// be lost with it, and what it made in the cloud left behind. Stacks that do
// not exist are left out of the result.
//
// Before bootstrap the cluster is emptied. With Argo CD its applications go
// first, while its API answers, and the hub forgets it; Flux is suspended. Then
// what controllers have made cloud resources for is deleted, and they give those
// back. A hub is kept as long as spokes are registered with it.
//
// Before core the cloud is searched for what is left over, and after core again:
// then nothing may be found but what is kept on purpose. What is found otherwise
// is a teardown.LeftoversError.
func (d *Driver) Destroy(ctx context.Context, c *config.Cluster, o DestroyOptions) (Result, error) {
	if err := refuseProtected(c, o); err != nil {
		return Result{Cluster: c.Name}, err
	}
	if err := errors.Join(d.backend.RequireSpace(), d.backend.Mend(ctx, stackNames(c)...), d.forgetUp(ctx, c)); err != nil {
		return Result{Cluster: c.Name}, err
	}
	run := d.begin(c)
	if o.Only != stacks.Core {
		r, err := d.destroyBootstrap(ctx, c, o)
		if run.add(r); err != nil || o.Only == stacks.Bootstrap {
			return run.end(err)
		}
	}
	r, err := d.destroyCore(ctx, c, o)
	run.add(r)
	return run.end(err)
}

func (d *Driver) destroyBootstrap(ctx context.Context, c *config.Cluster, o DestroyOptions) (StackResult, error) {
	begin(o.began, drainPart)
	applications, err := d.applications(ctx, c)
	if err != nil {
		return StackResult{}, err
	}
	env, err := d.unregister(ctx, c, o)
	if err != nil {
		return StackResult{}, err
	}
	if err := d.drain(ctx, c, o, env, applications); err != nil {
		return StackResult{}, err
	}
	begin(o.began, string(stacks.Bootstrap))
	end := d.retryDeletions(ctx, c)
	s, result, err := d.destroyStack(ctx, c, stacks.Bootstrap, o, env)
	end()
	if err != nil && o.Only == "" {
		return result, keptCore(c, err)
	}
	if err != nil || s == nil {
		return result, err
	}
	return s.removed(ctx, result, o)
}

// deletionPause is how long a cluster has to delete definitions and namespaces by itself.
const deletionPause = 10 * time.Second

// retryDeletions has the cluster try again to delete what it could not while bootstrap is
// destroyed, and returns what ends that. A cluster that does not answer has nothing to try.
func (d *Driver) retryDeletions(ctx context.Context, c *config.Cluster) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		select {
		case <-ctx.Done(): // most destructions end before
			return
		case <-time.After(deletionPause):
		}
		st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap))
		if err != nil {
			return
		}
		ours := func(kind, name string) bool {
			return slices.ContainsFunc(st.All(), func(r apitype.ResourceV3) bool {
				return strings.HasSuffix(string(r.Type), ":"+kind) && string(r.ID) == name && !r.External
			})
		}
		if own, err := d.probe(ctx, c); err == nil && own.answers() {
			teardown.Cluster{Cluster: own.cluster}.RetryDeletions(ctx, deletionPause, ours)
		}
	})
	return func() { cancel(); work.Wait() }
}

// begin tells who wants to know it that an operation comes to a part of itself.
func begin(began func(string), part string) {
	if began != nil {
		began(part)
	}
}

// destroyCore keeps the identity until a search has found nothing that is left over:
// a second destruction can prove by it what it deletes. What holds data and is kept
// needs it, too.
func (d *Driver) destroyCore(ctx context.Context, c *config.Cluster, o DestroyOptions) (StackResult, error) {
	begin(o.began, string(stacks.Core))
	if err := d.refuseWhileBootstrapped(ctx, c); err != nil {
		return StackResult{}, err
	}
	core, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil {
		return StackResult{}, err
	}
	sweep := d.sweep(c, o, core)
	if err := d.clearCloud(ctx, c, sweep, core); err != nil {
		return StackResult{}, err
	}
	o.guards = len(sweep.Kept) > 0
	s, result, err := d.destroyStack(ctx, c, stacks.Core, o, nil)
	if err != nil || s == nil {
		return result, err
	}
	kept, err := sweep.AfterCore(ctx, d.staying(ctx, c))
	result.Leftovers = sweep.Deleted
	if err != nil {
		return result, err
	}
	s.keep(&result, kept)
	if c.Rebuild == "" && (len(result.Kept) == 0 || o.Remove) {
		if err := s.forget(ctx); err != nil {
			return result, err
		}
	}
	return s.removed(ctx, result, o)
}

// clearCloud deals with what controllers have left over, before core is destroyed.
func (d *Driver) clearCloud(ctx context.Context, c *config.Cluster, sweep *teardown.Sweep, core *backend.State) error {
	if core.Resources() == 0 {
		return nil
	}
	bootstrap, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap))
	if err != nil {
		return err
	}
	return sweep.BeforeCore(ctx, core.All(), bootstrap.All())
}

func (d *Driver) sweep(c *config.Cluster, o DestroyOptions, core *backend.State) *teardown.Sweep {
	return &teardown.Sweep{
		Cluster: c, Cloud: d.cloud(c), Observer: d.opts.Observer,
		Owner: core.Owner(), ControlPlane: d.controlPlane(c, core),
		Policy: o.Leftovers, KeepData: o.KeepData, Timeout: o.DrainTimeout,
	}
}

// controlPlane is the one that core has, or had when its destruction began.
func (d *Driver) controlPlane(c *config.Cluster, core *backend.State) owner.ControlPlane {
	return cmp.Or(d.cloud(c).ControlPlane(core.All()), core.ControlPlane())
}

// forget takes the identity of a cluster of which nothing is left out of the state.
func (s *session) forget(ctx context.Context) error {
	st, err := s.driver.backend.State(ctx, s.name)
	if err != nil || len(st.All()) == 0 || !st.Destroyed() {
		return err
	}
	empty, err := backend.Empty(st.Raw)
	if err != nil {
		return fmt.Errorf("take the identity of %s out of stack %s: %w", s.cluster.Name, s.name, err)
	}
	return s.importState(ctx, "take the cluster's identity out of", st, empty)
}

// refuseProtected refuses to destroy a protected cluster that is not confirmed.
func refuseProtected(c *config.Cluster, o DestroyOptions) error {
	if !c.Protect || o.Confirmed {
		return nil
	}
	return &fault.Error{
		What:   fmt.Sprintf("destroy %s: it is protected by its %s file", c.Name, fileKind(c)),
		Remedy: fmt.Sprintf("nothing was changed: give --yes-destroy %s, or take protect out of the file", c.Name),
	}
}

// fileKind says what describes the cluster, or the account that it stands for.
func fileKind(c *config.Cluster) string {
	if c.Account != nil {
		return "account"
	}
	return "cluster"
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
func (d *Driver) refuseWhileBootstrapped(ctx context.Context, c *config.Cluster) error {
	bootstrap := stacks.Name(c.Name, stacks.Bootstrap)
	st, err := d.backend.State(ctx, bootstrap)
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

// destroyStack destroys what is in a stack, but for the identity. There is no session
// where there is no stack.
func (d *Driver) destroyStack(ctx context.Context, c *config.Cluster, k stacks.Kind, o DestroyOptions,
	env map[string]string,
) (*session, StackResult, error) {
	st, err := d.recovery(c).Recover(ctx, c, k, env)
	if err != nil || st == nil {
		return nil, StackResult{}, err
	}
	s, err := d.open(ctx, c, k, catalog.Options{}, true)
	if err != nil {
		return nil, StackResult{}, err
	}
	s.setEnv(env)
	result := StackResult{Stack: s.name, Kind: k, Operation: "destroy", Changes: Changes{}}
	if st.Destroyed() {
		return s, result, nil
	}
	kept, err := s.prepareDestroy(ctx, st, o)
	if err != nil {
		return s, result, err
	}
	staying := st.Identity()
	n := len(st.Deployment.Resources)
	if len(staying) > 0 {
		n -= 2 // it stays, below the stack itself
	}
	if c.Rebuild != "" && o.KeepData {
		data := s.driver.data(c, st)
		staying, n = append(staying, data...), n-len(data)
	}
	d.opts.Observer.StackPlanned(s.name, n)
	result, err = s.run(ctx, "destroy", func(ctx context.Context, ch chan<- events.EngineEvent) error {
		opts := []optdestroy.Option{optdestroy.EventStreams(ch), optdestroy.SuppressProgress(), optdestroy.Exclude(staying)}
		if o.Refresh {
			opts = append(opts, optdestroy.Refresh())
		}
		_, err := s.stack.Destroy(ctx, opts...)
		return err
	})
	result.Kept = kept
	if err != nil {
		s.protectAgain(ctx)
	}
	return s, result, err
}

// data are the resources of a state that hold data, or guard it. A rebuild leaves them in
// the state, and not in the cloud alone: the new cluster goes on with them.
func (d *Driver) data(c *config.Cluster, st *backend.State) []string {
	var urns []string
	for _, r := range st.All() {
		if d.cloud(c).Data(string(r.Type)) != teardown.NoData && !r.Delete && !r.External {
			urns = append(urns, string(r.URN))
		}
	}
	return urns
}

// staying are the resources that core has after its destruction: in a rebuild the data that
// is kept, and what that needs. Without a rebuild nothing is known to stay.
func (d *Driver) staying(ctx context.Context, c *config.Cluster) []apitype.ResourceV3 {
	if c.Rebuild == "" {
		return nil
	}
	st, _ := d.backend.State(ctx, stacks.Name(c.Name, stacks.Core)) // else the search finds them, and says so
	return st.All()
}

// protectTimeout bounds protectAgain, also after an interruption: three calls of the
// CLI, half a second each, and a slow bucket.
const protectTimeout = 30 * time.Second

// protectAgain puts back the protection that was taken off for a destruction that
// failed. When it cannot, the next command does.
func (s *session) protectAgain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), protectTimeout)
	defer cancel()
	st, err := s.driver.backend.State(ctx, s.name)
	if err != nil || st == nil {
		return
	}
	if _, err := s.driver.recovery(s.cluster).Protect(ctx, s.cluster, s.kind, st); err != nil {
		s.driver.opts.Observer.Note(s.name, "what is left is not protected: "+err.Error()+"; the next up or destroy protects it")
	}
}

// prepareDestroy writes into the state what the destruction needs there, and
// returns what it leaves in the cloud.
func (s *session) prepareDestroy(ctx context.Context, st *backend.State, o DestroyOptions) ([]teardown.Kept, error) {
	p := teardown.Preparation{
		Cloud: s.driver.cloud(s.cluster), KeepData: o.KeepData, ControlPlane: s.driver.controlPlane(s.cluster, st),
	}
	p.Guards = o.guards || len(p.Kept(st.Deployment.Resources)) > 0
	edited, n, err := backend.Edit(st.Raw, p.Edit)
	if err == nil {
		edited, err = backend.WithUnprotected(st, edited)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare stack %s for its destruction: %w", s.name, err)
	}
	if n == 0 {
		return nil, nil
	}
	if err := s.importState(ctx, "prepare the destruction of", st, edited); err != nil {
		return nil, err
	}
	note := s.driver.noter(s.name)
	if p.Unprotected > 0 {
		note(fmt.Sprintf("the protection of %s was taken off", wording.Plural(p.Unprotected, "resource", "resources")))
	}
	kept := p.Kept(st.Deployment.Resources)
	for _, k := range kept {
		note("keeps " + k.String())
	}
	return kept, nil
}

// keep reports what the last search has found and leaves in the cloud, but for
// what was reported when the stack was destroyed.
func (s *session) keep(result *StackResult, found []teardown.Leftover) {
	for _, l := range found {
		if slices.ContainsFunc(result.Kept, func(k teardown.Kept) bool { return k.Is(l) }) {
			continue
		}
		result.Kept = append(result.Kept, teardown.Kept{Type: l.Type, ID: l.ID, Name: l.Name})
		s.driver.opts.Observer.Note(s.name, "keeps "+l.String())
	}
}

// removed takes the stack out of the backend where that is wanted, and says so
// in the result.
func (s *session) removed(ctx context.Context, result StackResult, o DestroyOptions) (StackResult, error) {
	if !o.Remove {
		return result, nil
	}
	err := s.remove(ctx)
	result.Removed = err == nil
	return result, err
}

// remove takes the empty stack out of the backend. Its settings file stays
// where it is the user's: secrets in it are needed when the cluster is made
// again.
func (s *session) remove(ctx context.Context) error {
	s.command.PreserveConfig = true
	err := s.stack.Workspace().RemoveStack(ctx, s.name)
	if err != nil {
		return s.driver.pulumi.Failure(ctx, pulumicli.Failed{Stack: s.name, Operation: "remove", Err: err})
	}
	return nil
}
