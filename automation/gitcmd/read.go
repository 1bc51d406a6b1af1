package gitcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tombolo/automation/fault"
)

// readTimeout bounds each call of git: it reads the local repository only.
const readTimeout = 2 * time.Minute

// Open is git for reading the repository that a directory is in. It takes no lock, and
// sees commits as they were made: see git(1) for the variables. A directory in no
// repository is a *Refusal.
func Open(ctx context.Context, dir string) (Git, error) {
	env := append(Environment(os.Environ()), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1")
	top, err := Git{Dir: dir, Env: env}.Read(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return Git{}, err
	}
	return Git{Dir: filepath.FromSlash(strings.TrimSuffix(top, "\n")), Env: env}.Repository(ctx)
}

// Read runs git, and returns what it wrote. Where git itself says no, the error is a
// *Refusal.
func (g Git) Read(ctx context.Context, args ...string) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	cmd := g.Command(bounded, args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case err == nil:
		return stdout.String(), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("git %s: %w", args[0], ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return "", &fault.Error{What: "git is not in PATH", Remedy: "install git", Err: err}
	case bounded.Err() != nil:
		return "", &fault.Error{What: fmt.Sprintf("git %s did not end within %s", args[0], readTimeout), Err: bounded.Err()}
	}
	return "", &Refusal{command: args[0], says: strings.TrimSpace(stderr.String()), err: err}
}

// Refusal is a call of git that ended with an error of git's own.
type Refusal struct {
	command, says string
	err           error
}

func (e *Refusal) Error() string {
	says, _, _ := strings.Cut(e.says, "\n")
	return fmt.Sprintf("git %s: %s", e.command, cmp.Or(says, e.err.Error()))
}

// Unwrap returns how the process ended.
func (e *Refusal) Unwrap() error { return e.err }
