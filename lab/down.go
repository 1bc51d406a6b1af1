package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"tombolo/lab/control"
	"tombolo/lab/process"
)

// stopTimeout is how long the daemon may take to end its processes.
const stopTimeout = 40 * time.Second

// Down ends the lab and removes everything of it, the state of its stacks and
// its logs too. It fails when a process of the lab survives. A lab that is not
// there is no error.
func (l *Lab) Down(ctx context.Context) error {
	if err := l.stop(ctx); err != nil {
		return fmt.Errorf("take the lab down: %w", err)
	}
	// What a killed daemon left, before its records go.
	if _, err := process.Reap(l.paths().run()); err != nil {
		return fmt.Errorf("take the lab down: %w", err)
	}
	if err := l.forgetDaemon(); err != nil {
		return fmt.Errorf("take the lab down: %w", err)
	}
	survivors, err := process.Recorded(l.paths().run())
	if err != nil {
		return fmt.Errorf("take the lab down: %w", err)
	}
	if len(survivors) > 0 {
		return fmt.Errorf("take the lab down: still running: %s", strings.Join(survivors, ", "))
	}
	if err := errors.Join(l.removeSettings(), os.RemoveAll(l.paths().dir())); err != nil {
		return fmt.Errorf("remove the lab's state: %w", err)
	}
	return nil
}

// stop asks the daemon to end, and ends it when it does not.
func (l *Lab) stop(ctx context.Context) error {
	file, found, err := control.ReadDaemon(l.paths().daemon())
	if err != nil || !found || !file.Alive() {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	if err := l.daemon().Ask(ctx, http.MethodPost, "/shutdown", nil, nil); err != nil && !errors.Is(err, ErrNotRunning) {
		return process.End(file.PID, file.Identity, stopTimeout)
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for file.Alive() {
		select {
		case <-ctx.Done():
			return process.End(file.PID, file.Identity, 0)
		case <-tick.C:
		}
	}
	return nil
}
