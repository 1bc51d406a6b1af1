package automation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	removed, err := removeLockFile(stack, h.path)
	if removed {
		d.noteUnlocked(stack, h.owner)
	}
	return err
}

// removeLockFile removes a lock from a directory; false when its owner has ended
// by itself meanwhile, or somebody else was here.
func removeLockFile(stack, path string) (removed bool, err error) {
	if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = removeFile(path + attributes)
	}
	if err != nil {
		return false, fmt.Errorf("remove the lock of stack %s: %w", stack, err)
	}
	return true, nil
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
