package controllers

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tombolo/lab/process"
)

// initTimeout is how long an init container's command may take.
const initTimeout = 30 * time.Second

// initialise runs the init containers of a plan, in the plan's own environment
// on the host, and returns the process to start after them. identity is what
// EKS adds to the environment.
func (w *watch) initialise(ctx context.Context, p plan, dir string, identity []string) (process.Spec, error) {
	before, err := p.family.spec(w.o, p, dir, nil)
	if err != nil {
		return process.Spec{}, err
	}
	for _, init := range p.inits {
		if err := w.complete(ctx, init, before); err != nil {
			return process.Spec{}, fmt.Errorf("initialise %s: %w", p.process, err)
		}
	}
	// An init container may have made what the environment is read from.
	env, err := environment(ctx, w.client, p.namespace, p.onHost(dir))
	if err != nil {
		return process.Spec{}, fmt.Errorf("start %s: %w", p.process, err)
	}
	return p.family.spec(w.o, p, dir, slices.Concat(identity, env))
}

// complete runs a command to its end.
func (w *watch) complete(ctx context.Context, init invocation, in process.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, initTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(w.o.Tools, init.tool), init.args...)
	cmd.Env, cmd.Dir = in.Env, in.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", init.tool, strings.Join(init.args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
