package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ReleaseLocks removes the locks of a stack in a local backend whose owners
// are gone, after a bounded wait for owners that are about to go. It returns
// a LockedError when another operation works on the stack. Other backends report
// a lock when an operation meets it.
func (b *Backend) ReleaseLocks(ctx context.Context, stack string) error {
	dir, ok := b.Directory()
	if !ok {
		return nil
	}
	if err := b.removeUnfinished(dir, stack); err != nil {
		return err
	}
	if err := b.mendAttributes(stack); err != nil {
		return err
	}
	held, err := readLocks(dir, stack)
	if err != nil {
		return err
	}
	for _, h := range held {
		if err := b.awaitOwner(ctx, stack, h.owner); err != nil {
			return err
		}
		if err := b.removeLock(stack, h); err != nil {
			return err
		}
	}
	return nil
}

// removeLock removes only the lock whose owner is gone. `pulumi cancel` would
// remove all locks, also one that another process has taken after it found the
// first one stale.
func (b *Backend) removeLock(stack string, h lockFile) error {
	removed, err := removeLockFile(stack, h.path)
	if removed {
		b.noteUnlocked(stack, h.owner)
	}
	return err
}

// removeLockFile removes a lock from a directory; false when its owner has ended
// by itself meanwhile, or another process removed it.
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

func (b *Backend) noteUnlocked(stack string, o Owner) {
	b.Note(stack, fmt.Sprintf("recovered: removed the lock of %s, which is gone", o))
}

// ReleaseStale releases the lock that an operation met, if its owner is gone.
func (b *Backend) ReleaseStale(ctx context.Context, stack string, o Owner) error {
	if _, local := b.Directory(); local {
		return b.ReleaseLocks(ctx, stack)
	}
	if err := b.awaitOwner(ctx, stack, o); err != nil {
		return err
	}
	return b.cancelLock(ctx, stack, o)
}

// cancelLock removes the locks of a stack in a backend that is no directory,
// unless another owner has taken them meanwhile.
func (b *Backend) cancelLock(ctx context.Context, stack string, o Owner) error {
	owners, err := b.Holders(ctx, stack)
	if err != nil {
		return err
	}
	for _, now := range owners {
		if !now.same(o) {
			return b.lockedError(stack, now)
		}
	}
	if len(owners) == 0 {
		return nil
	}
	if err := b.cancel(ctx, stack); err != nil {
		return err
	}
	b.noteUnlocked(stack, o)
	return nil
}

// cancel runs `pulumi cancel`, which removes all locks of a stack, and in
// Pulumi Cloud ends the update under way.
func (b *Backend) cancel(ctx context.Context, stack string) error {
	_, err := b.CLI.Manage(ctx, stack, "unlock", "cancel", "--yes", "--stack", stack)
	return err
}
