package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestMain lets the test binary play the child processes.
func TestMain(m *testing.M) {
	role, ok := os.LookupEnv("PROCESS_TEST_ROLE")
	if !ok {
		os.Exit(m.Run())
	}
	os.Exit(play(role))
}

func play(role string) (code int) {
	switch role {
	case "exit":
		fmt.Println("first line")
		fmt.Println("cannot find the flux compensator")
		return 3
	case "environment":
		fmt.Println(os.Environ())
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	}
	fmt.Println("ready")
	forever := make(chan os.Signal, 1)
	signal.Notify(forever, syscall.SIGUSR2)
	<-forever
	return 0
}

func spec(t *testing.T, role string) Spec {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	s := Spec{Name: role, Path: self, Env: []string{"PROCESS_TEST_ROLE=" + role}, LogDir: t.TempDir()}
	s.Healthy = func(context.Context) error {
		if !strings.Contains(Tail(s.LogFile(), 5), "ready") {
			return errors.New("no ready in the log")
		}
		return nil
	}
	return s
}

// Nothing of the environment reaches a process but the garbage collector's settings.
func TestEnvironment(t *testing.T) {
	t.Setenv("GOGC", "333")
	t.Setenv("GOMEMLIMIT", "")
	t.Setenv("PROCESS_TEST_SECRET", "of the user")
	s := spec(t, "environment")
	p, err := Start(t.Context(), s)
	assert.NilError(t, err)
	defer p.Stop()
	assert.Equal(t, strings.TrimSpace(Tail(s.LogFile(), 5)), "[GOGC=333 PROCESS_TEST_ROLE=environment]\nready")
}

func TestStart(t *testing.T) {
	s := spec(t, "healthy")
	s.PIDFile = filepath.Join(t.TempDir(), "run", "healthy.json")
	p, err := Start(t.Context(), s)
	assert.NilError(t, err)
	if p.Err() != nil || Identity(p.PID()) == "" {
		t.Errorf("a running process has error %v and identity %q", p.Err(), Identity(p.PID()))
	}
	names, err := Recorded(filepath.Dir(s.PIDFile))
	assert.Check(t, err == nil && len(names) == 1, "recorded %v, %v", names, err)
	p.Stop()
	got, want := p.Err().Error(), "killed by signal 15 (terminated)"
	assert.Check(t, got == want, "ended by %q, want %q", got, want)
	_, err = os.Stat(s.PIDFile)
	assert.Check(t, os.IsNotExist(err), "the pid file is left: %v", err)
	p.Stop() // a second time does nothing
}

func TestStartFails(t *testing.T) {
	tests := map[string]struct {
		role string
		edit func(*Spec)
		want []string
	}{
		"exits early": {
			role: "exit",
			want: []string{"start exit: exited with code 3\n  the end of ", "exit.log:\n  first line\n  cannot find the flux compensator"},
		},
		"never healthy": {
			role: "healthy",
			edit: func(s *Spec) {
				s.StartTimeout = 200 * time.Millisecond
				s.Healthy = func(context.Context) error { return errors.New("connection refused") }
			},
			want: []string{"start healthy: not healthy after 200ms: connection refused\n  the end of ", "  ready"},
		},
		"missing binary": {
			role: "healthy",
			edit: func(s *Spec) { s.Path = "/nowhere/kwok" },
			want: []string{"start healthy: kwok is missing (/nowhere/kwok)"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := spec(t, test.role)
			if test.edit != nil {
				test.edit(&s)
			}
			_, err := Start(t.Context(), s)
			if err == nil {
				t.Fatal("it started")
			}
			for _, want := range test.want {
				assert.Check(t, strings.Contains(err.Error(), want), "error %q does not say %q", err, want)
			}
		})
	}
}

func TestStartFailsOnTakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	defer l.Close()
	s := spec(t, "healthy")
	s.Ports = []int{l.Addr().(*net.TCPAddr).Port}
	_, err = Start(t.Context(), s)
	want := fmt.Sprintf("start healthy: port %d is taken by ", s.Ports[0])
	if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("(pid %d); stop that process, then run it again", os.Getpid())) {
		t.Errorf("error %v, want it to begin with %q and to name this process", err, want)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := spec(t, "healthy")
	s.Healthy = func(context.Context) error { cancel(); return errors.New("not yet") }
	_, err := Start(ctx, s)
	assert.Check(t, errors.Is(err, context.Canceled), "error %v, want %v", err, context.Canceled)
}

func TestStopKillsTheStubborn(t *testing.T) {
	s := spec(t, "stubborn")
	s.StopGrace = 100 * time.Millisecond
	p, err := Start(t.Context(), s)
	assert.NilError(t, err)
	p.Stop()
	got, want := p.Err().Error(), "killed by signal 9 (killed)"
	assert.Check(t, got == want, "ended by %q, want %q", got, want)
}

func TestLogOfTheRunBeforeIsKept(t *testing.T) {
	s := spec(t, "exit")
	s.Healthy = nil
	for range 2 {
		p, err := Start(t.Context(), s)
		assert.NilError(t, err)
		<-p.Done()
	}
	for _, file := range []string{s.LogFile(), s.LogFile() + ".1"} {
		assert.Check(t, is.Equal(Tail(file, 1), "cannot find the flux compensator"), "%v", filepath.Base(file))
	}
}

func TestReap(t *testing.T) {
	dir := t.TempDir()
	s := spec(t, "healthy")
	p, err := Start(t.Context(), s)
	assert.NilError(t, err)
	defer p.Stop()
	assert.NilError(t, writePIDFile(filepath.Join(dir, "left.json"), "left", p.PID()))
	// This very process has the pid of the second record, but was started at
	// another time.
	other := fmt.Sprintf(`{"name":"other","pid":%d,"identity":"1"}`, os.Getpid())
	for name, content := range map[string]string{"other.json": other, "cut.json": `{"na`} {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	ended, err := Reap(dir)
	assert.Check(t, err == nil && len(ended) == 1 && ended[0] == "left", "ended %v, %v; want the one that was left", ended, err)
	entries, _ := os.ReadDir(dir)
	assert.Check(t, len(entries) == 0, "records are left: %v", entries)
	select {
	case <-p.Done():
	case <-time.After(5 * time.Second):
		t.Error("the process still runs")
	}
}
