package backend

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"tombolo/automation/process"
	"tombolo/internal/sleep"
	"tombolo/stacks"
)

// reuseSlack is how much later than the lock a process may seem to have started
// and still count as its owner: the start of a process is known to the second,
// and clocks are corrected.
const reuseSlack = time.Minute

// judge says what became of the owner of a stack's lock. Only what proves that
// the owner is gone counts: no process has its id, or the one that has it is
// another program, works on another stack, or started after the lock was taken.
func judge(stack string, o Owner, host string, table process.Table) OwnerState {
	if o.Host != host {
		return OwnerElsewhere
	}
	p, ok := table.Process(o.PID)
	switch {
	case !ok || !mayHold(p, stack, o):
		return OwnerGone
	case orphaned(p, table):
		return OwnerOrphan
	default:
		return OwnerAlive
	}
}

// mayHold says whether the process can be the one that took the lock. What the
// host does not tell of it is no proof against it.
func mayHold(p process.Process, stack string, o Owner) bool {
	if p.Name != "" && !strings.HasPrefix(p.Name, "pulumi") {
		return false
	}
	// The driver names the stack on the CLI's command line. That counts before
	// the clock, which jumps when a virtual machine has been stopped meanwhile.
	if named := stackOf(p); named != "" {
		return named == stack
	}
	return p.Started.IsZero() || p.Started.Before(o.Since.Add(reuseSlack))
}

// stackOf is the stack that the command line of a Pulumi CLI names; empty when it does not.
func stackOf(p process.Process) string {
	for i, arg := range p.Args {
		if arg == "--stack" || arg == "-s" {
			name := strings.Join(p.Args[min(i+1, len(p.Args)):min(i+2, len(p.Args))], "")
			return name[strings.LastIndexByte(name, '/')+1:]
		}
		if name, ok := strings.CutPrefix(arg, "--stack="); ok {
			return name[strings.LastIndexByte(name, '/')+1:]
		}
	}
	return ""
}

// orphaned says that the process that started this one is gone: it has been
// given to the one that takes in orphans, which is not always the first.
func orphaned(p process.Process, table process.Table) bool {
	if p.Name == "" {
		return false // nothing is known of it
	}
	if p.Parent <= 1 {
		return true
	}
	parent, ok := table.Process(p.Parent)
	return ok && slices.Contains([]string{"systemd", "init", "launchd"}, parent.Name)
}

// LockPoll is how often a process that should end is looked at.
const LockPoll = 100 * time.Millisecond

// awaitOwner returns nil when the owner is gone. An orphan gets a bounded time
// to end by itself: without its driver it fails at its next step.
func (b *Backend) awaitOwner(ctx context.Context, stack string, o Owner) error {
	state, err := b.judge(stack, o)
	if err != nil || state == OwnerGone {
		return err
	}
	if state != OwnerOrphan {
		return b.lockedError(stack, o)
	}
	b.Note(stack, fmt.Sprintf(
		"waiting up to %s for pulumi process %d, whose driver is gone, to end", b.LockWait, o.PID))
	for end := time.Now().Add(b.LockWait); time.Now().Before(end); {
		if err := sleep.For(ctx, LockPoll); err != nil {
			return err
		}
		if state, err := b.judge(stack, o); err != nil || state == OwnerGone {
			return err
		}
	}
	return b.lockedError(stack, o)
}

// judge an owner from this host.
func (b *Backend) judge(stack string, o Owner) (OwnerState, error) {
	host, err := os.Hostname()
	if err != nil {
		return OwnerUnknown, fmt.Errorf("read host name to judge the lock of stack %s: %w", stack, err)
	}
	return judge(stack, o, host, b.Processes), nil
}

// lockedError names the owner of a lock, and how the lock goes when people know
// that the owner is gone.
func (b *Backend) lockedError(stack string, o Owner) *LockedError {
	return &LockedError{Stack: stack, Owner: &o, Remedy: fmt.Sprintf(
		"wait for it to end; if process %d on %s is dead, run `%s`", o.PID, o.Host, b.unlockCommand(stack))}
}

// unlockCommand removes a lock whose owner is not known to be gone.
func (b *Backend) unlockCommand(stack string) string {
	cluster, kind, err := stacks.Parse(stack)
	if err != nil {
		return "pulumi cancel --stack " + stack
	}
	words := []string{"tombolo", "unlock", cluster, "--stack", string(kind), "--owner-is-gone"}
	if kind == stacks.Pipelines {
		words = []string{"tombolo", "pipelines", "unlock", cluster, "--owner-is-gone"}
	}
	return strings.Join(append(words, b.Flags...), " ")
}
