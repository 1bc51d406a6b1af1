package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tombolo/config"
	"tombolo/stacks"
)

// ownerState says whether the owner of a lock can still release it.
type ownerState int

const (
	// ownerGone: the process has ended, or its id belongs to another program.
	ownerGone ownerState = iota
	// ownerOrphan: the CLI runs, but the driver that started it is gone.
	ownerOrphan
	// ownerAlive: the CLI runs.
	ownerAlive
	// ownerElsewhere: the process is on another host, where we cannot look.
	ownerElsewhere
)

// judge says what became of a lock's owner.
func judge(o LockOwner, host string, table processTable) ownerState {
	if o.Host != host {
		return ownerElsewhere
	}
	p, ok := table.Process(o.PID)
	switch {
	case !ok || !strings.HasPrefix(p.Name, "pulumi"):
		return ownerGone
	case p.Parent <= 1:
		return ownerOrphan
	default:
		return ownerAlive
	}
}

// releaseLocks removes the locks of a stack in a local backend whose owners
// are gone, after a bounded wait for owners that are about to go. It returns
// a LockedError when somebody still works on the stack. Backends elsewhere
// report a lock when an operation meets it.
func (d *Driver) releaseLocks(ctx context.Context, c *config.Cluster, k stacks.Kind) error {
	stack := stacks.Name(c.Name, k)
	if err := d.removeUnfinished(stack); err != nil {
		return err
	}
	if err := d.mendAttributes(stack); err != nil {
		return err
	}
	owners, err := d.lockOwners(stack)
	if err != nil || len(owners) == 0 {
		return err
	}
	for _, o := range owners {
		if err := d.awaitOwner(ctx, stack, o); err != nil {
			return err
		}
	}
	// A process that ended by itself has released its lock.
	if owners, err = d.lockOwners(stack); err != nil || len(owners) == 0 {
		return err
	}
	s, err := d.open(ctx, c, k, stacks.Options{}, true)
	if err != nil {
		return err
	}
	return s.cancelLocks(ctx, owners)
}

// releaseStale is releaseLocks for one owner that the backend named.
func (s *session) releaseStale(ctx context.Context, o LockOwner) error {
	if err := s.driver.awaitOwner(ctx, s.name, o); err != nil {
		return err
	}
	return s.cancelLocks(ctx, []LockOwner{o})
}

func (s *session) cancelLocks(ctx context.Context, owners []LockOwner) error {
	if err := s.stack.Cancel(ctx); err != nil {
		return s.driver.failure(ctx, failed{stack: s.name, operation: "unlock", err: err})
	}
	for _, o := range owners {
		s.driver.opts.Observer.Note(s.name, fmt.Sprintf("recovered: removed the lock of %s, which is gone", o))
	}
	return nil
}

// lockPoll is how often a process that should end is looked at.
const lockPoll = 100 * time.Millisecond

// awaitOwner returns nil when the owner is gone. An orphan gets a bounded
// time to end by itself: without its driver it fails at its next step.
func (d *Driver) awaitOwner(ctx context.Context, stack string, o LockOwner) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("read host name to judge the lock of stack %s: %w", stack, err)
	}
	state := judge(o, host, d.processes)
	if state == ownerGone {
		return nil
	}
	if state != ownerOrphan {
		return d.lockedError(stack, o)
	}
	d.opts.Observer.Note(stack, fmt.Sprintf(
		"waiting up to %s for pulumi process %d, whose driver is gone, to end", d.opts.LockWait, o.PID))
	deadline := time.NewTimer(d.opts.LockWait)
	defer deadline.Stop()
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return d.lockedError(stack, o)
		case <-tick.C:
			if judge(o, host, d.processes) == ownerGone {
				return nil
			}
		}
	}
}

// lockOwners reads the locks of a stack in a local backend; none elsewhere.
func (d *Driver) lockOwners(stack string) ([]LockOwner, error) {
	files, err := d.lockFiles(stack, "*.json")
	if err != nil {
		return nil, err
	}
	var owners []LockOwner
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
		owners = append(owners, o)
	}
	return owners, nil
}

// lockFiles finds files among the locks of a stack in a local backend.
func (d *Driver) lockFiles(stack, pattern string) ([]string, error) {
	dir, ok := d.backendDir()
	if !ok {
		return nil, nil
	}
	files, err := filepath.Glob(filepath.Join(dir, ".pulumi", "locks", "organization", stacks.Project, stack, pattern))
	if err != nil {
		return nil, fmt.Errorf("look for locks of stack %s: %w", stack, err)
	}
	return files, nil
}

// lockWrite is longer than the CLI takes to write a lock, a few hundred bytes.
const lockWrite = time.Second

// removeUnfinished removes what a CLI left that could not write its lock,
// because the disk was full or it was killed. The CLI would take it for a
// lock, and stop at its empty content.
func (d *Driver) removeUnfinished(stack string) error {
	files, err := d.lockFiles(stack, "*.tmp")
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

// backendDir is the directory of a local backend.
func (d *Driver) backendDir() (string, bool) {
	dir, ok := strings.CutPrefix(d.opts.BackendURL, "file://")
	if !ok {
		return "", false
	}
	if rest, ok := strings.CutPrefix(dir, "~"); ok {
		home, err := os.UserHomeDir()
		return filepath.Join(home, rest), err == nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(d.opts.WorkDir, dir)
	}
	return dir, true
}
