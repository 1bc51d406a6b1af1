//go:build !windows

package pulumicli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/automation/fault"
	"tombolo/automation/process"
)

// script installs a pulumi of our own, and returns a CLI that finds it.
func script(t *testing.T, body string) *CLI {
	t.Helper()
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "pulumi"), []byte("#!/bin/sh\n"+body), 0o755))
	path := dir + string(os.PathListSeparator) + os.Getenv("PATH")
	return New(Options{
		WorkDir: t.TempDir(), Grace: 5 * time.Second,
		Env: map[string]string{"PATH": path}, Getenv: func(string) string { return path },
	})
}

func TestCLIIsFoundInItsPath(t *testing.T) {
	command, err := script(t, "echo v3.999.0").Program(t.Context())
	assert.NilError(t, err)
	got := command.Version().String()
	assert.Check(t, got == "3.999.0", "version is %s", got)
}

func TestUnfitCLI(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"too old", "echo v3.1.0", "is version 3.1.0, and 3.250.0 or newer of the same major version is needed"},
		{"another major version", "echo v4.0.0", "is version 4.0.0, and 3.250.0 or newer of the same major version is needed"},
		{"no version", "echo hello", `reports version "hello"`},
		{"broken", "echo no such library >&2; exit 127", "does not run: no such library"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := script(t, tt.body).Program(t.Context())
			var precondition *fault.Error
			assert.Check(t, errors.As(err, &precondition) && strings.HasSuffix(precondition.What, tt.want), "error is %T: %v", err, err)
		})
	}
}

func TestCLIIsInterruptedAndMayFinish(t *testing.T) {
	d := script(t, answersVersion+`trap 'kill $!; echo released; exit 3' INT
sleep 60 & echo ready; wait $!
`)
	ctx, cancel := context.WithCancel(t.Context())
	stdout, err := runUntilReady(ctx, t, d, cancel)
	assert.Check(t, errors.Is(err, context.Canceled), "error is %v", err)
	assert.Check(t, is.Contains(stdout, "released"))
}

// busy takes the first signal as a CLI does whose cloud calls take their time,
// and ends with the second.
const busy = answersVersion + `trap 'echo cancelled' INT
trap 'kill $!; echo terminated; exit 3' TERM
sleep 600 & echo ready
while kill -0 $! 2>/dev/null; do wait $!; done
`

func TestHurryEndsTheGraceTime(t *testing.T) {
	d := script(t, busy)
	d.children.grace = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	stdout, err := runUntilReady(ctx, t, d, func() { cancel(); d.Hurry(); d.Hurry() })
	assert.Check(t, errors.Is(err, context.Canceled) && strings.HasSuffix(stdout, "cancelled\nterminated\n"),
		"error is %v; the CLI wrote %q", err, stdout)
}

func TestHurryLeavesAloneWhatIsNotCancelled(t *testing.T) {
	d := script(t, answersVersion+"echo ready; read line; echo $line")
	d.Hurry()
	command, err := d.Program(t.Context())
	assert.NilError(t, err)
	stdout, _, _, err := command.Run(t.Context(), t.TempDir(), strings.NewReader("went on\n"), nil, nil, nil, "up")
	assert.Check(t, err == nil && stdout == "ready\nwent on\n", "error is %v; the CLI wrote %q", err, stdout)
}

// TestAbandonKillsPlugins: a plugin has a process group of its own.
func TestAbandonKillsPlugins(t *testing.T) {
	dir := t.TempDir()
	d := script(t, answersVersion+`trap '' INT TERM
set -m
sleep 600 & echo $! > `+dir+`/plugin
echo ready
while :; do wait $!; done
`)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := runUntilReady(ctx, t, d, func() { cancel(); d.Abandon() })
	assert.Check(t, errors.Is(err, context.Canceled), "error is %v", err)
	text, err := os.ReadFile(filepath.Join(dir, "plugin"))
	assert.NilError(t, err)
	plugin, err := strconv.Atoi(strings.TrimSpace(string(text)))
	assert.NilError(t, err)
	err = wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		_, runs := process.Host{}.Process(plugin)
		return !runs, nil
	})
	assert.Check(t, err, "the plugin, process %d, still runs", plugin)
	command, err := d.Program(t.Context())
	assert.NilError(t, err)
	_, _, _, err = command.Run(t.Context(), t.TempDir(), nil, nil, nil, nil, "version")
	assert.Check(t, errors.Is(err, context.Canceled), "another CLI is started: %v", err)
}

const answersVersion = `if [ "$2" = version ]; then echo v3.250.0; exit; fi
`

// runUntilReady runs the CLI and calls then when it says that it is ready.
func runUntilReady(ctx context.Context, t *testing.T, d *CLI, then func()) (string, error) {
	t.Helper()
	command, err := d.Program(ctx)
	assert.NilError(t, err)
	ready := writerFunc(func(p []byte) {
		if bytes.Contains(p, []byte("ready")) {
			then()
		}
	})
	stdout, _, _, err := command.Run(ctx, t.TempDir(), nil, []io.Writer{ready}, nil, nil, "up")
	return stdout, err
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

func TestCLIErrors(t *testing.T) {
	text := "failed to run update: exit status 255\ncode: 255\nstdout: Updating (demo)\n lots\n" +
		"stderr: error: it broke\nwarning: never mind\nerror: it broke again\n"
	got := strings.Join(cliErrors(text), "|")
	want := "it broke|it broke again"
	assert.Check(t, got == want, "errors are %q, want %q", got, want)
	got = strings.Join(cliErrors("failed to run update: signal: killed\nstdout: secrets"), "|")
	assert.Check(t, got == "the Pulumi CLI ended with signal: killed", "errors are %q", got)
}

func TestCLIErrorsInAList(t *testing.T) {
	text := "failed to run update: exit status 255\nstderr: error: 2 errors occurred:\n" +
		"    1) write lock: no space left on device\n    2) Unknown\n    3) remove lock: no such file\n\n"
	f := Failed{Err: errors.New(text)}
	want := []string{"write lock: no space left on device; remove lock: no such file"}
	assert.DeepEqual(t, f.reasons(), want)
	got := remedyFor(want[0])
	assert.Check(t, got == "free space on the disk, and run the same command again: it goes on where it stopped", "remedy %q", got)
}

func TestUnlisted(t *testing.T) {
	for reason, want := range map[string]string{
		"plain": "plain",
		"an unhandled error occurred: 1 error occurred:\n\t* bootstrap of demo: it broke":                                                                                           "bootstrap of demo: it broke",
		"cluster: 1 error occurred:\n\t* waiting: it broke\nthe log":                                                                                                                "cluster: waiting: it broke\nthe log",
		"Detected that /p/eks exited prematurely.\n  This is *always* a bug.\n  To assist we have dumped the STDOUT and STDERR streams of the plugin:/p/eks: exec: node: not found": "the provider /p/eks ended at its start: /p/eks: exec: node: not found",
	} {
		got := unlisted(reason)
		assert.Check(t, got == want, "%q became %q, want %q", reason, got, want)
	}
}

func TestShortenedKeepsBothEnds(t *testing.T) {
	got := shortened("what failed" + strings.Repeat(".", 2*maxReason) + "and why")
	assert.Check(t, strings.HasPrefix(got, "what failed.") && strings.HasSuffix(got, ".and why") && strings.Contains(got, ".….") && len(got) <= maxReason+len("…"),
		"%d bytes: %s", len(got), got)
}

func TestReasonsLeaveOutWhatFollows(t *testing.T) {
	hungUp := "eks:index:Cluster resource 'c' has a problem: grpc: the client connection is closing"
	for _, test := range []struct{ errors, want []string }{
		{[]string{"cluster: it broke", hungUp}, []string{"cluster: it broke"}},
		{[]string{hungUp}, []string{hungUp}},
	} {
		f := Failed{Record: &Recorder{Errors: test.errors}}
		assert.DeepEqual(t, f.reasons(), test.want)
	}
}

func TestRemedyOfAnUnreachableCluster(t *testing.T) {
	got := remedyFor("demo-kustomization: configured Kubernetes cluster is unreachable. If the cluster was deleted, …")
	want := "bring the cluster back and run the same command again; if it is gone for good, set PULUMI_K8S_DELETE_UNREACHABLE=true before"
	assert.Check(t, got == want, "remedy %q, want %q", got, want)
}

// TestHungCLIIsEnded: finding 8. It takes no signal, and is killed.
func TestHungCLIIsEnded(t *testing.T) {
	d := script(t, answersVersion+"exec sleep 600\n")
	d.children.grace = 10 * time.Millisecond
	command, err := d.Program(t.Context())
	assert.NilError(t, err)
	command.(*binary).bounds = []bound{{[]string{"stack", "export"}, 300 * time.Millisecond}}
	start := time.Now()
	_, stderr, _, err := command.Run(t.Context(), t.TempDir(), nil, nil, nil, nil, "stack", "export", "--stack", "demo-core")
	assert.Check(t, err != nil && time.Since(start) <= 10*time.Second, "it ended after %s, error %v", time.Since(start), err)
	failure := d.Failure(t.Context(), Failed{Stack: "demo-core", Operation: "read the state of", Err: errors.New(stderr)})
	assert.Error(t, failure, "read the state of demo-core: pulumi stack export did not end within 300ms, and was ended; "+
		"look whether the state backend, the cloud and the disk answer, and run the same command again: it goes on where it stopped")
}

// TestEveryCommandHasABound: finding 8, also those that nobody thought of.
func TestEveryCommandHasABound(t *testing.T) {
	c := &binary{bounds: bounds}
	for want, args := range map[time.Duration][]string{
		6 * time.Hour: {"up", "--yes"}, time.Hour: {"preview"}, 20 * time.Minute: {"plugin", "install", "resource"},
		otherBound: {"stack", "import"}, time.Minute: {"version"},
	} {
		assert.Equal(t, c.longest(args), want, "%v", args)
	}
}
