package automation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"tombolo/config"
	"tombolo/stacks"
)

// releaseLocks removes the locks of a stack in a local backend whose owners
// are gone, after a bounded wait for owners that are about to go. It returns
// a LockedError when somebody still works on the stack. Backends elsewhere
// report a lock when an operation meets it.
func (d *Driver) releaseLocks(ctx context.Context, stack string) error {
	dir, ok := d.backendDir()
	if !ok {
		return nil
	}
	if err := d.removeUnfinished(dir, stack); err != nil {
		return err
	}
	if err := d.mendAttributes(stack); err != nil {
		return err
	}
	held, err := readLocks(dir, stack)
	if err != nil {
		return err
	}
	for _, h := range held {
		if err := d.awaitOwner(ctx, stack, h.owner); err != nil {
			return err
		}
		if err := d.removeLock(stack, h); err != nil {
			return err
		}
	}
	return nil
}

// removeLock removes the very lock whose owner is gone. `pulumi cancel` would
// remove whatever locks there are, also one that somebody took who found the
// first one stale at the same time.
func (d *Driver) removeLock(stack string, h lockFile) error {
	err := os.Remove(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its owner ended by itself, or somebody else was here
	}
	if err != nil {
		return fmt.Errorf("remove the lock of stack %s: %w", stack, err)
	}
	d.noteUnlocked(stack, h.owner)
	return nil
}

func (d *Driver) noteUnlocked(stack string, o LockOwner) {
	d.opts.Observer.Note(stack, fmt.Sprintf("recovered: removed the lock of %s, which is gone", o))
}

// releaseStale releases the lock that an operation met, if its owner is gone.
func (s *session) releaseStale(ctx context.Context, o LockOwner) error {
	d := s.driver
	if _, local := d.backendDir(); local {
		return d.releaseLocks(ctx, s.name)
	}
	if err := d.awaitOwner(ctx, s.name, o); err != nil {
		return err
	}
	return d.cancelLock(ctx, s.name, o)
}

// cancelLock removes the locks of a stack in a backend that is no directory,
// unless they are another owner's by now.
func (d *Driver) cancelLock(ctx context.Context, stack string, o LockOwner) error {
	owners, err := d.holders(ctx, stack)
	if err != nil {
		return err
	}
	for _, now := range owners {
		if !now.same(o) {
			return d.lockedError(stack, now)
		}
	}
	if len(owners) == 0 {
		return nil
	}
	if err := d.cancel(ctx, stack); err != nil {
		return err
	}
	d.noteUnlocked(stack, o)
	return nil
}

// cancel runs `pulumi cancel`, which removes all locks of a stack, and in
// Pulumi Cloud ends the update under way.
func (d *Driver) cancel(ctx context.Context, stack string) error {
	_, err := d.pulumiRun(ctx, stack, "unlock", "cancel", "--yes", "--stack", stack)
	return err
}

// lockWrite is longer than the CLI takes to write a lock, a few hundred bytes.
const lockWrite = time.Second

// removeUnfinished removes what a CLI left that could not write its lock,
// because the disk was full or it was killed. The CLI would take it for a
// lock, and stop at its empty content.
func (d *Driver) removeUnfinished(dir, stack string) error {
	files, err := inLocks(dir, stack, "*.tmp")
	if err != nil {
		return err
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || time.Since(info.ModTime()) < lockWrite {
			continue // finished meanwhile, or being written
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an unfinished lock of stack %s: %w", stack, err)
		}
		d.opts.Observer.Note(stack, "recovered: removed a lock that was not written to its end")
	}
	return nil
}

// Lock is a lock on one of a cluster's stacks.
type Lock struct {
	// Stack is the stack's name.
	Stack string `json:"stack"`
	// Owner of the lock; nil when the backend does not tell.
	Owner *LockOwner `json:"owner,omitempty"`
	// State of the owner.
	State OwnerState `json:"state"`

	// file is the lock itself in a local backend.
	file string
}

// Locks returns the locks on a cluster's stacks, on one of them when only is
// given. A backend that is neither a directory nor Pulumi Cloud is asked by
// taking the lock for a moment.
func (d *Driver) Locks(ctx context.Context, c *config.Cluster, only stacks.Kind) ([]Lock, error) {
	find, err := d.lockFinder(ctx)
	if err != nil {
		return nil, err
	}
	var all []Lock
	for _, k := range stacks.Kinds() {
		if only != "" && only != k {
			continue
		}
		found, err := find(ctx, stacks.Name(c.Name, k))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// Unlock removes a lock that Locks returned. Unless its owner is gone that has
// to be said: without ownerIsGone, somebody who may be at work keeps the lock,
// and a LockedError names them.
func (d *Driver) Unlock(ctx context.Context, l Lock, ownerIsGone bool) error {
	if l.State != OwnerGone && !ownerIsGone {
		return d.refusal(l)
	}
	switch {
	case l.file != "":
		if err := os.Remove(l.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the lock of stack %s: %w", l.Stack, err)
		}
		return nil
	case l.Owner == nil:
		return d.cancel(ctx, l.Stack)
	default:
		return d.cancelLock(ctx, l.Stack, *l.Owner)
	}
}

// refusal says why a lock is not removed, and what to do in the owner's state.
func (d *Driver) refusal(l Lock) *LockedError {
	e := &LockedError{Stack: l.Stack, Owner: l.Owner}
	force := fmt.Sprintf("run `%s`", d.unlockCommand(l.Stack))
	switch l.State {
	case OwnerAlive:
		e.Remedy = fmt.Sprintf("the process runs: wait for it, or end it with `kill -INT %d`; if it is not the owner, %s", l.Owner.PID, force)
	case OwnerOrphan:
		e.Remedy = fmt.Sprintf("the process runs, though its driver is gone, and ends at its next step: wait for it, or end it with `kill -INT %d`", l.Owner.PID)
	case OwnerElsewhere:
		e.Remedy = fmt.Sprintf("look on %s whether process %d runs; if it does not, %s", l.Owner.Host, l.Owner.PID, force)
	default:
		e.Remedy = fmt.Sprintf("the backend does not say whose it is: make sure that nobody works on the stack; then %s", force)
	}
	return e
}
