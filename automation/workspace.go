package automation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/fault"
	"tombolo/config"
	"tombolo/stacks"
)

// project is the Pulumi.yaml of a working directory apart from the project's
// own: the same project name, so that the same stacks, and settings beside it.
const project = `name: ` + stacks.Project + `
runtime: go
description: A cluster from nothing to GitOps, in two stacks, core and bootstrap
stackConfigDir: ` + stackConfigDir + `
`

// stackConfigDir holds the stacks' settings, Pulumi.<stack>.yaml.
const stackConfigDir = "clusters"

// session is one stack, opened for operations.
type session struct {
	driver  *Driver
	cluster *config.Cluster
	kind    stacks.Kind
	name    string
	stack   auto.Stack
	command *answering
	// observer is the driver's, or one that stands before it.
	observer Observer
	// onDifference, if not nil, is called when the engine is about to do
	// something else than to leave a resource as it is.
	onDifference func()
	// programErr is what the program itself returned, which the engine
	// reports only as text.
	programErr error
}

// open opens a stack, and creates it if it does not exist. exists spares the
// CLI a call when the caller knows that it does.
func (d *Driver) open(ctx context.Context, c *config.Cluster, k stacks.Kind, o stacks.Options, exists bool) (*session, error) {
	return d.openAt(ctx, d.home(), c, k, o, exists)
}

// openAt is open for a stack in another place than the driver's own.
func (d *Driver) openAt(ctx context.Context, at place, c *config.Cluster, k stacks.Kind, o stacks.Options, exists bool) (*session, error) {
	o.Env = d.opts.Env
	program, err := d.program(c, k, o)
	if err != nil {
		return nil, fmt.Errorf("program of stack %s: %w", stacks.Name(c.Name, k), err)
	}
	s := &session{driver: d, cluster: c, kind: k, name: stacks.Name(c.Name, k), observer: d.opts.Observer}
	command, err := d.pulumi(ctx)
	if err != nil {
		return nil, err
	}
	s.command = &answering{PulumiCommand: command, exists: exists}
	ws, err := d.workspace(ctx, at, s.command, s.watched(program))
	if err != nil {
		return nil, err
	}
	d.selecting.Lock()
	defer d.selecting.Unlock()
	d.installPlugins(ctx)
	if s.stack, err = s.inBackend(ctx, ws, exists); err != nil {
		return nil, d.failure(ctx, failed{stack: s.name, operation: "open", err: err})
	}
	return s, nil
}

// inBackend makes the stack, or selects it. Who says that it does not exist may
// have looked before somebody else made it.
func (s *session) inBackend(ctx context.Context, ws auto.Workspace, exists bool) (auto.Stack, error) {
	if exists {
		return auto.SelectStack(ctx, s.name, ws)
	}
	stack, err := auto.NewStack(ctx, s.name, ws)
	if auto.IsCreateStack409Error(err) {
		return auto.SelectStack(ctx, s.name, ws)
	}
	if err == nil {
		err = s.driver.backend.EndCopies(s.name)
	}
	return stack, err
}

// setEnv adds to the environment of the operations to come.
func (s *session) setEnv(env map[string]string) {
	for name, value := range env {
		s.stack.Workspace().SetEnvVar(name, value)
	}
}

// watched keeps the program's own error.
func (s *session) watched(program pulumi.RunFunc) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		s.programErr = program(ctx)
		return s.programErr
	}
}

// reading is a workspace for looking at stacks, without a program.
func (d *Driver) reading(ctx context.Context) (auto.Workspace, error) {
	command, err := d.pulumi(ctx)
	if err != nil {
		return nil, err
	}
	return d.workspace(ctx, d.home(), sealed{command}, nil)
}

// asking asks the CLI for the backend.
type asking struct{ driver *Driver }

// LoggedIn is the URL of the backend that the CLI uses.
func (a asking) LoggedIn(ctx context.Context) (string, error) {
	ws, err := a.driver.reading(ctx)
	if err != nil {
		return "", err
	}
	who, err := ws.WhoAmIDetails(ctx)
	if err != nil {
		return "", a.driver.failure(ctx, failed{stack: "the stacks", operation: "find the backend of", err: err})
	}
	return who.URL, nil
}

// Stacks lists the stacks of the backend.
func (a asking) Stacks(ctx context.Context) ([]auto.StackSummary, error) {
	ws, err := a.driver.reading(ctx)
	if err != nil {
		return nil, err
	}
	all, err := ws.ListStacks(ctx)
	if err != nil {
		return nil, a.driver.failure(ctx, failed{stack: "the stacks", operation: "list", err: err})
	}
	return all, nil
}

// Export returns the state of a stack, and whether the stack exists.
func (a asking) Export(ctx context.Context, stack string) (raw apitype.UntypedDeployment, found bool, err error) {
	ws, err := a.driver.reading(ctx)
	if err != nil {
		return raw, false, err
	}
	raw, err = ws.ExportStack(ctx, stack)
	if auto.IsSelectStack404Error(err) {
		return raw, false, nil
	}
	if err != nil {
		return raw, false, a.driver.failure(ctx, failed{stack: stack, operation: "read the state of", err: err})
	}
	return raw, true, nil
}

// Manage runs the CLI outside the SDK, and returns what it wrote about errors.
func (a asking) Manage(ctx context.Context, stack, operation string, args ...string) (string, error) {
	ws, err := a.driver.reading(ctx)
	if err != nil {
		return "", err
	}
	_, stderr, _, err := ws.PulumiCommand().Run(ctx, ws.WorkDir(), nil, nil, nil, environ(a.driver.env), args...)
	if err != nil {
		err = a.driver.failure(ctx, failed{stack: stack, operation: operation, err: errors.New(stderr)})
	}
	return stderr, err
}

// place is where the CLI runs, and with what.
type place struct {
	// dir is its working directory.
	dir string
	// env is added to this process's environment; it names the backend.
	env map[string]string
	// secrets is what encrypts the secrets of new stacks.
	secrets string
}

// home is the driver's own place.
func (d *Driver) home() place {
	return place{dir: d.opts.WorkDir, env: d.env, secrets: d.opts.SecretsProvider}
}

// workspace is a workspace for one operation; each has its own.
func (d *Driver) workspace(ctx context.Context, at place, command auto.PulumiCommand, program pulumi.RunFunc) (auto.Workspace, error) {
	if err := d.prepareWorkDir(); err != nil {
		return nil, err
	}
	opts := []auto.LocalWorkspaceOption{
		auto.WorkDir(at.dir),
		auto.Pulumi(command),
		auto.EnvVars(at.env),
		auto.PulumiHome(d.opts.PulumiHome),
		auto.SecretsProvider(at.secrets),
	}
	if program != nil {
		opts = append(opts, auto.Program(program))
	}
	ws, err := auto.NewLocalWorkspace(ctx, opts...)
	if err != nil {
		return nil, fmt.Errorf("open Pulumi workspace in %s: %w", at.dir, err)
	}
	return ws, nil
}

// prepareWorkDir writes the Pulumi.yaml of a working directory apart from the
// project's own, and checks that the project's own is there.
func (d *Driver) prepareWorkDir() error {
	file := filepath.Join(d.opts.WorkDir, "Pulumi.yaml")
	if d.opts.WorkDir == d.opts.Root {
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			return &fault.Precondition{
				What:   fmt.Sprintf("%s has no Pulumi.yaml", d.opts.Root),
				Remedy: "run tombolo in the project's directory",
				Err:    err,
			}
		}
		return nil
	}
	d.selecting.Lock()
	defer d.selecting.Unlock()
	if err := os.MkdirAll(filepath.Join(d.opts.WorkDir, stackConfigDir), 0o755); err != nil {
		return fmt.Errorf("make working directory: %w", err)
	}
	if have, err := os.ReadFile(file); err == nil && bytes.Equal(have, []byte(project)) {
		return nil
	}
	if err := os.WriteFile(file, []byte(project), 0o644); err != nil {
		return fmt.Errorf("write project file: %w", err)
	}
	return nil
}

// answering answers what the SDK asks around every operation and what is
// known already, so that no process is started for it: 0.2 to 0.4 s each.
type answering struct {
	auto.PulumiCommand
	// exists says that the stack is known to exist, so that selecting it,
	// which changes nothing for commands that name their stack, is needless.
	exists bool
	// asksOutputs passes `stack output` on, where the engine's events have not
	// told the outputs; outputs is the answer, with secrets masked.
	asksOutputs bool
	outputs     string
	// states has a preview write the states of all resources, as they are and
	// as they would be, for which the SDK has no option.
	states bool
	// preserveConfig keeps a stack's settings file when the stack is removed,
	// for which the SDK has no option.
	preserveConfig bool
	// killed says that a signal ended the last call, so that it did not tidy
	// up.
	killed bool
}

// Run answers `stack select`, `stack history` and `stack output`, and passes on
// everything else. Secrets among outputs stay masked: a result never needs them.
func (a *answering) Run(ctx context.Context, dir string, stdin io.Reader,
	outs, errs []io.Writer, env []string, args ...string,
) (string, string, int, error) {
	switch {
	case a.exists && hasPrefix(args, "stack", "select"):
		return "", "", 0, nil
	case hasPrefix(args, "stack", "history"):
		return "[]", "", 0, nil
	case hasPrefix(args, "stack", "output") && !a.asksOutputs:
		return "{}", "", 0, nil
	case hasPrefix(args, "stack", "output") && slices.Contains(args, "--show-secrets"):
		return a.outputs, "", 0, nil
	case a.states && hasPrefix(args, "preview"):
		args = append(slices.Clone(args), "--json", "--show-sames")
	case a.preserveConfig && hasPrefix(args, "stack", "rm"):
		args = append(slices.Clone(args), "--preserve-config")
	}
	stdout, stderr, code, err := a.PulumiCommand.Run(ctx, dir, stdin, outs, errs, env, args...)
	a.killed = err != nil && code < 0
	if hasPrefix(args, "stack", "output") {
		a.outputs = stdout
	}
	return stdout, stderr, code, err
}

func hasPrefix(args []string, words ...string) bool {
	return len(args) >= len(words) && slices.Equal(args[:len(words)], words)
}

// sealed leaves secrets encrypted when the SDK exports a stack: nobody here
// needs them, and they must not reach a temporary file on their way back.
type sealed struct{ auto.PulumiCommand }

// Run runs the CLI, without --show-secrets for an export.
func (c sealed) Run(ctx context.Context, dir string, stdin io.Reader,
	outs, errs []io.Writer, env []string, args ...string,
) (string, string, int, error) {
	if hasPrefix(args, "stack", "export") {
		args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--show-secrets" })
	}
	return c.PulumiCommand.Run(ctx, dir, stdin, outs, errs, env, args...)
}
