package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"tombolo/stacks"
)

// lockFile is a lock in a local backend.
type lockFile struct {
	path  string
	owner LockOwner
}

// readLocks reads the locks of a stack in a local backend.
func readLocks(dir, stack string) ([]lockFile, error) {
	files, err := inLocks(dir, stack, "*.json")
	if err != nil {
		return nil, err
	}
	var held []lockFile
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // released meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("read lock of stack %s: %w", stack, err)
		}
		var o LockOwner
		if err := json.Unmarshal(raw, &o); err != nil {
			return nil, &PreconditionError{
				What:   fmt.Sprintf("lock file %s of stack %s cannot be read: %v", file, stack, err),
				Remedy: "make sure that no tombolo or pulumi runs, and delete the file",
				Err:    err,
			}
		}
		held = append(held, lockFile{path: file, owner: o})
	}
	return held, nil
}

// locksDir is where a local backend has the locks of a stack.
func locksDir(dir, stack string) string {
	return filepath.Join(dir, ".pulumi", "locks", "organization", stacks.Project, stack)
}

// inLocks finds files among the locks of a stack in a local backend.
func inLocks(dir, stack, pattern string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(locksDir(dir, stack), pattern))
	if err != nil {
		return nil, fmt.Errorf("look for locks of stack %s: %w", stack, err)
	}
	return files, nil
}

// lockOwners reads who holds locks of a stack in a local backend; nobody
// elsewhere.
func (d *Driver) lockOwners(stack string) ([]LockOwner, error) {
	dir, ok := d.backendDir()
	if !ok {
		return nil, nil
	}
	held, err := readLocks(dir, stack)
	owners := make([]LockOwner, 0, len(held))
	for _, h := range held {
		owners = append(owners, h.owner)
	}
	return owners, err
}

// lockFiles finds files among the locks of a stack in a local backend; none
// elsewhere.
func (d *Driver) lockFiles(stack, pattern string) ([]string, error) {
	dir, ok := d.backendDir()
	if !ok {
		return nil, nil
	}
	return inLocks(dir, stack, pattern)
}

// backendDir is the directory of the driver's backend, if that is a local one.
func (d *Driver) backendDir() (string, bool) { return localDir(d.opts.BackendURL, d.opts.WorkDir) }

// localDir is the directory of a local backend, as the CLI reads its URL.
func localDir(backend, workDir string) (string, bool) {
	dir, ok := strings.CutPrefix(backend, "file://")
	if !ok {
		return "", false
	}
	dir, _, _ = strings.Cut(dir, "?")
	if plain, err := url.PathUnescape(dir); err == nil {
		dir = plain
	}
	if rest, ok := strings.CutPrefix(dir, "~"); ok {
		home, err := os.UserHomeDir()
		return filepath.Join(home, rest), err == nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(workDir, dir)
	}
	return dir, true
}

// lockFinder returns how the locks of a stack are found in the backend.
func (d *Driver) lockFinder(ctx context.Context) (func(ctx context.Context, stack string) ([]Lock, error), error) {
	backend := d.opts.BackendURL
	if backend == "" {
		ws, err := d.reading(ctx)
		if err != nil {
			return nil, err
		}
		who, err := ws.WhoAmIDetails(ctx)
		if err != nil {
			return nil, d.failure(ctx, failed{stack: "the stacks", operation: "find the backend of", err: err})
		}
		backend = who.URL
	}
	if dir, ok := localDir(backend, d.opts.WorkDir); ok {
		return func(_ context.Context, stack string) ([]Lock, error) { return d.locksInDir(dir, stack) }, nil
	}
	if strings.HasPrefix(backend, "https://") || strings.HasPrefix(backend, "http://") {
		return d.locksInCloud, nil
	}
	return d.locksInBucket, nil
}

func (d *Driver) locksInDir(dir, stack string) ([]Lock, error) {
	held, err := readLocks(dir, stack)
	if err != nil {
		return nil, err
	}
	locks := make([]Lock, 0, len(held))
	for _, h := range held {
		state, err := d.judge(stack, h.owner)
		if err != nil {
			return nil, err
		}
		locks = append(locks, Lock{Stack: stack, Owner: &h.owner, State: state, file: h.path})
	}
	return locks, nil
}

// locksInCloud: Pulumi Cloud says that an update runs, and not whose it is.
func (d *Driver) locksInCloud(ctx context.Context, stack string) ([]Lock, error) {
	infos, err := d.stackInfos(ctx)
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

func (d *Driver) locksInBucket(ctx context.Context, stack string) ([]Lock, error) {
	owners, err := d.holders(ctx, stack)
	if err != nil {
		return nil, err
	}
	locks := make([]Lock, 0, len(owners))
	for _, o := range owners {
		state, err := d.judge(stack, o)
		if err != nil {
			return nil, err
		}
		locks = append(locks, Lock{Stack: stack, Owner: &o, State: state})
	}
	return locks, nil
}

// holders asks a self-managed backend that is no directory for the owners of a
// stack's locks. No command of the CLI lists them, but those that need the lock
// say why they did not get it, and renaming a stack to its own name is one that
// takes the lock before it sees that it has nothing to do.
func (d *Driver) holders(ctx context.Context, stack string) ([]LockOwner, error) {
	text, err := d.pulumiRun(ctx, stack, "look for locks of", "stack", "rename", stack, "--stack", stack)
	if owners := ownersIn(text); len(owners) > 0 {
		return owners, nil
	}
	if err == nil || strings.Contains(text, "already exists") || strings.Contains(text, "no stack named") {
		return nil, nil
	}
	return nil, err
}

// pulumiRun runs the CLI outside the SDK, and returns what it wrote about
// errors.
func (d *Driver) pulumiRun(ctx context.Context, stack, operation string, args ...string) (string, error) {
	ws, err := d.reading(ctx)
	if err != nil {
		return "", err
	}
	_, stderr, _, err := ws.PulumiCommand().Run(ctx, ws.WorkDir(), nil, nil, nil, environ(d.env), args...)
	if err != nil {
		err = d.failure(ctx, failed{stack: stack, operation: operation, err: errors.New(stderr)})
	}
	return stderr, err
}

// lockText is how a self-managed backend reports each lock.
var lockText = regexp.MustCompile(`created by (\S+)@(\S+) \(pid (\d+)\) at (\S+)`)

// ownersIn reads the owners of locks out of the CLI's message.
func ownersIn(text string) []LockOwner {
	var owners []LockOwner
	for _, m := range lockText.FindAllStringSubmatch(text, -1) {
		pid, _ := strconv.Atoi(m[3])
		since, _ := time.Parse(time.RFC3339, m[4])
		owners = append(owners, LockOwner{User: m[1], Host: m[2], PID: pid, Since: since})
	}
	return owners
}

// lockedBy reads the lock's owner out of the CLI's message.
func (d *Driver) lockedBy(stack, text string) *LockedError {
	if owners := ownersIn(text); len(owners) > 0 {
		return d.lockedError(stack, owners[0])
	}
	return &LockedError{Stack: stack, Remedy: fmt.Sprintf(
		"wait for it to end; if it is dead, run `%s`", d.unlockCommand(stack))}
}
