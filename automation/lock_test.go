package automation

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/backend"
	"tombolo/automation/backend/backendtest"
	"tombolo/stacks"
)

// lock writes a lock as the CLI does.
func (b *bench) lock(t *testing.T, stack string, o backend.Owner) string {
	t.Helper()
	b.cli.states[stack] = apitype.DeploymentV3{}
	return backendtest.Lock(t, b.stateDir, stack, o)
}

func lockOwner(t *testing.T, pid int) backend.Owner {
	t.Helper()
	host, err := os.Hostname()
	assert.NilError(t, err)
	return backend.Owner{PID: pid, Host: host, User: "ada", Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func TestStaleLockIsRemoved(t *testing.T) {
	b := newBench(t)
	b.backend.Processes = backendtest.Table{}
	file := b.lock(t, "demo-core", lockOwner(t, 77))
	b.mustUp(t, demo(), UpOptions{})
	_, err := os.Stat(file)
	assert.Check(t, errors.Is(err, os.ErrNotExist), "the lock is still there: %v", err)
	assert.DeepEqual(t, b.cli.operations(), []string{"up demo-core", "up demo-bootstrap"})
	note := "note demo-core: recovered: removed the lock of " + lockOwner(t, 77).String() + ", which is gone"
	assert.DeepEqual(t, b.seen.notes(), []string{note})
}

func TestHeldLockStopsUp(t *testing.T) {
	b := newBench(t)
	b.backend.Processes = backendtest.Table{77: {Name: "pulumi", Parent: 70}}
	file := b.lock(t, "demo-core", lockOwner(t, 77))
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	var locked *backend.LockedError
	assert.Assert(t, errors.As(err, &locked), "error is %T: %v", err, err)
	host := lockOwner(t, 77).Host
	assert.Error(t, err, "stack demo-core is locked by ada on "+host+" (process 77, since 2026-01-02T03:04:05Z); "+
		"wait for it to end; if process 77 on "+host+" is dead, run `tombolo unlock demo --stack core --owner-is-gone`")
	_, err = os.Stat(file)
	assert.Check(t, err == nil && len(b.cli.operations()) == 0, "the lock was touched: %v, %v", err, b.cli.operations())
}

// TestStaleLockThatAnOperationMeets: it was taken after the locks were looked at, in a
// backend whose locks the CLI has to be asked for.
func TestStaleLockThatAnOperationMeets(t *testing.T) {
	b := newBench(t)
	b.backend.URL = "gs://state"
	b.backend.Processes = backendtest.Table{}
	o := lockOwner(t, 77)
	text := "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or " +
		"delete the lock file with `pulumi cancel`.\n  gs://state/1.json: created by ada@" + o.Host +
		" (pid 77) at 2026-01-02T03:04:05Z"
	met := false
	b.cli.during = func(call string) {
		switch {
		case call == "up demo-core" && !met:
			met = true
			b.cli.fail[call] = failure{stderr: text, once: true}
			b.cli.fail["stack rename demo-core"] = failure{stderr: text}
		case call == "cancel demo-core":
			delete(b.cli.fail, "stack rename demo-core")
		}
	}
	b.mustUp(t, demo(), UpOptions{})
	assert.DeepEqual(t, b.cli.operations(), []string{"up demo-core", "cancel demo-core", "up demo-core", "up demo-bootstrap"})

	b.cli.during = nil
	b.backend.Processes = backendtest.Table{77: {Name: "pulumi", Parent: 70}}
	b.cli.fail["stack rename demo-core"] = failure{stderr: text}
	_, err := b.Up(t.Context(), demo(), UpOptions{Force: true})
	var locked *backend.LockedError
	assert.Check(t, errors.As(err, &locked) && locked.Owner.User == "ada", "error is %T: %v", err, err)
}

func TestLockOfPulumiCloud(t *testing.T) {
	b := newBench(t)
	b.cli.fail["up demo-core"] = failure{stderr: "error: [409] Conflict: Another update is currently in progress."}
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	want := "stack demo-core is locked by another update; " +
		"wait for it to end; if it is dead, run `tombolo unlock demo --stack core --owner-is-gone`"
	assert.Error(t, err, want)
}

// TestLocksOfACluster: those of both stacks, or of one.
func TestLocksOfACluster(t *testing.T) {
	b := newBench(t)
	b.backend.Processes = backendtest.Table{}
	b.lock(t, "demo-core", lockOwner(t, 77))
	b.lock(t, "demo-bootstrap", lockOwner(t, 78))
	for only, want := range map[stacks.Kind][]string{
		"": {"demo-core", "demo-bootstrap"}, stacks.Core: {"demo-core"}, stacks.Bootstrap: {"demo-bootstrap"},
	} {
		locks, err := b.Locks(t.Context(), demo(), only)
		assert.NilError(t, err)
		var got []string
		for _, l := range locks {
			got = append(got, l.Stack)
		}
		assert.Assert(t, is.DeepEqual(got, want), "locks of %q", only)
	}
	assert.Check(t, is.Len(b.cli.calls, 0), "needless processes")
}
