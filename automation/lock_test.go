package automation

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// table is a process table for tests. After looks, a process ends.
type table struct {
	processes map[int]process
	looks     int
}

func (t *table) Process(pid int) (process, bool) {
	p, ok := t.processes[pid]
	if t.looks--; t.looks == 0 {
		delete(t.processes, pid)
	}
	return p, ok
}

func TestJudge(t *testing.T) {
	running := &table{processes: map[int]process{
		10: {Name: "pulumi", Parent: 9},
		11: {Name: "pulumi", Parent: 1},
		12: {Name: "bash", Parent: 9},
	}}
	tests := []struct {
		name string
		pid  int
		host string
		want ownerState
	}{
		{"runs under a driver", 10, "here", ownerAlive},
		{"runs without its driver", 11, "here", ownerOrphan},
		{"its id belongs to another program", 12, "here", ownerGone},
		{"has ended", 13, "here", ownerGone},
		{"is on another host", 10, "there", ownerElsewhere},
		{"is on another host with an id unknown here", 13, "there", ownerElsewhere},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := judge(LockOwner{PID: tt.pid, Host: tt.host}, "here", running); got != tt.want {
				t.Errorf("judge = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestParseStat(t *testing.T) {
	tests := []struct {
		stat string
		want process
		runs bool
	}{
		{"42 (pulumi) S 41 42 42 0 -1", process{Name: "pulumi", Parent: 41}, true},
		{"42 (a ) b) R 1 42", process{Name: "a ) b", Parent: 1}, true},
		{"42 (pulumi) Z 41 42", process{}, false},
		{"garbage", process{}, false},
	}
	for _, tt := range tests {
		got, runs := parseStat(tt.stat)
		if got != tt.want || runs != tt.runs {
			t.Errorf("parseStat(%q) = %+v, %t, want %+v, %t", tt.stat, got, runs, tt.want, tt.runs)
		}
	}
}

func TestHostProcesses(t *testing.T) {
	p, ok := hostProcesses{}.Process(os.Getpid())
	if !ok || p.Parent != os.Getppid() || p.Name == "" {
		t.Errorf("this process is %+v, %t", p, ok)
	}
	if _, ok := (hostProcesses{}).Process(0); ok {
		t.Error("process 0 runs")
	}
}

// lock writes a lock as the CLI does, and makes `cancel` remove it.
func (b *bench) lock(t *testing.T, stack string, o LockOwner) string {
	t.Helper()
	file := filepath.Join(b.backend, ".pulumi", "locks", "organization", "tombolo", stack, "1.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	b.cli.during = func(op string) {
		if op == "cancel "+stack {
			os.Remove(file)
		}
	}
	b.cli.states[stack] = apitype.DeploymentV3{}
	return file
}

func owner(t *testing.T, pid int) LockOwner {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return LockOwner{PID: pid, Host: host, User: "ada", Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func TestStaleLockIsRemoved(t *testing.T) {
	b := newBench(t)
	b.processes = &table{}
	b.lock(t, "demo-core", owner(t, 77))
	if _, err := b.Up(t.Context(), demo(), UpOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"cancel demo-core", "up demo-core", "up demo-bootstrap"}
	if diff := cmp.Diff(want, b.cli.operations()); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	note := "note demo-core: recovered: removed the lock of " + owner(t, 77).String() + ", which is gone"
	if diff := cmp.Diff([]string{note}, b.seen.notes()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestHeldLockStopsUp(t *testing.T) {
	b := newBench(t)
	b.processes = &table{processes: map[int]process{77: {Name: "pulumi", Parent: 70}}}
	file := b.lock(t, "demo-core", owner(t, 77))
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("error is %T: %v", err, err)
	}
	host := owner(t, 77).Host
	want := "stack demo-core is locked by ada on " + host + " (process 77, since 2026-01-02T03:04:05Z); " +
		"wait for it to end; if process 77 on " + host + " is dead, run `pulumi cancel --stack demo-core`"
	if err.Error() != want {
		t.Errorf("error is\n%q, want\n%q", err, want)
	}
	if _, err := os.Stat(file); err != nil || len(b.cli.operations()) > 0 {
		t.Errorf("the lock was touched: %v, %v", err, b.cli.operations())
	}
}

func TestOrphanIsAwaited(t *testing.T) {
	b := newBench(t)
	b.processes = &table{processes: map[int]process{77: {Name: "pulumi", Parent: 1}}, looks: 2}
	b.lock(t, "demo-core", owner(t, 77))
	if _, err := b.Up(t.Context(), demo(), UpOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "note demo-core: waiting up to 30s for pulumi process 77, whose driver is gone, to end"
	if notes := b.seen.notes(); len(notes) != 2 || notes[0] != want {
		t.Errorf("notes are %q", notes)
	}
}

func TestOrphanThatStaysHoldsItsLock(t *testing.T) {
	b := newBench(t)
	b.opts.LockWait = time.Millisecond
	b.processes = &table{processes: map[int]process{77: {Name: "pulumi", Parent: 1}}}
	b.lock(t, "demo-core", owner(t, 77))
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Owner.PID != 77 {
		t.Errorf("error is %T: %v", err, err)
	}
}

func TestUnreadableLock(t *testing.T) {
	b := newBench(t)
	file := b.lock(t, "demo-core", owner(t, 77))
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	if err == nil || !strings.HasSuffix(err.Error(), "make sure that no tombolo or pulumi runs, and delete the file") {
		t.Errorf("error is %v", err)
	}
}

// A full disk leaves the file that the CLI writes before it is the lock.
func TestUnfinishedLockIsRemoved(t *testing.T) {
	b := newBench(t)
	lock := b.lock(t, "demo-core", owner(t, 77))
	left, writing := lock+".18ea12d99b89f3a7.tmp", lock+".18ea12d99b89f3a8.tmp"
	minuteAgo := time.Now().Add(-time.Minute)
	if err := errors.Join(os.Rename(lock, left), os.WriteFile(writing, nil, 0o600), os.Chtimes(left, minuteAgo, minuteAgo)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Up(t.Context(), demo(), UpOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := os.Stat(writing); err != nil {
		t.Errorf("a lock that is being written was touched: %v", err)
	}
	want := []string{"note demo-core: recovered: removed a lock that was not written to its end"}
	if diff := cmp.Diff(want, b.seen.notes()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// A backend that is no directory reports a lock only when it is met.
func TestStaleLockThatTheBackendReports(t *testing.T) {
	b := newBench(t)
	b.processes = &table{}
	o := owner(t, 77)
	text := "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or " +
		"delete the lock file with `pulumi cancel`.\n  s3://state/1.json: created by ada@" + o.Host +
		" (pid 77) at 2026-01-02T03:04:05Z"
	b.cli.fail["up demo-core"] = failure{stderr: text, once: true}
	if _, err := b.Up(t.Context(), demo(), UpOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"up demo-core", "cancel demo-core", "up demo-core", "up demo-bootstrap"}
	if diff := cmp.Diff(want, b.cli.operations()); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}

	b.processes = &table{processes: map[int]process{77: {Name: "pulumi", Parent: 70}}}
	b.cli.fail["up demo-core"] = failure{stderr: text, once: true}
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Owner.User != "ada" {
		t.Errorf("error is %T: %v", err, err)
	}
}

func TestLockOfPulumiCloud(t *testing.T) {
	b := newBench(t)
	b.cli.fail["up demo-core"] = failure{stderr: "error: [409] Conflict: Another update is currently in progress."}
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	want := "stack demo-core is locked by another update; " +
		"wait for it to end; if it is dead, run `pulumi cancel --stack demo-core`"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// TestRemedyInAnEnvironmentOfItsOwn: a shell has to enter it first.
func TestRemedyInAnEnvironmentOfItsOwn(t *testing.T) {
	b := newBench(t)
	b.opts.Enter = `eval "$(env-of-the-lab)"`
	want := "; wait for it to end; if process 77 on far is dead, run " +
		"`eval \"$(env-of-the-lab)\" && pulumi cancel --stack demo-core`"
	if err := b.lockedError("demo-core", LockOwner{PID: 77, Host: "far"}); !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error is %v, want …%s", err, want)
	}
}
