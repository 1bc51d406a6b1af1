package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// pidFile records a running process so that a later daemon can tell whether it
// is still the same one.
type pidFile struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"`
	Identity string `json:"identity"`
}

func writePIDFile(path, name string, pid int) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the directory of pid files: %w", err)
	}
	data, err := json.Marshal(pidFile{Name: name, PID: pid, Identity: Identity(pid)})
	if err != nil {
		return fmt.Errorf("encode the pid file: %w", err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("write the pid file: %w", err)
	}
	return nil
}

// Recorded lists the names of the processes with a pid file in dir that still
// run.
func Recorded(dir string) ([]string, error) {
	var names []string
	err := eachPIDFile(dir, func(_ string, f pidFile) error {
		if alive(f) {
			names = append(names, f.Name)
		}
		return nil
	})
	return names, err
}

// Reap ends the processes recorded in dir that a dead daemon left running, and
// removes the records. A pid that another process has by now is left alone. It
// returns the names of those it ended.
func Reap(dir string) ([]string, error) {
	var ended []string
	err := eachPIDFile(dir, func(path string, f pidFile) error {
		if alive(f) {
			if err := End(f.PID, f.Identity, DefaultStopGrace); err != nil {
				return fmt.Errorf("end %s: %w", f.Name, err)
			}
			ended = append(ended, f.Name)
		}
		return os.Remove(path)
	})
	return ended, err
}

func alive(f pidFile) bool { return f.Identity != "" && Identity(f.PID) == f.Identity }

func eachPIDFile(dir string, do func(path string, f pidFile) error) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list pid files: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read a pid file: %w", err)
		}
		var f pidFile
		if err := json.Unmarshal(data, &f); err != nil {
			// A record cut short by a crash names nothing that can be ended.
			f = pidFile{}
		}
		if err := do(path, f); err != nil {
			return err
		}
	}
	return nil
}

// End ends a process that is not our child, and its group: SIGTERM, then
// SIGKILL once the grace is over. It does nothing when the pid is no longer
// that process.
func End(pid int, identity string, grace time.Duration) error {
	gone := func(within time.Duration) bool {
		deadline := time.NewTimer(within)
		defer deadline.Stop()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for Identity(pid) == identity {
			select {
			case <-deadline.C:
				return false
			case <-tick.C:
			}
		}
		return true
	}
	if gone(0) {
		return nil
	}
	askToEnd(pid)
	if gone(grace) {
		return nil
	}
	signalGroup(pid, syscall.SIGKILL)
	if gone(5 * time.Second) {
		return nil
	}
	return fmt.Errorf("pid %d survived SIGKILL for 5s; look at it with ps", pid)
}
