package process

import (
	"fmt"
	"syscall"
	"time"
)

// stopTimeout is more than a busy machine takes to stop all threads of a process.
const (
	stopTimeout = 10 * time.Second
	stopPoll    = time.Millisecond
)

// Pause stops a process without ending it: it keeps its connections, and
// answers no request once Pause has returned. Resume lets it continue.
func (s *Supervisor) Pause(name string) error {
	pid, err := s.signal(name, syscall.SIGSTOP)
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(stopTimeout); !stopped(pid); <-time.After(stopPoll) {
		if time.Now().After(deadline) {
			return fmt.Errorf("pause %s: process %d has not stopped after %s", name, pid, stopTimeout)
		}
	}
	return nil
}

// Resume lets a process go on that was paused. One that was not is left alone.
func (s *Supervisor) Resume(name string) error {
	_, err := s.signal(name, syscall.SIGCONT)
	return err
}

func (s *Supervisor) signal(name string, signal syscall.Signal) (pid int, err error) {
	s.mu.Lock()
	k := s.keepers[name]
	s.mu.Unlock()
	if k == nil {
		return 0, fmt.Errorf("send %v to %s: there is no such process", signal, name)
	}
	status := k.snapshot()
	if status.PID == 0 {
		return 0, fmt.Errorf("send %v to %s: it is %s", signal, name, status.State)
	}
	if err := syscall.Kill(status.PID, signal); err != nil {
		return 0, fmt.Errorf("send %v to %s: %w", signal, name, err)
	}
	return status.PID, nil
}
