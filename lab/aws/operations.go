package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

// interrupted is the error of an operation whose caller stopped waiting. The
// operation itself goes on, as it does in AWS.
type interrupted struct {
	record *record
	reason error
}

func (e *interrupted) Error() string {
	return fmt.Sprintf("stopped waiting for %s %s, which goes on: %v", e.record.Type, e.record.ID, e.reason)
}

func (e *interrupted) Unwrap() error { return e.reason }

// create makes a resource.
func (c *Cloud) create(ctx context.Context, s *session, typ *resourceType, in props) (*record, error) {
	r, unlock, err := c.beginCreate(s, typ, in)
	if err != nil {
		return nil, err
	}
	return c.await(ctx, r, func(ctx context.Context) (*record, error) {
		defer unlock()
		done, err := c.settle(ctx, typ, r, typ.takes.create)
		if err != nil && !errors.Is(err, errClosing) {
			err = errors.Join(err, c.undo(ctx, typ, r))
		}
		return done, err
	})
}

// beginCreate decides whether AWS would make the resource, and records it. The
// resource is locked when it returns: updates and deletions wait. What AWS lets
// be created over and over, such as a policy, may be busy: then the last one
// wins, and nobody waits with the account locked.
func (c *Cloud) beginCreate(s *session, typ *resourceType, in props) (*record, func(), error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &record{Type: typ.token, Region: s.region, Created: c.now(), Inputs: in, Outputs: in.clone()}
	if typ.global {
		r.Region = global
	}
	op := &call{cloud: c, session: s, typ: typ, action: "creating", r: r}
	if err := op.checkReferences(); err != nil {
		return nil, nil, err
	}
	op.setTags()
	id, err := typ.create(op)
	if err != nil {
		return nil, nil, err
	}
	if r.ID = id; typ.settle != nil {
		r.Status = statusCreating
	}
	normal(map[string]any(r.Outputs))
	if err := c.store.put(r); err != nil {
		return nil, nil, err
	}
	return r, c.busy.tryLock(resourceKey(typ, s, id)), nil
}

// undo removes what could not be made after all, so that it can be tried again.
func (c *Cloud) undo(ctx context.Context, typ *resourceType, r *record) error {
	op := &call{cloud: c, session: &session{region: r.Region}, typ: typ, action: "deleting", r: r}
	return c.finishRemove(ctx, op, 0)
}

// update changes a resource. known are its inputs as the caller knew them.
func (c *Cloud) update(ctx context.Context, s *session, typ *resourceType, id string, known, in props) (*record, error) {
	target := &record{Type: typ.token, ID: id}
	return c.await(ctx, target, func(background context.Context) (*record, error) {
		defer c.lockResource(typ, s, id)()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r, err := c.beginUpdate(s, typ, id, known, in)
		if err != nil {
			return nil, err
		}
		return c.settle(background, typ, r, typ.takes.update)
	})
}

func (c *Cloud) beginUpdate(s *session, typ *resourceType, id string, known, in props) (*record, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.lookup(typ, s.region, id)
	if old == nil {
		return nil, fmt.Errorf("updating %s (%s): it does not exist any more; run `pulumi refresh`", typ.noun, id)
	}
	r := old.clone()
	for k := range old.Inputs {
		if _, still := in[k]; !still {
			delete(r.Outputs, k)
		}
	}
	r.Inputs = in
	maps.Copy(r.Outputs, in.clone())
	op := &call{cloud: c, session: s, typ: typ, action: "updating", r: r, old: old}
	if err := op.checkReferences(); err != nil {
		return nil, err
	}
	op.keepTags(known)
	if typ.update != nil {
		if err := typ.update(op); err != nil {
			return nil, err
		}
	}
	if typ.settle != nil && r.Status != statusCreating {
		r.Status = statusUpdating
	}
	normal(map[string]any(r.Outputs))
	if err := c.store.put(r); err != nil {
		return nil, err
	}
	return r, nil
}

// settle waits as long as AWS takes, does what the type does outside of the
// account, and records the result.
func (c *Cloud) settle(ctx context.Context, typ *resourceType, r *record, takes time.Duration) (*record, error) {
	if err := c.delay(takes); err != nil || typ.settle == nil {
		return r, err
	}
	done := r.clone()
	if err := typ.settle(ctx, c, done); err != nil {
		return nil, err
	}
	done.Status = statusActive
	if done.Outputs.has("status") {
		done.Outputs["status"] = statusActive
	}
	normal(map[string]any(done.Outputs))
	c.mu.Lock()
	defer c.mu.Unlock()
	return done, c.store.put(done)
}

// lockResource makes operations on one resource wait for each other.
func (c *Cloud) lockResource(typ *resourceType, s *session, id string) (unlock func()) {
	return c.busy.lock(resourceKey(typ, s, id))
}

func resourceKey(typ *resourceType, s *session, id string) string {
	return typ.token + "|" + s.region + "|" + id
}

// remove deletes a resource. Deleting what does not exist is no error.
func (c *Cloud) remove(ctx context.Context, s *session, typ *resourceType, id string) error {
	target := &record{Type: typ.token, ID: id}
	_, err := c.await(ctx, target, func(background context.Context) (*record, error) {
		defer c.lockResource(typ, s, id)()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		op, err := c.beginRemove(s, typ, id)
		if err != nil || op == nil {
			return nil, err
		}
		return nil, c.finishRemove(background, op, typ.takes.remove)
	})
	return err
}

// prepareRemove does what the provider does before it deletes a resource.
func (c *Cloud) prepareRemove(typ *resourceType, region, id string, known props) error {
	if typ.clear == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return typ.clear(c, region, id, known)
}

func (c *Cloud) beginRemove(s *session, typ *resourceType, id string) (*call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.lookup(typ, s.region, id)
	if r == nil {
		return nil, nil
	}
	op := &call{cloud: c, session: s, typ: typ, action: "deleting", r: r.clone(), old: r}
	if _, err := op.dependants(); err != nil {
		return nil, err
	}
	if typ.remove != nil {
		if err := typ.remove(op); err != nil {
			return nil, err
		}
	}
	if typ.teardown == nil {
		return op, nil
	}
	op.r.Status = statusDeleting
	return op, c.store.put(op.r)
}

// finishRemove waits as long as AWS takes, removes what is outside of the
// account, and forgets the record.
func (c *Cloud) finishRemove(ctx context.Context, op *call, takes time.Duration) error {
	if err := c.delay(takes); err != nil {
		return err
	}
	if op.typ.teardown != nil {
		if err := op.typ.teardown(ctx, c, op.r); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return op.removeRecords()
}

// removeRecords forgets the call's resource and what goes with it. A record
// that its type has put aside is kept.
func (c *call) removeRecords() error {
	if c.r.gone() {
		return c.cloud.store.put(c.r)
	}
	cascade, err := c.dependants()
	if err != nil {
		return err
	}
	for _, r := range cascade {
		if err := c.cloud.store.remove(r); err != nil {
			return err
		}
	}
	return c.cloud.store.remove(c.r)
}

// read looks a resource up; nil when there is none.
func (c *Cloud) read(typ *resourceType, s *session, id string) *record {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lookup(typ, s.region, id)
}

// lookup finds a resource by the id that Pulumi has, or by the id that the
// provider imports it by.
func (c *Cloud) lookup(typ *resourceType, region, id string) *record {
	if r := c.store.get(typ.token, region, id); r != nil {
		if r.gone() {
			return nil
		}
		return r
	}
	for r := range c.each(typ.token, region) {
		if typ.identifies != nil && typ.identifies(r, id) {
			return r
		}
	}
	return nil
}

// await runs an operation until it is done or nobody waits for it any more; it
// is not stopped then.
func (c *Cloud) await(ctx context.Context, r *record, run func(context.Context) (*record, error)) (*record, error) {
	type result struct {
		record *record
		err    error
	}
	done := make(chan result, 1)
	c.work.Go(func() {
		r, err := run(context.WithoutCancel(ctx))
		done <- result{r, err}
	})
	select {
	case res := <-done:
		return res.record, res.err
	case <-ctx.Done():
		return nil, &interrupted{record: r, reason: context.Cause(ctx)}
	}
}

var errClosing = errors.New("the stand-in is closing")

// delay waits for a share of AWS's typical duration.
func (c *Cloud) delay(typical time.Duration) error {
	wait := time.Duration(float64(typical) * c.options.LatencyScale)
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.closing:
		return errClosing
	}
}

// Resume starts the control planes of the clusters on disk again, gives them
// their nodes, and finishes what was interrupted. It tries all of them and
// reports every failure.
func (c *Cloud) Resume(ctx context.Context) error {
	var errs []error
	down := map[string]bool{} // clusters; asking them for their nodes would only take time
	for _, token := range []string{clusterType, nodeGroupType} {
		for _, r := range c.snapshot(token) {
			if token == nodeGroupType && down[r.Inputs.str("clusterName")] {
				continue
			}
			typ := c.types[token]
			var err error
			if r.Status == statusDeleting {
				err = c.undo(ctx, typ, r)
			} else {
				_, err = c.settle(ctx, typ, r, 0)
			}
			if err != nil {
				down[r.ID] = down[r.ID] || token == clusterType
				errs = append(errs, fmt.Errorf("resume %s %s: %w", typ.noun, r.ID, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (c *Cloud) snapshot(token string) []*record {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*record
	for _, r := range c.store.all() {
		if r.Type == token {
			list = append(list, r)
		}
	}
	return list
}
