//go:build lab

package automation

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/automation/backend"
	"tombolo/stacks"
	"tombolo/tests/tier"
)

// TestTwoDrivers: one works on the cluster, and the other says who.
func TestTwoDrivers(t *testing.T) {
	tier.Short(t, "the second of two drivers learns who has the lock")
	t.Parallel()
	t.Run("in a directory", func(t *testing.T) { twoDrivers(t, inDirectory(t)) })
	t.Run("in a bucket", func(t *testing.T) { twoDrivers(t, inBucket(t)) })
}

func twoDrivers(t *testing.T, at string) {
	started, released := make(chan struct{}), make(chan struct{})
	start := sync.OnceFunc(func() { close(started) })
	goOn := sync.OnceFunc(func() { close(released) })
	defer goOn() // of a test that fails, too
	first, _ := realBenchIn(t, at, func(*pulumi.Context) error {
		start()
		<-released
		return nil
	})
	second, err := New(first.opts)
	assert.NilError(t, err)
	second.deps.preflight, second.deps.program = nothingMissing, first.deps.program
	inRoomyCloud(second)
	done := make(chan error, 1)
	go func() {
		_, err := first.Up(t.Context(), demo(), UpOptions{Force: true})
		done <- err
	}()
	<-started

	_, err = second.Up(t.Context(), demo(), UpOptions{Force: true})
	var locked *backend.LockedError
	assert.Assert(t, errors.As(err, &locked) && locked.Owner != nil, "the second driver's error is %T: %v", err, err)
	owner, ok := second.backend.Processes.Process(locked.Owner.PID)
	assert.Check(t, ok && owner.Parent == os.Getpid() && strings.Contains(err.Error(), "tombolo unlock demo --stack core --owner-is-gone"),
		"it names process %+v, which runs: %t; %v", owner, ok, err)
	// Of core alone: meanwhile the first makes bootstrap's stack, which is locked for a moment.
	locks, err := second.Locks(t.Context(), demo(), stacks.Core)
	assert.Assert(t, err == nil && len(locks) == 1 && locks[0].State == backend.OwnerAlive, "locks are %+v, error %v", locks, err)
	err = second.Unlock(t.Context(), locks[0], false)
	assert.Check(t, errors.As(err, &locked), "the lock of a driver at work can be removed: %v", err)
	// What a bucket is asked, a directory answers as well.
	if held, err := second.backend.Holders(t.Context(), "demo-core"); err != nil || len(held) != 1 || held[0].String() != locked.Owner.String() {
		t.Errorf("the backend says that %v hold the lock, error %v", held, err)
	}
	goOn()
	assert.Check(t, <-done, "the first driver")
	held, err := second.backend.Holders(t.Context(), "demo-core")
	assert.Check(t, err == nil && len(held) == 0, "afterwards the backend says that %v hold the lock, error %v", held, err)
	if _, err := second.Up(t.Context(), demo(), UpOptions{Force: true}); err != nil {
		t.Errorf("the second driver, afterwards: %v", err)
	}
}

// TestStaleLockInABucket: the CLI is killed at work, and its lock stays in the
// bucket. The next up finds that its owner is gone, and takes the lock away.
func TestStaleLockInABucket(t *testing.T) {
	tier.Short(t, "the lock of a dead driver is taken away")
	t.Parallel()
	started, dead := make(chan struct{}), make(chan struct{})
	work := func(*pulumi.Context) error {
		close(started)
		<-dead
		return errors.New("killed")
	}
	d, seen := realBenchIn(t, inBucket(t), func(p *pulumi.Context) error { return work(p) })
	killed := make(chan error, 1)
	go func() {
		<-started
		owners, err := d.backend.Holders(t.Context(), "demo-core")
		if err == nil && len(owners) == 1 {
			err = syscall.Kill(owners[0].PID, syscall.SIGKILL)
		}
		close(dead)
		killed <- err
	}()
	_, err := d.Up(t.Context(), demo(), UpOptions{Force: true})
	if killed := <-killed; err == nil || killed != nil {
		t.Fatalf("up: %v, kill: %v", err, killed)
	}
	held, err := d.backend.Holders(t.Context(), "demo-core")
	assert.Assert(t, err == nil && len(held) == 1, "%v hold the lock of a CLI that was killed, error %v", held, err)
	work = exporting
	_, err = d.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.NilError(t, err)
	notes := strings.Join(seen.notes(), "\n")
	assert.Check(t, strings.Contains(notes, "recovered: removed the lock of "), "nobody says that a lock was removed: %s", notes)
}

// TestHurryWithTheRealCLI: a call that does not end when it is cancelled is
// given up, no lock stays, and the next up finds out what became of it.
func TestHurryWithTheRealCLI(t *testing.T) {
	tier.Short(t, "a call that ignores its end is given up, and settled by the next up")
	t.Parallel()
	d, seen := realBench(t, roles("made"))
	c, attach := serveCloud(t)
	d.env["PULUMI_DEBUG_PROVIDERS"] = attach
	ctx, cancel := context.WithCancel(t.Context())
	c.hang["made"] = func(made func()) { made(); cancel(); d.Hurry() }
	if _, err := d.Up(ctx, demo(), UpOptions{Force: true}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %T: %v", err, err)
	}
	if owners, err := d.backend.Owners("demo-core"); err != nil || len(owners) > 0 {
		t.Errorf("locks left: %v, error %v", owners, err)
	}
	notes := strings.Join(seen.notes(), "\n")
	assert.Check(t, !strings.Contains(notes, "recovered"), "the CLI had to be tidied up after: %s", notes)
	c.hang = nil
	_, err := d.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.NilError(t, err)
	notes = strings.Join(seen.notes(), "\n")
	assert.Check(t, strings.Contains(notes, "adopted aws:iam/role:Role made made"), "the role was not adopted: %s", notes)
}
