package handover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// commandTimeout bounds each call of git. A platform repository is fetched
	// in seconds; who waits longer waits for a server that does not answer.
	commandTimeout = 3 * time.Minute
	// commandGrace is how long git gets to end after it was interrupted.
	commandGrace = 5 * time.Second
)

// The author of commits where the user's git has none.
const (
	authorName  = "Tombolo"
	authorEmail = "tombolo@localhost"
)

// git is a clone, and the environment to run git in.
type git struct {
	url  string
	dir  string // for the clone, and for the keys beside it
	tree string // the clone
	env  []string
	mask *mask
}

func newGit(dir string, r Repository) *git {
	return &git{
		url: r.URL, dir: dir, tree: filepath.Join(dir, "clone"),
		env: environment(os.Environ(), r.Env), mask: newMask(r.Credentials),
	}
}

// prepare makes an empty clone with access to the repository.
func (g *git) prepare(ctx context.Context, c *Credentials) error {
	settings := [][2]string{
		// Neither hooks nor templates of the user's are for a clone that is ours.
		{"core.hooksPath", os.DevNull},
		{"init.templateDir", ""},
		{"init.defaultBranch", "main"},
		{"advice.detachedHead", "false"},
		{"core.autocrlf", "false"},
		{"remote.origin.url", g.url},
	}
	if c != nil {
		more, err := g.access(*c)
		if err != nil {
			return fmt.Errorf("prepare access to %s: %w", g.url, err)
		}
		settings = append(settings, more...)
	}
	g.env = withSettings(g.env, settings)
	if err := os.Mkdir(g.tree, 0o700); err != nil {
		return fmt.Errorf("make the clone: %w", err)
	}
	if _, err := g.run(ctx, "init", "--quiet"); err != nil {
		return err
	}
	return g.introduce(ctx)
}

// introduce names an author where the user's settings and environment do not.
func (g *git) introduce(ctx context.Context) error {
	for key, value := range map[string]string{"user.name": authorName, "user.email": authorEmail} {
		if _, err := g.run(ctx, "config", key); err == nil {
			continue
		} else if ctx.Err() != nil {
			return err
		}
		if _, err := g.run(ctx, "config", key, value); err != nil {
			return err
		}
	}
	return nil
}

// heads are the repository's branches.
func (g *git) heads(ctx context.Context) ([]string, error) {
	out, err := g.run(ctx, "ls-remote", "--heads", "origin")
	if err != nil {
		return nil, g.unreachable(err)
	}
	var heads []string
	for line := range strings.Lines(out) {
		if _, ref, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			heads = append(heads, strings.TrimPrefix(ref, "refs/heads/"))
		}
	}
	return heads, nil
}

func (g *git) fetch(ctx context.Context, depth string, branches []string) error {
	args := []string{"fetch", "--quiet", "--no-tags"}
	switch {
	case depth != "":
		args = append(args, depth)
	case g.shallow():
		args = append(args, "--unshallow")
	}
	args = append(args, "origin")
	for _, b := range branches {
		args = append(args, "+refs/heads/"+b+":refs/remotes/origin/"+b)
	}
	if _, err := g.run(ctx, args...); err != nil {
		return g.unreachable(err)
	}
	return nil
}

func (g *git) shallow() bool {
	_, err := os.Stat(filepath.Join(g.tree, ".git", "shallow"))
	return err == nil
}

// tip is the head of a branch that was fetched.
func (g *git) tip(ctx context.Context, branch string) (tip, error) {
	ref := "refs/remotes/origin/" + branch
	out, err := g.run(ctx, "for-each-ref", "--format=%(objectname) %(tree)", ref)
	if err != nil || out == "" {
		return tip{}, err
	}
	commit, tree, _ := strings.Cut(out, " ")
	return tip{commit: commit, tree: tree}, nil
}

// push moves a branch forward to a commit, or makes it.
func (g *git) push(ctx context.Context, commit, branch string) error {
	_, err := g.run(ctx, "push", "--porcelain", "origin", commit+":refs/heads/"+branch)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return g.unpushed(err)
}

// run runs git in the clone and returns what it wrote, trimmed.
func (g *git) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = g.tree, g.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = commandGrace
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case err == nil:
		return strings.TrimSpace(stdout.String()), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", &Error{What: "git is not in PATH", Remedy: "install git", Err: err}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", &Error{What: fmt.Sprintf("git %s did not end within %s", args[0], commandTimeout), Remedy: "check the network and the repository's server", Err: ctx.Err()}
	case ctx.Err() != nil:
		return "", fmt.Errorf("git %s: %w", args[0], ctx.Err())
	}
	return "", &commandError{command: args[0], says: g.mask.hide(stderr.String()), report: g.mask.hide(stdout.String())}
}

// commandError is a call of git that failed.
type commandError struct {
	command string
	says    string // what git wrote for people
	report  string // what it wrote for programs
}

func (e *commandError) Error() string { return fmt.Sprintf("git %s: %s", e.command, lastLines(e.says)) }

// environment is the process's own with more over it, without what would lead
// git away from our clone, and without questions to a terminal.
func environment(own []string, more map[string]string) []string {
	elsewhere := []string{
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_QUARANTINE_PATH",
	}
	var env []string
	for _, kv := range own {
		name, _, _ := strings.Cut(kv, "=")
		if _, over := more[name]; !over && !slices.Contains(elsewhere, name) {
			env = append(env, kv)
		}
	}
	for name, value := range more {
		if !strings.HasPrefix(name, "PULUMI_") {
			env = append(env, name+"="+value)
		}
	}
	return append(env, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "GIT_LFS_SKIP_SMUDGE=1")
}
