package process

import (
	"fmt"
	"syscall"
)

// Pause stops a process without ending it: it keeps its connections, and
// answers nobody. Resume lets it go on.
func (s *Supervisor) Pause(name string) error { return s.signal(name, syscall.SIGSTOP) }

// Resume lets a process go on that was paused. One that was not is left alone.
func (s *Supervisor) Resume(name string) error { return s.signal(name, syscall.SIGCONT) }

func (s *Supervisor) signal(name string, signal syscall.Signal) error {
	s.mu.Lock()
	k := s.keepers[name]
	s.mu.Unlock()
	if k == nil {
		return fmt.Errorf("send %v to %s: there is no such process", signal, name)
	}
	status := k.snapshot()
	if status.PID == 0 {
		return fmt.Errorf("send %v to %s: it is %s", signal, name, status.State)
	}
	if err := syscall.Kill(status.PID, signal); err != nil {
		return fmt.Errorf("send %v to %s: %w", signal, name, err)
	}
	return nil
}
