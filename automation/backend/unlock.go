package backend

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Locks returns the locks on stacks. A database is asked by taking each lock for a
// moment; a directory, a bucket and Pulumi Cloud are only read.
func (b *Backend) Locks(ctx context.Context, names ...string) ([]Lock, error) {
	var all []Lock
	for _, stack := range names {
		found, err := b.locks(ctx, stack)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// Unlock removes a lock that Locks returned. Unless its owner is gone that has
// to be said: without ownerIsGone, an owner that may still work keeps the lock,
// and a LockedError names it.
func (b *Backend) Unlock(ctx context.Context, l Lock, ownerIsGone bool) error {
	if l.State != OwnerGone && !ownerIsGone {
		return b.refusal(l)
	}
	if l.Owner == nil {
		return b.cancel(ctx, l.Stack)
	}
	_, err := b.removeLockOf(ctx, l.Stack, lockFile{path: l.file, owner: *l.Owner})
	return err
}

// refusal says why a lock is not removed, and what to do in the owner's state.
func (b *Backend) refusal(l Lock) *LockedError {
	e := &LockedError{Stack: l.Stack, Owner: l.Owner}
	force := fmt.Sprintf("run `%s`", b.unlockCommand(l.Stack))
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

// unlockGrace bounds the look for a lock left behind by a cancelled operation.
const unlockGrace = 30 * time.Second

// UnlockAfterCancel makes sure that a cancelled operation has left no lock. A CLI
// that ended by itself has released it; one that was killed, or took the signal
// before it was ready for it, has not, and in a local backend that is seen.
func (b *Backend) UnlockAfterCancel(ctx context.Context, stack string, killed bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockGrace)
	defer cancel()
	if _, local := b.Directory(); local {
		return b.ReleaseLocks(ctx, stack)
	}
	if !killed {
		return nil // and asking a database would take its lock again
	}
	locks, err := b.Locks(ctx, stack)
	if err != nil {
		return err
	}
	for _, l := range locks {
		if l.State == OwnerGone {
			err = errors.Join(err, b.Unlock(ctx, l, false))
		}
	}
	return err
}
