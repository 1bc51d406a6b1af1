package handover

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"tombolo/automation/fault"
	"tombolo/automation/gitcmd"
	"tombolo/internal/names"
)

const (
	// commandTimeout bounds each call of git. A platform repository is fetched
	// in seconds; a longer wait is for a server that does not answer.
	commandTimeout = 3 * time.Minute
	// commandGrace is how long git gets to end after it was interrupted.
	commandGrace = 5 * time.Second
)

// run runs git in the clone and returns what it wrote, trimmed.
func (g *git) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := gitcmd.Git{Dir: g.tree, Env: g.env}.Command(ctx, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = commandGrace
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case err == nil:
		return strings.TrimSpace(stdout.String()), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", &fault.Error{What: "git is not in PATH", Remedy: "install git", Err: err}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", &fault.Error{What: fmt.Sprintf("git %s did not end within %s", args[0], commandTimeout), Remedy: "check the network and the repository's server", Err: ctx.Err()}
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

// maxLines of what git or a server says are shown.
const maxLines = 4

// lastLines are the last lines with something in them, on one.
func lastLines(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "hint:") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "it says no more"
	}
	return strings.Join(lines[max(0, len(lines)-maxLines):], "; ")
}

// git is a clone, and the environment to run git in.
type git struct {
	url  string
	dir  string // for the clone, and for the keys beside it
	tree string // the clone
	env  []string
	mask *mask
	own  bool // by the user's own credentials
}

func newGit(dir string, r Repository) *git {
	return &git{
		url: r.URL, dir: dir, tree: filepath.Join(dir, "clone"),
		env: environment(os.Environ(), r.Env), mask: newMask(r.Credentials), own: r.Credentials == nil,
	}
}

// environment is the process's own with more over it.
func environment(own []string, more map[string]string) []string {
	env := slices.DeleteFunc(slices.Clone(own), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, over := more[name]
		return over
	})
	for name, value := range more {
		if !strings.HasPrefix(name, "PULUMI_") {
			env = append(env, name+"="+value)
		}
	}
	return append(gitcmd.Environment(env), "GIT_LFS_SKIP_SMUDGE=1")
}

func basic(c Credentials) string {
	return base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + c.Password))
}

// mask hides secrets in what git and servers write.
type mask struct{ secrets []string }

func newMask(c *Credentials) *mask {
	m := &mask{}
	if c == nil {
		return m
	}
	if c.Password != "" {
		m.secrets = append(m.secrets, basic(*c), c.Password, url.QueryEscape(c.Password), url.PathEscape(c.Password))
	}
	for line := range strings.Lines(c.PrivateKey) {
		if line = strings.TrimSpace(line); len(line) > 16 && !strings.HasPrefix(line, "-----") {
			m.secrets = append(m.secrets, line)
		}
	}
	return m
}

// userinfo is what stands before the host of a URL: the user's own settings may
// have put a token there.
var userinfo = regexp.MustCompile(`([a-z+]+://)[^/@\s']+@`)

func (m *mask) hide(text string) string {
	for _, s := range m.secrets {
		text = strings.ReplaceAll(text, s, names.Secret)
	}
	return userinfo.ReplaceAllString(text, "$1")
}
