package pulumicli

import (
	"context"
	"errors"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// terminateGrace is how long the CLI gets after the second signal, when it only
// has to write its state and remove its lock.
const terminateGrace = 15 * time.Second

// signalGap is the least time between the two signals: the CLI takes them one
// at a time, and one that comes while it is at the first is lost.
const signalGap = 300 * time.Millisecond

// children are the CLI's processes under way, and how they end when
// their contexts are cancelled: by a signal after which calls under way may
// finish, by a second one after which only the state is written, and by force.
type children struct {
	// grace is the time between the first signal and the second.
	grace time.Duration
	// hurried is closed when the grace time is over for all of them.
	hurried chan struct{}
	hurry   sync.Once

	mu        sync.Mutex
	running   map[*exec.Cmd]bool
	abandoned bool
}

func newChildren(grace time.Duration) *children {
	return &children{grace: grace, hurried: make(chan struct{}), running: map[*exec.Cmd]bool{}}
}

// run runs a process to its end.
func (c *children) run(ctx context.Context, cmd *exec.Cmd) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.start(cmd); err != nil {
		return err
	}
	exited := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		c.forget(cmd)
		exited <- err
	}()
	select {
	case err := <-exited:
		return err
	case <-ctx.Done():
		return errors.Join(ctx.Err(), c.end(ctx, cmd, exited))
	}
}

func (c *children) start(cmd *exec.Cmd) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.abandoned {
		return context.Canceled
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.running[cmd] = true
	return nil
}

func (c *children) forget(cmd *exec.Cmd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, cmd)
}

// end interrupts a process and waits for its end. One that has taken longer than it may
// gets no grace time: it has had that.
func (c *children) end(ctx context.Context, cmd *exec.Cmd, exited <-chan error) error {
	_ = cmd.Process.Signal(syscall.SIGINT)
	most := c.grace
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		most = min(most, terminateGrace)
	}
	gap, grace := time.NewTimer(min(signalGap, most)), time.NewTimer(most)
	defer gap.Stop()
	defer grace.Stop()
	select {
	case err := <-exited:
		return err
	case <-gap.C:
	}
	select {
	case err := <-exited:
		return err
	case <-grace.C:
	case <-c.hurried:
	}
	// Another signal than the first, for the kernel makes one of two alike.
	_ = cmd.Process.Signal(syscall.SIGTERM)
	last := time.NewTimer(terminateGrace)
	defer last.Stop()
	select {
	case err := <-exited:
		return err
	case <-last.C:
	}
	killTree(cmd.Process.Pid)
	return <-exited
}

// abandon kills all of them, and prevents further starts.
func (c *children) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.abandoned = true
	for cmd := range c.running {
		killTree(cmd.Process.Pid)
	}
}
