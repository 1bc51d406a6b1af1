package process

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
)

func supervisor(t *testing.T) *Supervisor {
	t.Helper()
	s := NewSupervisor(t.TempDir(), t.TempDir())
	s.firstPause = time.Millisecond
	t.Cleanup(s.Close)
	return s
}

// awaitStatus waits until a process's status is as wanted.
func awaitStatus(t *testing.T, s *Supervisor, what string, wanted func(Status) bool) Status {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		list := s.List()
		if len(list) == 1 && wanted(list[0]) {
			return list[0]
		}
		select {
		case <-deadline:
			t.Fatalf("never %s: %+v", what, list)
		case <-tick.C:
		}
	}
}

func TestSupervisorRestartsWhatDies(t *testing.T) {
	s := supervisor(t)
	p := spec(t, "healthy")
	p.Healthy, p.Restart = nil, true
	if err := s.Start(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	before := awaitStatus(t, s, "running", func(st Status) bool { return st.State == Running })
	if err := s.Start(t.Context(), p); err != nil || s.List()[0].PID != before.PID {
		t.Errorf("a second start replaced the process (%v)", err)
	}
	if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	after := awaitStatus(t, s, "running again", func(st Status) bool { return st.State == Running && st.PID != before.PID })
	if after.Restarts != 1 || !strings.HasPrefix(after.Detail, "killed by signal 9 (killed)") {
		t.Errorf("status after the restart: %+v", after)
	}
	s.Stop("healthy", "unknown")
	if Identity(after.PID) != "" || len(s.List()) != 0 {
		t.Errorf("pid %d still runs; %v", after.PID, s.List())
	}
}

func TestStartCutsThePauseShort(t *testing.T) {
	s := supervisor(t)
	s.firstPause = time.Hour
	p := spec(t, "healthy")
	p.Healthy, p.Restart = nil, true
	if err := s.Start(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(s.List()[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitStatus(t, s, "restarting", func(st Status) bool { return st.State == Restarting })
	if err := s.Start(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if st := s.List()[0]; st.State != Running || st.Restarts != 1 {
		t.Errorf("status %+v", st)
	}
}

func TestSupervisorGivesUp(t *testing.T) {
	s := supervisor(t)
	p := spec(t, "exit")
	p.Healthy, p.Restart = nil, true
	if err := s.Start(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	st := awaitStatus(t, s, "failed", func(st Status) bool { return st.State == Failed })
	if want := "given up after 9 failures in a row: exited with code 3"; !strings.HasPrefix(st.Detail, want) {
		t.Errorf("detail %q, want it to begin with %q", st.Detail, want)
	}
}

func TestSupervisorReportsAFirstStartThatFails(t *testing.T) {
	s := supervisor(t)
	p := spec(t, "exit")
	p.Restart = true
	for range 2 { // each Start tries anew
		if err := s.Start(t.Context(), p); err == nil || !strings.HasPrefix(err.Error(), "start exit: exited with code 3") {
			t.Errorf("error %v", err)
		}
	}
	if st := s.List()[0]; st.State != Failed {
		t.Errorf("state %s", st.State)
	}
}

func TestClosedSupervisorStartsNothing(t *testing.T) {
	s := supervisor(t)
	s.Close()
	if err := s.Start(t.Context(), spec(t, "healthy")); err == nil || err.Error() != "start healthy: the lab is shutting down" {
		t.Errorf("error %v", err)
	}
}

func TestPause(t *testing.T) {
	s := supervisor(t)
	p := spec(t, "healthy")
	p.Healthy = nil
	if err := s.Start(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Pause("healthy"), s.Resume("healthy"), s.Pause("healthy")); err != nil {
		t.Error(err)
	}
	if pid := s.List()[0].PID; !stopped(pid) {
		t.Errorf("process %d runs", pid)
	}
	if err := s.Pause("unknown"); err == nil || err.Error() != "send stopped (signal) to unknown: there is no such process" {
		t.Errorf("error %v", err)
	}
	s.Stop("healthy") // ends what is paused, too
	if err := s.Resume("healthy"); err == nil || err.Error() != "send continued to healthy: there is no such process" {
		t.Errorf("error %v", err)
	}
}
