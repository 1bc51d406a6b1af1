package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/backend"
	"tombolo/automation/clouds"
	driverfault "tombolo/automation/fault"
	"tombolo/automation/health"
	"tombolo/automation/pulumicli"
	"tombolo/check"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/commands"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config/strict"
	"tombolo/lab/control"
	"tombolo/stacks/programs"
)

// tombolo is the program with all commands.
var tombolo = Program{Commands: commands.Add}

func testFactory(t *testing.T) (f *factory.Factory, out, errOut *bytes.Buffer) {
	t.Helper()
	c := clitest.At("", render.Text)
	c.Dir, c.Setenv = t.TempDir(), func(string, string) error { return nil }
	c.Programs, c.Clouds, c.CheckTree = programs.All(), clouds.All(), check.Check
	return c.Factory, c.Out, c.ErrOut
}

// testRoot is the command tombolo.
func testRoot(t *testing.T) *cobra.Command {
	t.Helper()
	f, _, _ := testFactory(t)
	return tombolo.newRoot(f, new(bool))
}

func TestClassify(t *testing.T) {
	command := &pulumicli.Error{Stack: "demo-core", Operation: "up", Reasons: []string{"no"}}
	for _, test := range []struct {
		err  error
		want int
	}{
		{errors.New("anything"), 1},
		{fault.NewUsage("a", "b"), 2},
		{strict.Problems{{File: "f"}}, 3},
		{fault.NewPrecondition("a", "b", nil), 4},
		{&driverfault.Error{What: "a"}, 4},
		{fmt.Errorf("up: %w", control.ErrNotRunning), 4},
		{fmt.Errorf("status: %w", control.ErrHangs), 4},
		{command, 5},
		{&driverfault.Error{Class: driverfault.Usage, What: "a"}, 2},
		{&driverfault.Error{Class: driverfault.Deployment, What: "a", Err: command}, 5},
		{&health.Error{Cluster: "demo"}, 6},
		{&fault.Error{Class: fault.Contract, Problem: "no"}, 8},
		{&backend.LockedError{Stack: "demo-core"}, 7},
		{context.Canceled, 130},
		{&fault.Error{Class: fault.Declined, Problem: "no"}, 130},
		{&driverfault.Error{Class: driverfault.Deployment, Err: fmt.Errorf("up: %w", context.Canceled)}, 130},
		{&interruption{errors.New("killed")}, 130},
	} {
		for _, err := range []error{test.err, fmt.Errorf("wrapped: %w", test.err)} {
			assert.Check(t, is.Equal(classify(err).code, test.want))
		}
	}
}

// TestRefused: what the system does not let a command have says what to do, and is no defect of tombolo.
func TestRefused(t *testing.T) {
	at := func(err error) error {
		return fmt.Errorf("read it: %w", &fs.PathError{Op: "open", Path: "/a", Err: err})
	}
	for want, err := range map[string]error{
		"4 read it: open /a: permission denied; run tombolo as the user whose it is, or give this one the right to it": at(syscall.EACCES),
		"4 read it: open /a: read-only file system; mount the file system so that it can be written":                   at(syscall.EROFS),
		"4 read it: open /a: no space left on device; make room on the file system":                                    at(syscall.ENOSPC),
		"1 read it: open /a: is a directory": at(syscall.EISDIR),
		"2 no":                               &fault.Error{Class: fault.Usage, Problem: "no"},
	} {
		got := refused(err)
		assert.Check(t, is.Equal(fmt.Sprint(classify(got).code, " ", got), want))
	}
}

func TestExitCodesAreUnique(t *testing.T) {
	seen := map[int]string{0: "ok"}
	for _, c := range append(exitClasses(), unexpected()) {
		if other, ok := seen[c.code]; ok {
			t.Errorf("%s and %s share the exit code %d", c.name, other, c.code)
		}
		seen[c.code] = c.name
	}
}

// TestInterruptAtAQuestion: nothing runs then, and nothing has to finish.
func TestInterruptAtAQuestion(t *testing.T) {
	f, _, errOut := testFactory(t)
	reader, writer := io.Pipe()
	defer writer.Close()
	f.Streams.In = reader
	signals := make(chan os.Signal, 1)
	code := supervise(f, signals, func(ctx context.Context) int {
		go func() {
			for !f.Streams.Asks() {
				runtime.Gosched()
			}
			signals <- syscall.SIGINT
		}()
		_, err := f.Streams.Ask(ctx, "go on?")
		class := classify(err)
		report(f, class, err)
		return class.code
	})
	assert.Equal(t, code, 130)
	assert.Equal(t, errOut.String(), "go on? \n✗ reading the answer: interrupted; nothing more was done\n")
}

func TestSupervise(t *testing.T) {
	for _, test := range []struct {
		name    string
		signals int
		// obedient commands end when their context does.
		obedient bool
		want     int
		says     []string
	}{
		{"no signal", 0, false, 9, nil},
		{"one signal to a command that only reads", 1, false, 130, []string{"► interrupted: nothing more is started"}},
		{"one signal", 1, true, 9, []string{"► interrupted: nothing more is started, and running operations have 5m0s to finish"}},
		{
			"three signals", 3, false, 130,
			[]string{"► interrupted: nothing more", "► interrupted again: stopping", "► killed: a stack may stay locked"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, _, errOut := testFactory(t)
			signals := make(chan os.Signal, 3)
			for range test.signals {
				signals <- syscall.SIGINT
			}
			code := supervise(f, signals, func(ctx context.Context) int {
				if test.signals > 0 {
					<-ctx.Done()
				}
				if test.signals > 0 && !test.obedient {
					<-t.Context().Done() // hangs
				}
				return 9
			})
			lines := strings.Split(strings.TrimSuffix(errOut.String(), "\n"), "\n")
			if code != test.want || len(lines) != max(1, len(test.says)) {
				t.Errorf("got %d, want %d; it said %q", code, test.want, lines)
			}
			for i, says := range test.says {
				assert.Check(t, strings.HasPrefix(lines[i], says), "line %d is %q, want %q", i+1, lines[i], says)
			}
		})
	}
}

// TestSecondSignal: a CLI that takes its time after the first signal is told
// again, and the command ends by itself.
func TestSecondSignal(t *testing.T) {
	f, _, errOut := testFactory(t)
	write(t, filepath.Join(f.Dir, "Pulumi.yaml"), "name: tombolo\n")
	assert.NilError(t, os.Mkdir(filepath.Join(f.Dir, "clusters"), 0o755))
	signals := hangingCLI(t, syscall.SIGINT, syscall.SIGINT)
	code := supervise(f, signals, func(ctx context.Context) int { return tombolo.run(ctx, f, []string{"list"}) })
	if code != 130 || !strings.Contains(errOut.String(), "► interrupted again: stopping") {
		t.Errorf("got %d: %s", code, errOut)
	}
}

// hangingCLI puts a Pulumi CLI into PATH that ends at its second signal alone. When it has
// started, the signals come.
func hangingCLI(t *testing.T, come ...os.Signal) <-chan os.Signal {
	t.Helper()
	bin := t.TempDir()
	started := filepath.Join(bin, "started")
	write(t, filepath.Join(bin, "pulumi"),
		"#!/bin/sh\ntrap '' INT; trap 'kill $!; exit 3' TERM\nsleep 600 & echo > "+started+"; wait $!\n")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	signals := make(chan os.Signal, len(come))
	go func() {
		for _, err := os.Stat(started); err != nil && t.Context().Err() == nil; _, err = os.Stat(started) {
			runtime.Gosched()
		}
		for _, s := range come {
			signals <- s
		}
	}()
	return signals
}

// TestOneSignalEndsARead: a pipe that nobody writes to is read for ever.
func TestOneSignalEndsARead(t *testing.T) {
	f, _, errOut := testFactory(t)
	pipe := filepath.Join(f.Dir, "comment.md")
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	f.Lookup = func(name string) (string, bool) { return "x", name == "GITHUB_TOKEN" }
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGTERM
	args := []string{"comment", "--file", pipe, "--host", "github", "--repository", "acme/platform", "--number", "7"}
	code := supervise(f, signals, func(ctx context.Context) int { return tombolo.run(ctx, f, args) })
	assert.Check(t, code == 130, "got %d: %s", code, errOut)
}

// TestClusterFileThatIsNoRegularFile: it is refused before it is read.
func TestClusterFileThatIsNoRegularFile(t *testing.T) {
	f, _, errOut := testFactory(t)
	pipe, dir := filepath.Join(f.Dir, "pipe.yaml"), filepath.Join(f.Dir, "dir.yaml")
	assert.NilError(t, errors.Join(syscall.Mkfifo(pipe, 0o600), os.Mkdir(dir, 0o755)))
	f.Streams.SetTerminal(80)
	for _, file := range []string{pipe, dir, "/dev/zero"} {
		errOut.Reset()
		if code := tombolo.run(t.Context(), f, []string{"validate", file}); code != 3 || !strings.Contains(errOut.String(), "is not a regular file") {
			t.Errorf("%s: got %d: %s", file, code, errOut)
		}
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(file, []byte(content), 0o755))
}

func TestInterruptedCommand(t *testing.T) {
	f, _, errOut := testFactory(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := tombolo.run(ctx, f, []string{"list"}); code != 130 {
		t.Errorf("got %d, want 130: %s", code, errOut)
	}
}

func TestErrorDocument(t *testing.T) {
	f, out, errOut := testFactory(t)
	assert.Check(t, is.Equal(tombolo.run(t.Context(), f, []string{"validate", "--output", "json"}), 4))
	var d failure
	assert.NilError(t, json.Unmarshal(out.Bytes(), &d))
	if d.Type != "error" || d.Class != "precondition" || d.ExitCode != 4 || !strings.Contains(d.Message, "no project found") {
		t.Errorf("got %+v", d)
	}
	assert.Check(t, strings.HasPrefix(errOut.String(), "✗ no project found"), "people read %q", errOut)
}

func TestLabFromEnvironment(t *testing.T) {
	for _, test := range []struct {
		value string
		args  []string
		want  bool
		err   string
	}{
		{value: "", want: false},
		{value: "1", want: true},
		{value: "0", want: false},
		{value: "1", args: []string{"--lab=false"}, want: false},
		{value: "0", args: []string{"--lab"}, want: true},
		{value: "maybe", err: `TOMBOLO_LAB is "maybe"; set it to 1 or 0, or unset it`},
	} {
		f, _, errOut := testFactory(t)
		f.Lookup = func(name string) (string, bool) { return test.value, name == "TOMBOLO_LAB" }
		code := tombolo.run(t.Context(), f, append([]string{"version"}, test.args...))
		if f.Globals.Lab != test.want || (code == 0) != (test.err == "") || !strings.Contains(errOut.String(), test.err) {
			t.Errorf("%q %v: lab %v, exit code %d, %s", test.value, test.args, f.Globals.Lab, code, errOut)
		}
	}
}

func TestCounted(t *testing.T) {
	for want, problems := range map[string]strict.Problems{
		"1 problem in a.yaml":   {{File: "a.yaml"}},
		"2 problems in a.yaml":  {{File: "a.yaml"}, {File: "a.yaml"}},
		"2 problems in 2 files": {{File: "a.yaml"}, {File: "b.yaml"}},
	} {
		assert.Check(t, is.Equal(counted(problems), want))
	}
}
