// Package gitcmd starts git so that a repository cannot have it run programs: no hooks,
// no fsmonitor, no external diff, no filter that the repository's own settings name.
package gitcmd

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"tombolo/automation/process"
	"tombolo/internal/debuglog"
)

// Git starts git in a directory. The zero value with Dir set is of use.
type Git struct {
	// Dir is where git runs.
	Dir string
	// Env is the whole environment. Default: this process's own.
	Env []string
	// off are more settings, as name=value, that Repository found.
	off []string
}

// elsewhere are the variables by which a hook or a worktree's command points git to
// another repository, and those that have it run a program.
var elsewhere = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_QUARANTINE_PATH", "GIT_EXTERNAL_DIFF",
}

// Environment is an environment without what would lead git to another repository or
// to a program, and without questions to a terminal. Directories of PATH that depend
// on the current one are left out.
func Environment(own []string) []string {
	var env []string
	for _, kv := range own {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case slices.Contains(elsewhere, name):
		case name == "PATH":
			env = append(env, "PATH="+process.FixedPath(value))
		default:
			env = append(env, kv)
		}
	}
	return append(env, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}

// Command is git with the arguments. It is nothing that the caller has to set but
// what it writes to.
func (g Git) Command(ctx context.Context, args ...string) *exec.Cmd {
	var all []string
	for _, setting := range append([]string{"core.fsmonitor=false", "core.hooksPath=" + os.DevNull}, g.off...) {
		all = append(all, "-c", setting)
	}
	slog.DebugContext(ctx, "process is made", "command", debuglog.Command("git", args...))
	// os/exec refuses a git that only a relative entry of PATH has.
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Dir, cmd.Env = g.Dir, g.Env
	if cmd.Env == nil {
		cmd.Env = Environment(os.Environ())
	}
	return cmd
}

// runs are the settings by which git runs a program while it reads: see git-config(1)
// and gitattributes(5). Names of sections and keys are lower case in git's list.
var runs = regexp.MustCompile(`^(core\.(fsmonitor|hookspath|sshcommand|gitproxy|pager|editor|askpass|alternaterefscommand)` +
	`|credential\..*helper|credential\.helper|diff\.external|diff\..*\.(command|textconv)|filter\..*\.(clean|smudge|process|required)` +
	`|gpg\.program|gpg\..*\.program|merge\..*\.driver|pager\..*|remote\..*\.(uploadpack|receivepack|vcs))$`)

// Repository is g for a repository that exists: what its own settings have git run is
// turned off. Those of the user and the machine stay.
func (g Git) Repository(ctx context.Context) (Git, error) {
	out, err := g.Command(ctx, "config", "--list", "--show-scope", "--includes", "--name-only", "-z").Output()
	if err != nil {
		return g, fmt.Errorf("list the settings of the repository in %s: %w", g.Dir, err)
	}
	g.off = nil
	fields := strings.Split(string(out), "\x00")
	for pair := range slices.Chunk(fields, 2) {
		if len(pair) < 2 || pair[0] != "local" && pair[0] != "worktree" || !runs.MatchString(pair[1]) {
			continue
		}
		value := ""
		if strings.HasSuffix(pair[1], ".required") || pair[1] == "core.fsmonitor" {
			value = "false"
		}
		if pair[1] == "core.hookspath" {
			value = os.DevNull
		}
		g.off = append(g.off, pair[1]+"="+value)
	}
	return g, nil
}
