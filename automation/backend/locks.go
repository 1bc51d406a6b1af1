package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"tombolo/automation/fault"
)

// lockFile is a lock in a backend that is no service.
type lockFile struct {
	// path is the file, or the object in a bucket; "" where the backend does not say it.
	path  string
	owner Owner
}

// readLocks reads the locks of a stack in a local backend.
func readLocks(dir, stack string) ([]lockFile, error) {
	files, err := inLocks(dir, stack, "*.json")
	if err != nil {
		return nil, err
	}
	return parseLocks(stack, "lock file", "file", files, readFile)
}

// parseLocks reads locks at these paths; what they are called, and what they are, is for people.
func parseLocks(stack, called, what string, paths []string, read func(path string) ([]byte, error)) ([]lockFile, error) {
	var held []lockFile
	for _, path := range paths {
		raw, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("read lock of stack %s: %w", stack, err)
		}
		if raw == nil {
			continue // released meanwhile
		}
		lock := lockFile{path: path}
		if err := json.Unmarshal(raw, &lock.owner); err != nil {
			return nil, &fault.Error{
				What:   fmt.Sprintf("%s %s of stack %s cannot be read: %v", called, path, stack, err),
				Remedy: "make sure that no tombolo or pulumi runs, and delete the " + what, Err: err,
			}
		}
		held = append(held, lock)
	}
	return held, nil
}

// Owners reads who holds locks of a stack in a local backend; none for another
// backend.
func (b *Backend) Owners(stack string) ([]Owner, error) {
	dir, ok := b.Directory()
	if !ok {
		return nil, nil
	}
	held, err := readLocks(dir, stack)
	owners := make([]Owner, 0, len(held))
	for _, h := range held {
		owners = append(owners, h.owner)
	}
	return owners, err
}

// LockFiles finds files among the locks of a stack in a local backend; none in
// another one.
func (b *Backend) LockFiles(stack, pattern string) ([]string, error) {
	dir, ok := b.Directory()
	if !ok {
		return nil, nil
	}
	return inLocks(dir, stack, pattern)
}

// locks are the locks of a stack, judged.
func (b *Backend) locks(ctx context.Context, stack string) ([]Lock, error) {
	if inCloud(b.URL) {
		return b.locksInCloud(ctx, stack)
	}
	held, err := b.held(ctx, stack)
	if err != nil {
		return nil, err
	}
	locks := make([]Lock, 0, len(held))
	for _, h := range held {
		state, err := b.judge(stack, h.owner)
		if err != nil {
			return nil, err
		}
		locks = append(locks, Lock{Stack: stack, Owner: &h.owner, State: state, file: h.path})
	}
	return locks, nil
}

// locksInCloud: Pulumi Cloud says that an update runs, and not whose it is.
func (b *Backend) locksInCloud(ctx context.Context, stack string) ([]Lock, error) {
	infos, err := b.Stacks(ctx)
	if err != nil {
		return nil, err
	}
	for _, of := range infos {
		for _, info := range of {
			if info.Name == stack && info.Updating {
				return []Lock{{Stack: stack, State: OwnerUnknown}}, nil
			}
		}
	}
	return nil, nil
}

// Holders asks a self-managed backend that is no directory for the owners of a
// stack's locks. No command of the CLI lists them, but those that need the lock
// say why they did not get it, and renaming a stack to its own name is one that
// takes the lock before it sees that it has nothing to do.
func (b *Backend) Holders(ctx context.Context, stack string) ([]Owner, error) {
	text, err := b.CLI.Manage(ctx, stack, "look for locks of", "stack", "rename", stack, "--stack", stack)
	if owners := ownersIn(text); len(owners) > 0 {
		return owners, nil
	}
	if err == nil || strings.Contains(text, "already exists") || strings.Contains(text, "no stack named") {
		return nil, nil
	}
	return nil, err
}

// lockText is how a self-managed backend reports each lock.
var lockText = regexp.MustCompile(`created by (\S+)@(\S+) \(pid (\d+)\) at (\S+)`)

// ownersIn reads the owners of locks out of the CLI's message.
func ownersIn(text string) []Owner {
	var owners []Owner
	for _, m := range lockText.FindAllStringSubmatch(text, -1) {
		pid, _ := strconv.Atoi(m[3])
		since, _ := time.Parse(time.RFC3339, m[4])
		owners = append(owners, Owner{User: m[1], Host: m[2], PID: pid, Since: since})
	}
	return owners
}

// LockedBy reads the lock's owner out of the CLI's message.
func (b *Backend) LockedBy(stack, text string) *LockedError {
	if owners := ownersIn(text); len(owners) > 0 {
		return b.lockedError(stack, owners[0])
	}
	return &LockedError{Stack: stack, Remedy: fmt.Sprintf(
		"wait for it to end; if it is dead, run `%s`", b.unlockCommand(stack))}
}
