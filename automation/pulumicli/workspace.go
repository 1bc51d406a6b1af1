package pulumicli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/fault"
	"tombolo/internal/file"
	"tombolo/stacks"
)

// project is the Pulumi.yaml of the directory that the CLI runs in: the project's name,
// so that the stacks are the same, and nothing that the CLI would load or run. The
// project's own file may name plugins, hooks and a program.
const project = `name: ` + stacks.Project + `
runtime: go
description: A cluster from nothing to GitOps, in two stacks, core and bootstrap
stackConfigDir: ` + stackConfigDir + `
`

// stackConfigDir holds the stacks' settings, Pulumi.<stack>.yaml.
const stackConfigDir = "clusters"

// Reading is a workspace for looking at stacks, without a program.
func (p *CLI) Reading(ctx context.Context) (auto.Workspace, error) {
	command, err := p.Program(ctx)
	if err != nil {
		return nil, err
	}
	return p.workspace(ctx, p.Place(), sealed{command}, nil)
}

// Place is where the CLI runs, and with what.
type Place struct {
	// dir is its working directory.
	dir string
	// env is added to this process's environment; it names the backend.
	env map[string]string
	// secrets is what encrypts the secrets of new stacks.
	secrets string
	// plugins are the providers that programs use there, by their names; none for all.
	plugins []string
	// settingsDir has the stacks' settings; "" for stackConfigDir below dir.
	settingsDir string
	// ownPlugins says that the engine installs what the program uses: it is none of this module's.
	ownPlugins bool
}

// Using is the place for a program that uses these providers.
func (at Place) Using(plugins []string) Place {
	at.plugins = plugins
	return at
}

// Place is where the CLI runs as a rule.
func (p *CLI) Place() Place {
	return Place{dir: p.WorkDir, env: p.Env, secrets: p.Secrets}
}

// workspace is a workspace for one operation; each has its own.
func (p *CLI) workspace(ctx context.Context, at Place, command auto.PulumiCommand, program pulumi.RunFunc) (auto.Workspace, error) {
	if err := p.prepareWorkDir(); err != nil {
		return nil, err
	}
	opts := []auto.LocalWorkspaceOption{
		auto.WorkDir(at.dir),
		auto.Pulumi(command),
		auto.EnvVars(at.env),
		auto.PulumiHome(p.Home),
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

// prepareWorkDir writes the project file of the directory that the CLI runs in, and
// has it see the settings of the stacks.
func (p *CLI) prepareWorkDir() error {
	p.selecting.Lock()
	defer p.selecting.Unlock()
	if err := p.placeSettings(filepath.Join(p.WorkDir, stackConfigDir)); err != nil {
		return err
	}
	path := filepath.Join(p.WorkDir, "Pulumi.yaml")
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, []byte(project)) {
		return nil
	}
	if err := file.Replace(path, []byte(project), 0o644); err != nil {
		return fmt.Errorf("write project file: %w", err)
	}
	return nil
}

// placeSettings makes the directory of the stacks' settings, or a link to that of the
// project. Another run may do the same.
func (p *CLI) placeSettings(at string) error {
	if p.Settings == "" {
		if err := os.MkdirAll(at, 0o755); err != nil {
			return fmt.Errorf("make working directory: %w", err)
		}
		return nil
	}
	if _, err := os.Stat(filepath.Join(p.Settings, "Pulumi.yaml")); errors.Is(err, fs.ErrNotExist) {
		return &fault.Error{
			What:   fmt.Sprintf("%s has no Pulumi.yaml", p.Settings),
			Remedy: "run tombolo in the project's directory",
			Err:    err,
		}
	}
	if err := os.MkdirAll(p.WorkDir, 0o700); err != nil {
		return fmt.Errorf("make working directory: %w", err)
	}
	target := filepath.Join(p.Settings, stackConfigDir)
	if err := os.Symlink(target, at); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("link the stacks' settings: %w", err)
	}
	if found, err := os.Readlink(at); err != nil || found != target {
		return &fault.Error{
			What: fmt.Sprintf("%s is not the link to %s that was made there", at, target), Remedy: "remove " + p.WorkDir, Err: err,
		}
	}
	return nil
}

// Open opens a stack with a program, and makes it unless it exists: then made is
// called with its name. The answers are given around its operations.
func (p *CLI) Open(ctx context.Context, at Place, stack string, program pulumi.RunFunc, exists bool,
	made func(stack string) error,
) (auto.Stack, *Answers, error) {
	command, err := p.Program(ctx)
	if err != nil {
		return auto.Stack{}, nil, err
	}
	answers := &Answers{PulumiCommand: command, exists: exists}
	ws, err := p.workspace(ctx, at, answers, program)
	if err == nil && !exists {
		err = at.refuseEmptyPassphrase(stack)
	}
	if err != nil {
		return auto.Stack{}, nil, err
	}
	p.selecting.Lock()
	defer p.selecting.Unlock()
	if !at.ownPlugins {
		if err := p.installPlugins(ctx, at.plugins); err != nil {
			return auto.Stack{}, nil, err
		}
	}
	opened, err := inBackend(ctx, ws, stack, exists, made)
	if err != nil {
		return auto.Stack{}, nil, p.Failure(ctx, Failed{Stack: stack, Operation: "open", Err: err})
	}
	return opened, answers, nil
}

// inBackend makes the stack, or selects it. A caller that says that it does not
// exist may have looked before another process made it.
func inBackend(ctx context.Context, ws auto.Workspace, name string, exists bool, made func(stack string) error) (auto.Stack, error) {
	if exists {
		return auto.SelectStack(ctx, name, ws)
	}
	stack, err := auto.NewStack(ctx, name, ws)
	if auto.IsCreateStack409Error(err) {
		return auto.SelectStack(ctx, name, ws)
	}
	if err == nil {
		err = made(name)
	}
	return stack, err
}
