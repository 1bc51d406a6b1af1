package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tombolo/lab/control"
	"tombolo/lab/process"
	"tombolo/lab/tools"
)

// startTimeout is how long the daemon may take to answer.
const startTimeout = 30 * time.Second

// Up starts the lab, or brings back the parts of a running one that died. It
// clears away what a killed lab left behind, and returns when everything that
// was there before is healthy again.
func (l *Lab) Up(ctx context.Context, progress func(Step)) error {
	file, found, err := control.ReadDaemon(l.paths().daemon())
	if err != nil {
		return err
	}
	if found && file.Alive() && file.Protocol != control.Protocol {
		// Its cloud and its clusters stay: they are on disk.
		if err := step(progress, "stop the lab of another tombolo", func() (string, error) { return "", l.stop(ctx) }); err != nil {
			return err
		}
	}
	if !found || !file.Alive() {
		if err := l.startDaemon(ctx, progress); err != nil {
			return err
		}
	}
	err = l.startParts(ctx, progress)
	if !errors.Is(err, ErrNotRunning) {
		return err
	}
	// It was dying when it was looked for.
	if err := l.startDaemon(ctx, progress); err != nil {
		return err
	}
	return l.startParts(ctx, progress)
}

func (l *Lab) startDaemon(ctx context.Context, progress func(Step)) error {
	if err := step(progress, "check the lab's tools", func() (string, error) { return "", l.built().Any() }); err != nil {
		return err
	}
	if err := l.built().EKS(); err != nil {
		progress(Step{Name: "clusters in AWS cannot run in this lab", State: StepNote, Detail: err.Error()})
	}
	if err := l.clear(progress); err != nil {
		return err
	}
	return step(progress, "start the lab", func() (string, error) { return "", l.spawn(ctx) })
}

func (l *Lab) startParts(ctx context.Context, progress func(Step)) error {
	var s Status
	err := step(progress, "start the lab's parts", func() (string, error) {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find this program's file: %w", err)
		}
		if err := errors.Join(l.writeShims(filepath.Dir(self)), l.writeKubelogin(), l.linkPlugins(), withoutPulumiLogs(l.paths().pulumiLogs()), l.daemon().Ask(ctx, http.MethodGet, "/status", nil, nil)); err != nil {
			return "", err
		}
		err = l.daemon().Call(ctx, http.MethodPost, "/heal", nil, &s)
		return fmt.Sprintf("%d processes", len(s.Processes)), err
	})
	for _, note := range s.Notes {
		progress(Step{Name: note, State: StepNote})
	}
	return err
}

// built are the tools of the lab.
func (l *Lab) built() tools.Built { return tools.Of(l.root) }

// step reports the beginning and the end of a piece of work.
func step(progress func(Step), name string, do func() (detail string, err error)) error {
	began := time.Now()
	progress(Step{Name: name, State: StepDoing})
	detail, err := do()
	if err != nil {
		progress(Step{Name: name, State: StepFailed, Elapsed: time.Since(began)})
		return fmt.Errorf("%s: %w", name, err)
	}
	progress(Step{Name: name, State: StepDone, Detail: detail, Elapsed: time.Since(began)})
	return nil
}

// clear ends what a killed daemon left running.
func (l *Lab) clear(progress func(Step)) error {
	ended, err := process.Reap(l.paths().run())
	if err != nil {
		return fmt.Errorf("clear what an earlier lab left: %w", err)
	}
	if len(ended) > 0 {
		progress(Step{Name: "an earlier lab was killed; ended what it left running", State: StepNote, Detail: strings.Join(ended, ", ")})
	}
	return l.forgetDaemon()
}

// spawn starts the daemon in a session of its own and waits until it answers.
func (l *Lab) spawn(ctx context.Context) error {
	self, err := l.keepProgram()
	if err != nil {
		return err
	}
	p := l.paths()
	for _, dir := range []string{p.logs(), p.home(), p.bin(), p.run()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make the lab's directories: %w", err)
		}
	}
	log, err := os.OpenFile(p.daemonLog(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("open the daemon's log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(self, "lab", "serve", "--root", l.root)
	cmd.Dir, cmd.Stdout, cmd.Stderr = l.root, log, log
	// The daemon's program is in the lab, and the tools may be found beside this one.
	cmd.Env = append(os.Environ(), tools.Variable+"="+l.built().Dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	return l.awaitDaemon(ctx, cmd, exited)
}

// awaitDaemon waits for the daemon's answer, its exit and the timeout,
// whichever comes first.
func (l *Lab) awaitDaemon(ctx context.Context, cmd *exec.Cmd, exited <-chan error) error {
	bounded, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	log := l.paths().daemonLog()
	for {
		last := l.daemon().Call(bounded, http.MethodGet, "/status", nil, nil)
		if last == nil {
			return nil
		}
		select {
		case <-exited:
			return fmt.Errorf("the daemon exited with code %d\n  the end of %s:\n%s", cmd.ProcessState.ExitCode(), log, process.Tail(log, 15))
		case <-bounded.Done():
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("wait for the daemon: %w", err)
			}
			return fmt.Errorf("the daemon did not answer in %v (%w)\n  the end of %s:\n%s", startTimeout, last, log, process.Tail(log, 15))
		case <-tick.C:
		}
	}
}
