package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// State of a supervised process.
type State string

// The states.
const (
	Starting   State = "starting"
	Running    State = "running"
	Restarting State = "restarting" // it died and waits for its next try
	Failed     State = "failed"     // given up; Start tries anew
	Stopped    State = "stopped"
)

const (
	firstPause  = time.Second
	longestWait = 30 * time.Second
	// maxFailures in a row after which a process is given up.
	maxFailures = 8
	// steadyAfter this time running, earlier failures are forgotten.
	steadyAfter = time.Minute
)

// Status of a supervised process.
type Status struct {
	Name     string
	PID      int // 0 when it does not run
	State    State
	Since    time.Time // when it entered State
	Restarts int
	// Detail says why the process is not running, or why it last ended; the
	// end of its log is in further lines.
	Detail string
}

// Supervisor keeps a named set of processes.
type Supervisor struct {
	logDir, pidDir string
	firstPause     time.Duration

	mu      sync.Mutex
	keepers map[string]*keeper
}

// NewSupervisor returns a supervisor that logs into logDir and records running
// processes in pidDir.
func NewSupervisor(logDir, pidDir string) *Supervisor {
	return &Supervisor{logDir: logDir, pidDir: pidDir, firstPause: firstPause, keepers: map[string]*keeper{}}
}

// Start starts a process and waits until it is healthy; one that runs already
// by that name is left as it is, and one that waits for its next try is tried
// at once. Afterwards it is kept running, if its Spec asks for that, until
// Stop.
func (s *Supervisor) Start(ctx context.Context, spec Spec) error {
	spec.LogDir = s.logDir
	spec.PIDFile = filepath.Join(s.pidDir, spec.Name+".json")
	k, started, err := s.keeper(spec)
	if err != nil {
		return err
	}
	if !started {
		return k.awaitRunning(ctx)
	}
	select {
	case err := <-k.first:
		if err != nil {
			<-k.done // so that a retry finds it given up
		}
		return err
	case <-ctx.Done():
		k.cancel()
		<-k.done
		return fmt.Errorf("start %s: %w", spec.Name, ctx.Err())
	}
}

// keeper returns the keeper of a process, a new one unless it is kept already.
func (s *Supervisor) keeper(spec Spec) (_ *keeper, started bool, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keepers == nil {
		return nil, false, fmt.Errorf("start %s: the lab is shutting down", spec.Name)
	}
	if k := s.keepers[spec.Name]; k != nil && k.kept() {
		return k, false, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	k := &keeper{spec: spec, pause: s.firstPause, cancel: cancel, hurry: make(chan struct{}, 1), first: make(chan error, 1), done: make(chan struct{})}
	k.set(Starting, 0, "")
	s.keepers[spec.Name] = k
	go k.keep(ctx)
	return k, true, nil
}

// Stop ends processes, one after the other in the order given, and forgets
// them. Unknown names are no error.
func (s *Supervisor) Stop(names ...string) {
	for _, name := range names {
		s.mu.Lock()
		k := s.keepers[name]
		delete(s.keepers, name)
		s.mu.Unlock()
		if k != nil {
			k.cancel()
			<-k.done
		}
	}
}

// Close ends all processes at once and refuses new ones.
func (s *Supervisor) Close() {
	s.mu.Lock()
	keepers := s.keepers
	s.keepers = nil
	s.mu.Unlock()
	for _, k := range keepers {
		k.cancel()
	}
	for _, k := range keepers {
		<-k.done
	}
}

// Keeps says whether a process is being kept: it runs, or will be tried again.
func (s *Supervisor) Keeps(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.keepers[name]
	return k != nil && k.kept()
}

// List returns the status of every process, by name.
func (s *Supervisor) List() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Status, 0, len(s.keepers))
	for _, k := range s.keepers {
		list = append(list, k.snapshot())
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// keeper keeps one process running.
type keeper struct {
	spec   Spec
	pause  time.Duration
	cancel context.CancelFunc
	hurry  chan struct{} // cuts a pause between two tries short
	first  chan error    // the outcome of the first start
	done   chan struct{} // closed when the keeper has ended

	mu     sync.Mutex
	status Status
}

// keep starts the process, and again when it dies, until ctx ends or it is
// given up.
func (k *keeper) keep(ctx context.Context) {
	defer close(k.done)
	for failures := 0; ; {
		began := time.Now()
		healthy, err := k.once(ctx)
		switch {
		case ctx.Err() != nil:
			k.set(Stopped, 0, "")
			return
		case !healthy && k.firstTry() || !k.spec.Restart:
			k.set(Failed, 0, err.Error())
			return
		}
		if failures++; healthy && time.Since(began) > steadyAfter {
			failures = 1
		}
		if failures > maxFailures {
			k.set(Failed, 0, fmt.Sprintf("given up after %d failures in a row: %v", failures, err))
			return
		}
		k.set(Restarting, 0, err.Error())
		k.await(ctx, min(k.pause<<(failures-1), longestWait))
	}
}

// await is the pause before the next try.
func (k *keeper) await(ctx context.Context, pause time.Duration) {
	over := time.NewTimer(pause)
	defer over.Stop()
	select {
	case <-ctx.Done():
	case <-k.hurry:
	case <-over.C:
	}
	k.countRestart()
}

// awaitRunning waits until a process that is kept runs again, without its
// pause, or is given up.
func (k *keeper) awaitRunning(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		switch s := k.snapshot(); s.State {
		case Running:
			return nil
		case Failed, Stopped:
			return fmt.Errorf("start %s: %s", s.Name, cmp.Or(s.Detail, "it was stopped"))
		case Restarting:
			select {
			case k.hurry <- struct{}{}:
			default:
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("start %s: %w", k.spec.Name, ctx.Err())
		case <-tick.C:
		}
	}
}

// firstTry says whether the process has not been tried again yet.
func (k *keeper) firstTry() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.status.Restarts == 0
}

// once runs the process from start to end. healthy says that it got as far as
// being usable.
func (k *keeper) once(ctx context.Context) (healthy bool, _ error) {
	k.set(Starting, 0, k.snapshot().Detail)
	p, err := Start(ctx, k.spec)
	if err != nil {
		k.report(err)
		return false, err
	}
	k.set(Running, p.PID(), k.snapshot().Detail)
	k.report(nil)
	select {
	case <-ctx.Done():
		p.Stop()
		return true, ctx.Err()
	case <-p.Done():
		return true, errors.New(p.Err().Error() + logExcerpt(k.spec.LogFile()))
	}
}

// report gives the outcome to the caller of Supervisor.Start; later outcomes
// appear only in the status.
func (k *keeper) report(err error) {
	select {
	case k.first <- err:
	default:
	}
}

func (k *keeper) set(state State, pid int, detail string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.status.Name, k.status.State, k.status.PID = k.spec.Name, state, pid
	k.status.Since, k.status.Detail = time.Now(), detail
}

func (k *keeper) countRestart() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.status.Restarts++
}

func (k *keeper) snapshot() Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.status
}

func (k *keeper) kept() bool {
	select {
	case <-k.done:
		return false
	default:
		return true
	}
}
