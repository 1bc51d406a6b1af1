package labprogram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/lab/control"
)

// endTimeout is how long the program may take to end once it is interrupted.
const endTimeout = 10 * time.Second

// Lab is the lab of a project.
type Lab struct {
	Root string
	// program in place of Find, for tests.
	program string
}

// Enter starts the lab if need be, reports the steps of that, and returns the environment in
// which Pulumi, kubectl and the driver work with the lab instead of the cloud.
func (l Lab) Enter(ctx context.Context, progress func(control.Step)) (map[string]string, error) {
	program := l.program
	if program == "" {
		var err error
		if program, err = Find(ctx); err != nil {
			return nil, err
		}
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "lab", "enter", "--root", l.Root)
	cmd.Stderr = &said
	// An interrupt of the terminal comes by the context, and is told once.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = endTimeout
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("enter the lab: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fault.NewPrecondition("enter the lab", remedy, err)
	}
	env, failed := read(out, progress)
	ended := cmd.Wait()
	switch {
	case failed != nil:
		return nil, failed
	case ctx.Err() != nil:
		return nil, fmt.Errorf("enter the lab: %w", ctx.Err())
	case env == nil || ended != nil:
		return nil, fmt.Errorf("enter the lab: %s ended without an answer (%w): %s", program, ended, strings.TrimSpace(said.String()))
	}
	return env, nil
}

// read reads what the program writes, to its end.
func read(out io.Reader, progress func(control.Step)) (env map[string]string, failed error) {
	for documents := json.NewDecoder(out); ; {
		var e control.Entry
		if err := documents.Decode(&e); errors.Is(err, io.EOF) {
			return env, failed
		} else if err != nil {
			return nil, fmt.Errorf("read what the lab's program says: %w", err)
		}
		switch {
		case e.Step != nil:
			progress(*e.Step)
		case e.Class != "":
			failed = &fault.Error{Class: fault.Class(e.Class), Problem: e.Failed}
		case e.Failed != "":
			failed = errors.New(e.Failed)
		default:
			env = e.Env
		}
	}
}
