package process

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
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
	assert.NilError(t, s.Start(t.Context(), p))
	before := awaitStatus(t, s, "running", func(st Status) bool { return st.State == Running })
	err := s.Start(t.Context(), p)
	assert.Check(t, err == nil && s.List()[0].PID == before.PID, "a second start replaced the process (%v)", err)
	assert.NilError(t, syscall.Kill(before.PID, syscall.SIGKILL))
	after := awaitStatus(t, s, "running again", func(st Status) bool { return st.State == Running && st.PID != before.PID })
	assert.Check(t, after.Restarts == 1 && strings.HasPrefix(after.Detail, "killed by signal 9 (killed)"), "status after the restart: %+v", after)
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
	assert.NilError(t, s.Start(t.Context(), p))
	assert.NilError(t, syscall.Kill(s.List()[0].PID, syscall.SIGKILL))
	awaitStatus(t, s, "restarting", func(st Status) bool { return st.State == Restarting })
	assert.NilError(t, s.Start(t.Context(), p))
	st := s.List()[0]
	assert.Check(t, st.State == Running && st.Restarts == 1, "status %+v", st)
}

func TestSupervisorGivesUp(t *testing.T) {
	s := supervisor(t)
	p := spec(t, "exit")
	p.Healthy, p.Restart = nil, true
	assert.NilError(t, s.Start(t.Context(), p))
	st := awaitStatus(t, s, "failed", func(st Status) bool { return st.State == Failed })
	want := "given up after 9 failures in a row: exited with code 3"
	assert.Check(t, strings.HasPrefix(st.Detail, want), "detail %q, want it to begin with %q", st.Detail, want)
}

func TestSupervisorReportsAFirstStartThatFails(t *testing.T) {
	s := supervisor(t)
	p := spec(t, "exit")
	p.Restart = true
	for range 2 { // each Start tries anew
		err := s.Start(t.Context(), p)
		assert.Check(t, err != nil && strings.HasPrefix(err.Error(), "start exit: exited with code 3"), "error %v", err)
	}
	st := s.List()[0]
	assert.Check(t, st.State == Failed, "state %s", st.State)
}

func TestClosedSupervisorStartsNothing(t *testing.T) {
	s := supervisor(t)
	s.Close()
	assert.Check(t, is.Error(s.Start(t.Context(), spec(t, "healthy")), "start healthy: the lab is shutting down"))
}

func TestPause(t *testing.T) {
	s := supervisor(t)
	p := spec(t, "healthy")
	p.Healthy = nil
	assert.NilError(t, s.Start(t.Context(), p))
	assert.Check(t, errors.Join(s.Pause("healthy"), s.Resume("healthy"), s.Pause("healthy")))
	pid := s.List()[0].PID
	assert.Check(t, stopped(pid), "process %d runs", pid)
	assert.Check(t, is.Error(s.Pause("unknown"), "send stopped (signal) to unknown: there is no such process"))
	s.Stop("healthy") // ends what is paused, too
	assert.Check(t, is.Error(s.Resume("healthy"), "send continued to healthy: there is no such process"))
}
