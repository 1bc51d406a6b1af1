package standin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

// interrupted is the error of an operation whose caller stopped waiting. The
// operation itself goes on, as it does in a cloud.
type interrupted struct {
	record *Record
	reason error
}

func (e *interrupted) Error() string {
	return fmt.Sprintf("stopped waiting for %s %s, which goes on: %v", e.record.Type, e.record.ID, e.reason)
}

func (e *interrupted) Unwrap() error { return e.reason }

// create makes a resource.
func (c *Cloud) create(ctx context.Context, s *session, typ *Type, in Props) (*Record, error) {
	r, unlock, err := c.beginCreate(s, typ, in)
	if err != nil {
		return nil, err
	}
	return c.await(ctx, r, func(ctx context.Context) (*Record, error) {
		defer unlock()
		done, err := c.settle(ctx, typ, r, typ.Takes.Create)
		if err != nil && !errors.Is(err, ErrClosing) {
			err = errors.Join(err, c.undo(ctx, typ, r))
		}
		return done, err
	})
}

// beginCreate decides whether the cloud would make the resource, and records it. The
// resource is locked when it returns: updates and deletions wait. What a cloud lets
// be created over and over, such as a policy, may be busy: then the last one
// wins, and no request waits with the account locked.
func (c *Cloud) beginCreate(s *session, typ *Type, in Props) (*Record, func(), error) {
	defer c.Lock()()
	r := &Record{Type: typ.token, Region: s.Region, Created: c.Now(), Inputs: in, Outputs: in.Clone()}
	if typ.Global {
		r.Region = Global
	}
	op := &Call{Cloud: c, session: s, Type: typ, operation: OpCreate, Record: r}
	if err := op.checkReferences(); err != nil {
		return nil, nil, err
	}
	op.setTags()
	if err := op.checkTagPolicy(); err != nil {
		return nil, nil, err
	}
	if err := op.Check(typ.Put); err != nil {
		return nil, nil, err
	}
	id, err := typ.Create(op)
	if err != nil {
		return nil, nil, err
	}
	if r.ID = id; typ.Settle != nil {
		r.Status = StatusCreating
	}
	Normal(map[string]any(r.Outputs))
	if err := c.Put(r); err != nil {
		return nil, nil, err
	}
	return r, c.busy.tryLock(resourceKey(typ.token, s.Region, id)), nil
}

// undo removes what could not be made after all, so that it can be tried again.
func (c *Cloud) undo(ctx context.Context, typ *Type, r *Record) error {
	op := &Call{Cloud: c, session: &session{Region: r.Region}, Type: typ, operation: OpDelete, Record: r}
	return c.finishRemove(ctx, op, 0)
}

// update changes a resource. known are its inputs as the caller knew them.
func (c *Cloud) update(ctx context.Context, s *session, typ *Type, id string, known, in Props) (*Record, error) {
	target := &Record{Type: typ.token, ID: id}
	return c.await(ctx, target, func(background context.Context) (*Record, error) {
		defer c.LockResource(typ.token, s.Region, id)()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r, err := c.beginUpdate(s, typ, id, known, in)
		if err != nil {
			return nil, err
		}
		return c.settle(background, typ, r, typ.Takes.Update)
	})
}

func (c *Cloud) beginUpdate(s *session, typ *Type, id string, known, in Props) (*Record, error) {
	defer c.Lock()()
	old := c.lookup(typ, s.Region, id)
	if old == nil {
		return nil, fmt.Errorf("updating %s (%s): it does not exist any more; run `pulumi refresh`", typ.Noun, id)
	}
	r := old.Clone()
	for k := range old.Inputs {
		if _, still := in[k]; !still {
			delete(r.Outputs, k)
		}
	}
	r.Inputs = in
	maps.Copy(r.Outputs, in.Clone())
	op := &Call{Cloud: c, session: s, Type: typ, operation: OpUpdate, Record: r, Old: old, Known: known}
	if err := op.checkReferences(); err != nil {
		return nil, err
	}
	op.keepTags(known)
	if err := op.Check(typ.Put, typ.Update); err != nil {
		return nil, err
	}
	if typ.Settle != nil && r.Status != StatusCreating {
		r.Status = statusUpdating
	}
	Normal(map[string]any(r.Outputs))
	if err := c.Put(r); err != nil {
		return nil, err
	}
	return r, nil
}

// settle waits as long as the cloud takes, does what the type does outside of the
// account, and records the result.
func (c *Cloud) settle(ctx context.Context, typ *Type, r *Record, takes time.Duration) (*Record, error) {
	if err := c.delay(takes); err != nil || typ.Settle == nil {
		return r, err
	}
	done := r.Clone()
	if err := typ.Settle(ctx, c, done); err != nil {
		return nil, err
	}
	done.Status = StatusActive
	Normal(map[string]any(done.Outputs))
	defer c.Lock()()
	return done, c.Put(done)
}

// LockResource makes operations on one resource wait for each other.
func (c *Cloud) LockResource(token, region, id string) (unlock func()) {
	return c.busy.lock(resourceKey(token, region, id))
}

func resourceKey(token, region, id string) string { return token + "|" + region + "|" + id }

// remove deletes a resource. Deleting what does not exist is no error.
func (c *Cloud) remove(ctx context.Context, s *session, typ *Type, id string) error {
	target := &Record{Type: typ.token, ID: id}
	_, err := c.await(ctx, target, func(background context.Context) (*Record, error) {
		defer c.LockResource(typ.token, s.Region, id)()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		op, err := c.beginRemove(s, typ, id)
		if err != nil || op == nil {
			return nil, err
		}
		return nil, c.finishRemove(background, op, typ.Takes.Remove)
	})
	return err
}

// prepareRemove does what the provider does before it deletes a resource.
func (c *Cloud) prepareRemove(typ *Type, region, id string, known Props) error {
	if typ.Clear == nil {
		return nil
	}
	defer c.Lock()()
	return typ.Clear(c, region, id, known)
}

func (c *Cloud) beginRemove(s *session, typ *Type, id string) (*Call, error) {
	defer c.Lock()()
	r := c.lookup(typ, s.Region, id)
	if r == nil {
		return nil, nil
	}
	op := &Call{Cloud: c, session: s, Type: typ, operation: OpDelete, Record: r.Clone(), Old: r}
	if _, err := op.dependants(); err != nil {
		return nil, err
	}
	if err := op.Check(typ.Remove); err != nil {
		return nil, err
	}
	if typ.Teardown == nil {
		return op, nil
	}
	op.Record.Status = StatusDeleting
	return op, c.Put(op.Record)
}

// finishRemove waits as long as the cloud takes, removes what is outside of the
// account, and forgets the record.
func (c *Cloud) finishRemove(ctx context.Context, op *Call, takes time.Duration) error {
	if err := c.delay(takes); err != nil {
		return err
	}
	if op.Type.Teardown != nil {
		if err := op.Type.Teardown(ctx, c, op.Record); err != nil {
			return err
		}
	}
	defer c.Lock()()
	return op.removeRecords()
}

// removeRecords forgets the call's resource and what goes with it. A record
// that its type has put aside is kept.
func (c *Call) removeRecords() error {
	if c.Record.Gone() {
		return c.Cloud.Put(c.Record)
	}
	cascade, err := c.dependants()
	if err != nil {
		return err
	}
	for _, r := range cascade {
		if err := c.Cloud.Forget(r); err != nil {
			return err
		}
	}
	return c.Cloud.Forget(c.Record)
}

// read looks a resource up; nil when there is none.
func (c *Cloud) read(typ *Type, s *session, id string) *Record {
	defer c.Lock()()
	return c.lookup(typ, s.Region, id)
}

// lookup finds a resource by the id that Pulumi has, or by the id that the
// provider imports it by.
func (c *Cloud) lookup(typ *Type, region, id string) *Record {
	if r := c.store.get(typ.token, region, id); r != nil {
		if r.Gone() {
			return nil
		}
		return r
	}
	for r := range c.Each(typ.token, region) {
		if typ.Identifies != nil && typ.Identifies(r, id) {
			return r
		}
	}
	return nil
}

// await waits for an operation until it is done or ctx ends, which does not stop
// the operation.
func (c *Cloud) await(ctx context.Context, r *Record, run func(context.Context) (*Record, error)) (*Record, error) {
	type result struct {
		record *Record
		err    error
	}
	done := make(chan result, 1)
	c.Work.Go(func() {
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

// Resume starts again what runs outside of the account, such as the control
// planes of clusters, and finishes what was interrupted. It tries all of it and
// reports every failure.
func (c *Cloud) Resume(ctx context.Context) error {
	var errs []error
	down := map[string]bool{} // by id; what is within them would only take time
	for _, resumed := range c.catalogue.Resumed {
		for _, r := range c.Snapshot(resumed.Type) {
			if holder := resumed.holder(r); holder != "" && down[holder] {
				continue
			}
			typ := c.catalogue.Types[resumed.Type]
			var err error
			if r.Status == StatusDeleting {
				err = c.undo(ctx, typ, r)
			} else {
				_, err = c.settle(ctx, typ, r, 0)
			}
			if err != nil {
				down[r.ID] = true
				errs = append(errs, fmt.Errorf("resume %s %s: %w", typ.Noun, r.ID, err))
			}
		}
	}
	return errors.Join(errs...)
}

// Snapshot lists the records of a type, in any region, without the account's
// lock.
func (c *Cloud) Snapshot(token string) []*Record {
	defer c.Lock()()
	var list []*Record
	for _, r := range c.store.all() {
		if r.Type == token {
			list = append(list, r)
		}
	}
	return list
}

// RemoveOther deletes another record with what goes with it, as far as nothing
// keeps it.
func (c *Call) RemoveOther(r *Record) error {
	op := &Call{Cloud: c.Cloud, session: c.session, Type: c.Cloud.catalogue.Types[r.Type], operation: OpDelete, Record: r}
	return op.removeRecords()
}
