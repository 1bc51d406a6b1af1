package pulumicli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"

	"tombolo/automation/fault"
	"tombolo/automation/process"
	"tombolo/internal/debuglog"
)

// binary is the program of the Pulumi CLI. The SDK's own implementation searches this
// process's PATH, and kills the CLI ten seconds after an interruption, which
// leaves a lock and pending operations whenever a cloud call takes longer.
type binary struct {
	path     string
	version  semver.Version
	children *children
	bounds   []bound
}

// Program returns the CLI, which is looked up once.
func (p *CLI) Program(ctx context.Context) (auto.PulumiCommand, error) {
	p.commandOnce.Do(func() {
		if p.command == nil {
			p.command, p.commandErr = p.look(ctx)
		}
	})
	return p.command, p.commandErr
}

func (p *CLI) look(ctx context.Context) (auto.PulumiCommand, error) {
	remedy := fmt.Sprintf("install Pulumi %s or newer, or run `make tools` where a Makefile has it, and put .tools/bin into PATH", sdk.Version)
	path, err := LookPath("pulumi", p.Getenv("PATH"))
	if err != nil {
		return nil, &fault.Error{What: "the Pulumi CLI is not in PATH", Remedy: remedy, Err: err}
	}
	if err := p.prepareWorkDir(); err != nil {
		return nil, err
	}
	c := &binary{path: path, children: p.children, bounds: bounds}
	told, err := p.tellVersion(ctx, c)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("look for the Pulumi CLI: interrupted: %w", ctx.Err())
	}
	if err != nil {
		what := fmt.Sprintf("%s does not run: %s", path, FirstLine(err.Error()))
		return nil, &fault.Error{What: what, Remedy: remedy, Err: err}
	}
	if c.version, err = semver.ParseTolerant(told); err != nil {
		what := fmt.Sprintf("%s reports version %q", path, told)
		return nil, &fault.Error{What: what, Remedy: remedy, Err: err}
	}
	if c.version.Major != sdk.Version.Major || c.version.LT(sdk.Version) {
		what := fmt.Sprintf("%s is version %s, and %s or newer of the same major version is needed",
			path, c.version, sdk.Version)
		return nil, &fault.Error{What: what, Remedy: remedy}
	}
	return c, nil
}

// LookPath searches a PATH that need not be this process's own.
func LookPath(name, path string) (string, error) {
	for _, dir := range filepath.SplitList(process.FixedPath(path)) {
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

// Version of the CLI.
func (c *binary) Version() semver.Version { return c.version }

// Run runs the CLI to its end, or interrupts it as children.end says when ctx
// is cancelled, or when it takes longer than it may.
func (c *binary) Run(ctx context.Context, dir string, stdin io.Reader,
	outs, errs []io.Writer, env []string, args ...string,
) (string, string, int, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(c.path, nonInteractive(args)...)
	cmd.Dir, cmd.Stdin = dir, stdin
	cmd.Env = append(append(os.Environ(), env...), "PULUMI_AUTOMATION_API=true")
	cmd.Stdout = io.MultiWriter(append(slices.Clone(outs), &stdout)...)
	cmd.Stderr = io.MultiWriter(append(slices.Clone(errs), &stderr)...)
	// Ctrl-C in a terminal goes to the whole foreground group: without a
	// group of its own the CLI would get it twice and terminate at once.
	ownProcessGroup(cmd)
	// A plugin that outlives the CLI keeps the pipes open.
	cmd.WaitDelay = terminateGrace
	most := c.longest(args)
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	end := debuglog.Process(ctx, c.path, args...)
	err := c.children.run(bounded, cmd)
	code := -1
	if cmd.ProcessState != nil {
		code = cmd.ProcessState.ExitCode()
	}
	if bounded.Err() != nil && ctx.Err() == nil && err != nil {
		stderr.WriteString(hung(args, most))
	}
	end(err, slog.Int("code", code))
	return stdout.String(), stderr.String(), code, err
}

// nonInteractive makes the CLI fail where it would otherwise wait for an answer.
func nonInteractive(args []string) []string {
	if slices.Contains(args, "--non-interactive") {
		return args
	}
	return append([]string{"--non-interactive"}, args...)
}

// Environ turns a map into the form that processes take, in a fixed order.
func Environ(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for _, k := range slices.Sorted(maps.Keys(env)) {
		out = append(out, k+"="+env[k])
	}
	return out
}

// FirstLine is the first line of the first text that has one.
func FirstLine(candidates ...string) string {
	for _, c := range candidates {
		if line, _, _ := strings.Cut(strings.TrimSpace(c), "\n"); line != "" {
			return line
		}
	}
	return "no message"
}
