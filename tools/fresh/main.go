// Command fresh does what the README promises as a machine does that has never
// seen this project: it clones a commit into an empty directory, with an empty
// home and no caches, and runs the README's commands and the linter there.
//
//	go run ./tools/fresh [-commit HEAD] [-all] [-table docs/guide/lab.md]
//
// It ends with what each step took, and writes that into the page with the table. When a step
// fails, the directory is kept and the page stays as it was.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "✗", err)
		os.Exit(1)
	}
}

// step is a command that must end well.
type step struct {
	name    string
	command []string
}

// steps are what is run, in this order. The demo runs twice, and the second time
// there is nothing to change; plain pulumi agrees, from source alone. Then it runs from an
// empty lab with all that is built. all has the long tests run too.
func steps(all bool) []step {
	const plain = `eval "$(go run ./cmd/tombolo lab env)" && rm -f bin/program && ` +
		`pulumi preview --stack demo-core --non-interactive --expect-no-changes`
	tests := []step{{"make test", []string{"make", "test"}}}
	if all {
		tests = append(tests, step{"make test-all, of which make test was a part", []string{"make", "test-all"}})
	}
	// To open /dev/stderr by its name would empty the file that a caller keeps it in.
	const clean = `left="$(git status --porcelain)"; test -z "$left" || { printf '%s\n' "$left" >&2; exit 1; }`
	return slices.Concat([]step{
		{"make demo", []string{"make", "demo"}},
		{"make demo, again", []string{"make", "demo"}},
		{"nothing left to change", []string{"bin/tombolo", "preview", "demo", "--lab", "--exit-code"}},
		{"go run ./cmd/tombolo", []string{"sh", "-euc", `eval "$(make env)" && go run ./cmd/tombolo status --lab`}},
		{"plain pulumi", []string{"sh", "-euc", `eval "$(make env)" && ` + plain}},
		{"make demo-down", []string{"make", "demo-down"}},
		{"make demo, all built", []string{"make", "demo"}},
		{"make demo-down, again", []string{"make", "demo-down"}},
	}, tests, []step{
		{"make lint", []string{"make", "lint"}},
		{"no file left behind", []string{"sh", "-euc", clean}},
	})
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("fresh", flag.ContinueOnError)
	commit := flags.String("commit", "HEAD", "the commit to clone")
	long := flags.Bool("all", false, "run the long tests too")
	page := flags.String("table", "", "the page to write the table into")
	if err := flags.Parse(args); err != nil {
		return err
	}
	id, err := output(ctx, "git", "rev-parse", "--verify", *commit+"^{commit}")
	if err != nil {
		return fmt.Errorf("finding the commit %s: %w", *commit, err)
	}
	dir, err := os.MkdirTemp("", "tombolo-fresh-")
	if err != nil {
		return err
	}
	env, err := environment(ctx, os.Environ(), filepath.Join(dir, "home"))
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	checkout := filepath.Join(dir, "tombolo")
	if err := clone(ctx, id, checkout, env); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	fmt.Fprintf(stderr, "► commit %s in %s, with an empty home\n", id, dir)
	taken, err := all(ctx, steps(*long), checkout, env, stdout, stderr)
	table(stdout, id, taken)
	if err != nil {
		return fmt.Errorf("%w; what it did is in %s", err, dir)
	}
	if *page != "" {
		err = writeTable(*page, id, taken)
	}
	return errors.Join(err, remove(ctx, dir, checkout, env))
}

// clone makes a checkout of one commit, as from afar: no file is shared.
func clone(ctx context.Context, id, checkout string, env []string) error {
	for _, args := range [][]string{
		{"clone", "--quiet", "--no-local", "--no-checkout", ".", checkout},
		{"-C", checkout, "-c", "advice.detachedHead=false", "checkout", "--quiet", id},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cloning %s: %w\n%s", id, err, out)
		}
	}
	return nil
}

// taking is what a step has taken.
type taking struct {
	name      string
	wall, cpu time.Duration
	failed    bool
}

// all runs the steps until one fails.
func all(ctx context.Context, steps []step, dir string, env []string, stdout, stderr io.Writer) ([]taking, error) {
	var done []taking
	for _, s := range steps {
		fmt.Fprintf(stderr, "► %s\n", s.name)
		cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
		if strings.Contains(s.command[0], "/") {
			cmd = exec.CommandContext(ctx, filepath.Join(dir, s.command[0]), s.command[1:]...)
		}
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, stdout, stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = time.Minute
		begun := time.Now()
		err := cmd.Run()
		t := taking{name: s.name, wall: time.Since(begun), failed: err != nil}
		if state := cmd.ProcessState; state != nil {
			t.cpu = state.UserTime() + state.SystemTime()
		}
		done = append(done, t)
		if err != nil {
			return done, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return done, nil
}

// table shows what each step took. The CPU time is that of the commands and what
// they waited for; the lab's own processes outlive a command.
func table(out io.Writer, id string, taken []taking) {
	fmt.Fprintf(out, "\ncommit %s, %s, %d processors, nothing cached\n\n", id, runtime.Version(), runtime.NumCPU())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STEP\tTIME\tCPU\t")
	var wall, cpu time.Duration
	for _, t := range taken {
		state := ""
		if t.failed {
			state = "failed"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.name, t.wall.Round(time.Second), t.cpu.Round(time.Second), state)
		wall, cpu = wall+t.wall, cpu+t.cpu
	}
	fmt.Fprintf(w, "in all\t%s\t%s\t\n", wall.Round(time.Second), cpu.Round(time.Second))
	_ = w.Flush()
}

// remove removes everything. The files of Go's module cache are read-only.
func remove(ctx context.Context, dir, checkout string, env []string) error {
	clean := exec.CommandContext(ctx, "go", "clean", "-modcache")
	clean.Dir, clean.Env = checkout, env
	if out, err := clean.CombinedOutput(); err != nil {
		return fmt.Errorf("removing the module cache in %s: %w\n%s", dir, err, out)
	}
	return os.RemoveAll(dir)
}

// output is what a command prints.
func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	return strings.TrimSpace(string(out)), err
}
