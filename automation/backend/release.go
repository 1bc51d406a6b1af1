package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ReleaseLocks removes the locks of a stack whose owners are gone, after a bounded
// wait for owners that are about to go. It returns a LockedError when another
// operation works on the stack. Pulumi Cloud reports a lock when an operation meets it.
func (b *Backend) ReleaseLocks(ctx context.Context, stack string) error {
	if dir, ok := b.Directory(); ok {
		if err := b.removeUnfinished(dir, stack); err != nil {
			return err
		}
		if err := b.mendAttributes(stack); err != nil {
			return err
		}
	}
	held, err := b.held(ctx, stack)
	if err != nil {
		return err
	}
	for _, h := range held {
		if err := b.release(ctx, stack, h); err != nil {
			return err
		}
	}
	return nil
}

// release removes the one lock that was judged, when its owner is gone.
func (b *Backend) release(ctx context.Context, stack string, h lockFile) error {
	if err := b.awaitOwner(ctx, stack, h.owner); err != nil {
		return err
	}
	removed, err := b.removeLockOf(ctx, stack, h)
	if removed {
		b.Note(stack, fmt.Sprintf("recovered: removed the lock of %s, which is gone", h.owner))
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

// cancelLock removes the lock of an owner from a backend that does not say which one
// it is, as a database. It looks again first: `pulumi cancel` removes all locks of a
// stack, so one of another owner keeps it from being run. It returns whether it did.
func (b *Backend) cancelLock(ctx context.Context, stack string, o Owner) (bool, error) {
	owners, err := b.Holders(ctx, stack)
	if err != nil || len(owners) == 0 {
		return false, err
	}
	for _, now := range owners {
		if !now.same(o) {
			return false, b.lockedError(stack, now)
		}
	}
	err = b.cancel(ctx, stack)
	return err == nil, err
}

// cancel runs `pulumi cancel`, which removes all locks of a stack, and in
// Pulumi Cloud ends the update under way.
func (b *Backend) cancel(ctx context.Context, stack string) error {
	_, err := b.CLI.Manage(ctx, stack, "unlock", "cancel", "--yes", "--stack", stack)
	return err
}
