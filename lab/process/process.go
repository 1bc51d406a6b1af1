// Package process runs the lab's child processes: each in a process group of
// its own, watched from its start until its end, its output in a log file.
//
// Start runs one process until it is healthy. A Supervisor keeps a named set
// of them, restarts those that die, and leaves pid files behind by which Reap
// clears away what a killed daemon left running.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// The defaults of a Spec.
const (
	DefaultStartTimeout = 60 * time.Second
	DefaultStopGrace    = 10 * time.Second
)

// Spec describes a process to start.
type Spec struct {
	// Name of the process, unique in the lab; it names the log file too.
	Name string
	// Path of the binary.
	Path string
	// Args after the binary's name.
	Args []string
	// Env is the whole environment; nothing is inherited but Go's settings of its
	// garbage collector, GOGC and GOMEMLIMIT, as all of this runs on one machine.
	Env []string
	// Dir is the working directory. Default: the current one.
	Dir string
	// LogDir holds <Name>.log, and <Name>.log.1 of the run before.
	LogDir string
	// PIDFile records the running process for Reap. Default: none.
	PIDFile string
	// Ports on 127.0.0.1 that the process listens on; they must be free.
	Ports []int
	// Healthy reports why the process cannot be used yet, or nil. Default:
	// healthy once started.
	Healthy func(context.Context) error
	// StartTimeout is how long Healthy may take to become true. Default 60s.
	StartTimeout time.Duration
	// StopGrace is how long the process may take to end by SIGTERM before it
	// gets SIGKILL. Default 10s.
	StopGrace time.Duration
	// Restart starts the process again when it ends unasked, with a growing
	// pause between tries (only under a Supervisor).
	Restart bool
}

// LogFile is the path of the process's log.
func (s Spec) LogFile() string { return filepath.Join(s.LogDir, s.Name+".log") }

// Process is a running child process.
type Process struct {
	spec Spec
	cmd  *exec.Cmd
	done chan struct{}
	exit error // why it ended; set before done is closed
}

// Start starts a process and waits until it is healthy. It fails, leaving
// nothing running, when the process ends first, is not healthy in time, or ctx
// ends; the process outlives ctx once Start has returned.
func Start(ctx context.Context, s Spec) (*Process, error) {
	if s.StartTimeout == 0 {
		s.StartTimeout = DefaultStartTimeout
	}
	if s.StopGrace == 0 {
		s.StopGrace = DefaultStopGrace
	}
	if err := ready(s); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	p := &Process{spec: s, done: make(chan struct{})}
	if err := p.launch(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	if err := p.awaitHealthy(ctx); err != nil {
		p.Stop()
		if errors.Is(err, context.Canceled) {
			return nil, fmt.Errorf("start %s: %w", s.Name, err)
		}
		return nil, fmt.Errorf("start %s: %w%s", s.Name, err, logExcerpt(s.LogFile()))
	}
	return p, nil
}

// ready checks what can be known before the process is started.
func ready(s Spec) error {
	if _, err := os.Stat(s.Path); err != nil {
		return fmt.Errorf("%s is missing (%s)", filepath.Base(s.Path), s.Path)
	}
	for _, port := range s.Ports {
		if err := PortFree(port); err != nil {
			return err
		}
	}
	return nil
}

// launch starts the process. The goroutine that starts it keeps its thread
// until the process ends: a parent-death signal is tied to the thread.
func (p *Process) launch() error {
	log, err := openLog(p.spec.LogFile())
	if err != nil {
		return err
	}
	started := make(chan error, 1)
	go func() {
		defer log.Close()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p.run(log, started)
	}()
	return <-started
}

// collector is what this process was told of Go's garbage collector.
func collector() []string {
	var env []string
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// run is the life of the process, from fork to wait.
func (p *Process) run(log *os.File, started chan<- error) {
	cmd := exec.Command(p.spec.Path, p.spec.Args...)
	cmd.Env, cmd.Dir = slices.Concat(collector(), p.spec.Env), p.spec.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = ownGroup()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.cmd = cmd
	if p.spec.PIDFile != "" {
		if err := writePIDFile(p.spec.PIDFile, p.spec.Name, cmd.Process.Pid); err != nil {
			signalGroup(cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait()
			started <- err
			return
		}
	}
	started <- nil
	p.exit = exitReason(cmd.Wait())
	// What the process itself started must not outlive it.
	signalGroup(cmd.Process.Pid, syscall.SIGKILL)
	if p.spec.PIDFile != "" {
		// Who hears that it is done may start it again, with the same file.
		os.Remove(p.spec.PIDFile)
	}
	close(p.done)
}

// awaitHealthy waits for health, exit and timeout, whichever comes first.
func (p *Process) awaitHealthy(ctx context.Context) error {
	if p.spec.Healthy == nil {
		return nil
	}
	poll, cancel := context.WithTimeout(ctx, p.spec.StartTimeout)
	defer cancel()
	healthy := make(chan struct{})
	reason := make(chan error, 1)
	go func() { pollHealth(poll, p.spec.Healthy, healthy, reason) }()
	select {
	case <-healthy:
		return nil
	case <-p.done:
		return p.exit
	case <-poll.Done():
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return fmt.Errorf("not healthy after %v: %w", p.spec.StartTimeout, <-reason)
}

// pollHealth asks until the answer is nil or ctx ends; then it hands over the
// last reason.
func pollHealth(ctx context.Context, check func(context.Context) error, healthy chan<- struct{}, reason chan<- error) {
	const interval = 100 * time.Millisecond
	last := errors.New("no answer")
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		one, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := check(one)
		cancel()
		if err == nil {
			close(healthy)
			return
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			reason <- last
			return
		case <-tick.C:
		}
	}
}

// PID of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the process ended, such as "exited with code 1". It is nil
// until Done is closed.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.exit
	default:
		return nil
	}
}

// Stop ends the process and everything in its group: SIGTERM, and SIGKILL once
// the grace is over. It returns when the process is gone.
func (p *Process) Stop() {
	select {
	case <-p.done:
		return
	default:
	}
	askToEnd(p.PID())
	grace := time.NewTimer(p.spec.StopGrace)
	defer grace.Stop()
	select {
	case <-p.done:
		return
	case <-grace.C:
	}
	signalGroup(p.PID(), syscall.SIGKILL)
	<-p.done
}

// askToEnd tells the process group that pid leads to end. What is stopped would not
// see that; so it goes on.
func askToEnd(pid int) {
	signalGroup(pid, syscall.SIGTERM)
	signalGroup(pid, syscall.SIGCONT)
}

// signalGroup signals the process group that pid leads; one that is gone is
// no error.
func signalGroup(pid int, sig syscall.Signal) { _ = syscall.Kill(-pid, sig) }

// exitReason says how a process ended, in words.
func exitReason(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if err == nil {
			return errors.New("exited with code 0")
		}
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return fmt.Errorf("killed by signal %d (%s)", status.Signal(), status.Signal())
	}
	return fmt.Errorf("exited with code %d", exit.ExitCode())
}
