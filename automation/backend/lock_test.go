package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/backend/backendtest"
	"tombolo/automation/process"
)

// fakeCLI answers for the Pulumi CLI, and writes down what it is asked to do.
type fakeCLI struct {
	stacks []auto.StackSummary
	// fail is what a command such as "stack rename demo-core" writes about errors.
	fail  map[string]string
	calls []string
	// tag is the last that was set.
	tag string
	// exports counts the states that were asked for.
	exports int
	// lists are the errors of the next lists of stacks.
	lists []error
}

func (f *fakeCLI) Tag(_ context.Context, stack, name string) (string, error) {
	value, _ := strings.CutPrefix(f.tag, stack+" "+name+" ")
	return value, nil
}

func (f *fakeCLI) SetTag(_ context.Context, stack, name, value string) error {
	f.tag = strings.Join([]string{stack, name, value}, " ")
	return nil
}

func (f *fakeCLI) LoggedIn(context.Context) (string, error) { return "", errors.New("not logged in") }

func (f *fakeCLI) Stacks(context.Context) ([]auto.StackSummary, error) {
	if len(f.lists) > 0 {
		err := f.lists[0]
		f.lists = f.lists[1:]
		return nil, err
	}
	return f.stacks, nil
}

func (f *fakeCLI) Export(context.Context, string) (apitype.UntypedDeployment, bool, error) {
	f.exports++
	return apitype.UntypedDeployment{}, false, nil
}

func (f *fakeCLI) Manage(_ context.Context, stack, operation string, args ...string) (string, error) {
	call := args[0] + " " + stack
	if args[0] == "stack" {
		call = args[0] + " " + args[1] + " " + stack
	} else {
		f.calls = append(f.calls, call)
	}
	if stderr, ok := f.fail[call]; ok {
		return stderr, fmt.Errorf("%s %s: %s", operation, stack, stderr)
	}
	return "", nil
}

// bench is a local backend with a fake CLI.
type bench struct {
	*Backend
	dir   string
	cli   *fakeCLI
	notes []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), cli: &fakeCLI{fail: map[string]string{}}}
	b.Backend = &Backend{
		URL: "file://" + b.dir, CLI: b.cli, Processes: &table{}, LockWait: 30 * time.Second,
		Note: func(stack, message string) { b.notes = append(b.notes, "note "+stack+": "+message) },
	}
	b.KeepCopies(os.Getenv, map[string]string{})
	return b
}

// table is a process table for tests. After looks, a process ends.
type table struct {
	processes map[int]process.Process
	looks     int
}

func (t *table) Process(pid int) (process.Process, bool) {
	p, ok := t.processes[pid]
	if t.looks--; t.looks == 0 {
		delete(t.processes, pid)
	}
	return p, ok
}

func TestJudge(t *testing.T) {
	locked := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := locked.Add(time.Hour)
	cli := func(args ...string) process.Process {
		return process.Process{Name: "pulumi", Parent: 9, Args: append([]string{"pulumi"}, args...)}
	}
	at := func(p process.Process, started time.Time) process.Process { p.Started = started; return p }
	running := &table{processes: map[int]process.Process{
		8:  {Name: "systemd", Parent: 1},
		9:  {Name: "tombolo", Parent: 8},
		10: cli(),
		11: {Name: "pulumi", Parent: 1},
		12: {Name: "bash", Parent: 9},
		13: {Name: "pulumi", Parent: 8},
		14: at(cli("up"), locked.Add(-time.Second)),
		15: at(cli("up"), locked.Add(30*time.Second)),
		16: at(cli("up"), later),
		17: at(cli("up", "--stack", "demo-core"), later),
		18: at(cli("up", "--stack", "other-core"), locked.Add(-time.Second)),
		19: at(cli("up", "--stack=organization/tombolo/demo-core"), locked),
		20: at(cli("up", "-s"), locked),
		21: {},
	}}
	for _, tt := range []struct {
		name string
		pid  int
		host string
		want OwnerState
	}{
		{"runs under a driver", 10, "here", OwnerAlive},
		{"runs without its driver", 11, "here", OwnerOrphan},
		{"runs without its driver, and systemd took it in", 13, "here", OwnerOrphan},
		{"its id belongs to another program", 12, "here", OwnerGone},
		{"has ended", 99, "here", OwnerGone},
		{"is on another host", 10, "there", OwnerElsewhere},
		{"is on another host with an id unknown here", 99, "there", OwnerElsewhere},
		{"was started before the lock was taken", 14, "here", OwnerAlive},
		{"seems to have started a little later", 15, "here", OwnerAlive},
		{"its id belongs to a pulumi that was started later", 16, "here", OwnerGone},
		{"works on the stack, and the clock was set forward", 17, "here", OwnerAlive},
		{"its id belongs to a pulumi that works on another stack", 18, "here", OwnerGone},
		{"names the stack in full", 19, "here", OwnerAlive},
		{"names no stack after all", 20, "here", OwnerAlive},
		{"nothing may be known of it", 21, "here", OwnerAlive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Owner{PID: tt.pid, Host: tt.host, Since: locked}
			got := judge("demo-core", o, "here", running)
			assert.Check(t, got == tt.want, "judge = %s, want %s", got, tt.want)
		})
	}
}

func lockOwner(t *testing.T, pid int) Owner {
	t.Helper()
	host, err := os.Hostname()
	assert.NilError(t, err)
	return Owner{PID: pid, Host: host, User: "ada", Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func TestStaleLockIsRemoved(t *testing.T) {
	b := newBench(t)
	b.Processes = &table{}
	file := backendtest.Lock(t, b.dir, "demo-core", lockOwner(t, 77))
	assert.NilError(t, b.ReleaseLocks(t.Context(), "demo-core"))
	_, err := os.Stat(file)
	assert.Check(t, errors.Is(err, fs.ErrNotExist), "the lock is still there: %v", err)
	note := "note demo-core: recovered: removed the lock of " + lockOwner(t, 77).String() + ", which is gone"
	assert.DeepEqual(t, b.notes, []string{note})
}

func TestHeldLockIsRefused(t *testing.T) {
	b := newBench(t)
	b.Processes = &table{processes: map[int]process.Process{77: {Name: "pulumi", Parent: 70}}}
	file := backendtest.Lock(t, b.dir, "demo-core", lockOwner(t, 77))
	err := b.ReleaseLocks(t.Context(), "demo-core")
	var locked *LockedError
	assert.Assert(t, errors.As(err, &locked), "error is %T: %v", err, err)
	host := lockOwner(t, 77).Host
	assert.Error(t, err, "stack demo-core is locked by ada on "+host+" (process 77, since 2026-01-02T03:04:05Z); "+
		"wait for it to end; if process 77 on "+host+" is dead, run `tombolo unlock demo --stack core --owner-is-gone`")
	_, err = os.Stat(file)
	assert.Check(t, err == nil && len(b.cli.calls) == 0, "the lock was touched: %v, %v", err, b.cli.calls)
}

func TestOrphanIsAwaited(t *testing.T) {
	b := newBench(t)
	b.Processes = &table{processes: map[int]process.Process{77: {Name: "pulumi", Parent: 1}}, looks: 2}
	backendtest.Lock(t, b.dir, "demo-core", lockOwner(t, 77))
	assert.NilError(t, b.ReleaseLocks(t.Context(), "demo-core"))
	want := "note demo-core: waiting up to 30s for pulumi process 77, whose driver is gone, to end"
	notes := b.notes
	assert.Check(t, len(notes) == 2 && notes[0] == want, "notes are %q", notes)
}

func TestOrphanThatStaysHoldsItsLock(t *testing.T) {
	b := newBench(t)
	b.LockWait = time.Millisecond
	b.Processes = &table{processes: map[int]process.Process{77: {Name: "pulumi", Parent: 1}}}
	backendtest.Lock(t, b.dir, "demo-core", lockOwner(t, 77))
	err := b.ReleaseLocks(t.Context(), "demo-core")
	var locked *LockedError
	assert.Check(t, errors.As(err, &locked) && locked.Owner.PID == 77, "error is %T: %v", err, err)
}

func TestUnreadableLock(t *testing.T) {
	b := newBench(t)
	file := backendtest.Lock(t, b.dir, "demo-core", lockOwner(t, 77))
	assert.NilError(t, os.WriteFile(file, []byte("{"), 0o600))
	err := b.ReleaseLocks(t.Context(), "demo-core")
	assert.Check(t, err != nil && strings.HasSuffix(err.Error(), "make sure that no tombolo or pulumi runs, and delete the file"),
		"error is %v", err)
}

// A full disk leaves the file that the CLI writes before it is the lock.
// TestLocksThatCannotBeRead: what cannot be looked at is not free. A directory may have the name of a pattern.
func TestLocksThatCannotBeRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state[1]")
	backendtest.Lock(t, dir, "demo-core", lockOwner(t, 77))
	held, err := readLocks(dir, "demo-core")
	assert.NilError(t, err)
	assert.Check(t, is.Len(held, 1))
	at := locksDir(dir, "demo-core")
	assert.NilError(t, os.RemoveAll(at))
	held, err = readLocks(dir, "demo-core")
	assert.Check(t, err == nil && held == nil, "%v, %v", held, err)
	assert.NilError(t, os.WriteFile(at, nil, 0o600))
	_, err = readLocks(dir, "demo-core")
	assert.ErrorContains(t, err, "look for locks of stack demo-core: ")
}

func TestUnfinishedLockIsRemoved(t *testing.T) {
	b := newBench(t)
	lock := backendtest.Lock(t, b.dir, "demo-core", lockOwner(t, 77))
	left, described, writing := lock+".18ea12d99b89f3a7.tmp", lock+".attrs", lock+".18ea12d99b89f3a8.tmp"
	minuteAgo := time.Now().Add(-time.Minute)
	err := errors.Join(os.Rename(lock, left), os.WriteFile(writing, nil, 0o600), os.WriteFile(described, []byte("{}"), 0o600),
		os.Chtimes(left, minuteAgo, minuteAgo), os.Chtimes(described, minuteAgo, minuteAgo))
	assert.NilError(t, err)
	assert.NilError(t, b.ReleaseLocks(t.Context(), "demo-core"))
	for _, file := range []string{left, described} {
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", file, err)
		}
	}
	if _, err := os.Stat(writing); err != nil {
		t.Errorf("a lock that is being written was touched: %v", err)
	}
	note := "note demo-core: recovered: removed a lock that was not written to its end"
	want := []string{note, note}
	assert.DeepEqual(t, b.notes, want)
}

func TestLocks(t *testing.T) {
	b := newBench(t)
	b.Processes = &table{processes: map[int]process.Process{78: {Name: "pulumi", Parent: 70}}}
	gone, alive := backendtest.Lock(t, b.dir, "demo-core", lockOwner(t, 77)), backendtest.Lock(t, b.dir, "demo-bootstrap", lockOwner(t, 78))
	locks, err := b.Locks(t.Context(), "demo-core", "demo-bootstrap")
	assert.NilError(t, err)
	first, second := lockOwner(t, 77), lockOwner(t, 78)
	want := []Lock{
		{Stack: "demo-core", Owner: &first, State: OwnerGone, file: gone},
		{Stack: "demo-bootstrap", Owner: &second, State: OwnerAlive, file: alive},
	}
	assert.DeepEqual(t, locks, want, cmp.AllowUnexported(Lock{}))
	only, err := b.Locks(t.Context(), "demo-bootstrap")
	assert.Check(t, err == nil && len(only) == 1 && only[0].Stack == "demo-bootstrap", "locks of bootstrap are %v, error %v", only, err)
	assert.NilError(t, b.Unlock(t.Context(), locks[0], false))
	err = b.Unlock(t.Context(), locks[1], false)
	assert.Error(t, err, "stack demo-bootstrap is locked by "+second.String()+"; the process runs: wait for it, or end it with `kill -INT 78`; "+
		"if it is not the owner, run `tombolo unlock demo --stack bootstrap --owner-is-gone`")
	left, err := b.Locks(t.Context(), "demo-core", "demo-bootstrap")
	assert.Check(t, err == nil && len(left) == 1 && left[0].Stack == "demo-bootstrap", "locks are %v, error %v", left, err)
	assert.NilError(t, b.Unlock(t.Context(), locks[1], true))
	left, err = b.Locks(t.Context(), "demo-core", "demo-bootstrap")
	assert.Check(t, err == nil && len(left) == 0, "locks are %v, error %v", left, err)
	assert.Check(t, is.Len(b.cli.calls, 0), "needless processes")
}

func TestLocksOfABucket(t *testing.T) {
	b := newBench(t)
	b.URL = "gs://state"
	b.cli.fail["stack rename demo-core"] = "error: a stack named organization/tombolo/demo-core already exists"
	b.cli.fail["stack rename demo-bootstrap"] = "error: the stack is currently locked by 1 lock(s).\n  gs://state/1.json: created by ada@far (pid 77) at 2026-01-02T03:04:05Z"
	locks, err := b.Locks(t.Context(), "demo-core", "demo-bootstrap")
	assert.Assert(t, err == nil && len(locks) == 1 && locks[0].State == OwnerElsewhere, "locks are %v, error %v", locks, err)
	err = b.Unlock(t.Context(), locks[0], false)
	want := "stack demo-bootstrap is locked by ada on far (process 77, since 2026-01-02T03:04:05Z); look on far whether process 77 runs; " +
		"if it does not, run `tombolo unlock demo --stack bootstrap --owner-is-gone`"
	assert.Error(t, err, want)
	assert.NilError(t, b.Unlock(t.Context(), locks[0], true))
	assert.DeepEqual(t, b.cli.calls, []string{"cancel demo-bootstrap"})
	b.cli.fail["stack rename demo-core"] = "error: AccessDenied: no"
	if _, err := b.Locks(t.Context(), "demo-core", "demo-bootstrap"); err == nil || !strings.HasPrefix(err.Error(), "look for locks of demo-core: error: AccessDenied: no") {
		t.Errorf("error is %v", err)
	}
}

func TestLocksOfPulumiCloud(t *testing.T) {
	b := newBench(t)
	b.URL = "https://api.pulumi.com"
	core := auto.StackSummary{Name: "demo-core"}
	b.cli.stacks = []auto.StackSummary{core}
	if locks, err := b.Locks(t.Context(), "demo-core", "demo-bootstrap"); err != nil || len(locks) > 0 {
		t.Fatalf("locks are %v, error %v", locks, err)
	}
	core.UpdateInProgress = true
	b.cli.stacks = []auto.StackSummary{core}
	locks, err := b.Locks(t.Context(), "demo-core", "demo-bootstrap")
	diff := cmp.Diff([]Lock{{Stack: "demo-core", State: OwnerUnknown}}, locks, cmp.AllowUnexported(Lock{}))
	assert.Assert(t, err == nil && diff == "", "error %v, locks (-want +got):\n%s", err, diff)
	err = b.Unlock(t.Context(), locks[0], false)
	want := "stack demo-core is locked by another update; the backend does not say whose it is: make sure that nobody works on the stack; " +
		"then run `tombolo unlock demo --stack core --owner-is-gone`"
	assert.Error(t, err, want)
	assert.NilError(t, b.Unlock(t.Context(), locks[0], true))
	assert.DeepEqual(t, b.cli.calls, []string{"cancel demo-core"})
}

// TestRemedyInTheLab: the command has to be one that works as it is.
func TestRemedyInTheLab(t *testing.T) {
	b := newBench(t)
	b.Flags = []string{"--lab"}
	want := "; if process 77 on far is dead, run `tombolo unlock demo --stack core --owner-is-gone --lab`"
	err := b.lockedError("demo-core", Owner{PID: 77, Host: "far"})
	assert.Check(t, strings.HasSuffix(err.Error(), want), "error is %v, want …%s", err, want)
}
