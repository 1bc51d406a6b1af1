//go:build lab

// Package lab tests Tombolo from end to end in the lab: the built binary, the
// real Pulumi engine, control planes and controllers. Every test of a scenario
// runs in a project of its own, so a lab that somebody is using is left alone.
package lab

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// project is a copy of the checkout's data (cluster files, platform tree,
// charts), with the checkout's tools, and a lab of its own.
type project struct {
	dir     string
	tombolo string
	// env is added to the environment of every command.
	env []string
	// known is what commands have said since the last one that may have changed it.
	known *known
}

// known are answers of commands by who was asked what, with which environment. To ask takes a
// fifth of a second of a processor, and tests ask for every call of kubectl.
type known struct {
	mu      sync.Mutex
	answers map[string]string
}

func (k *known) answer(key string) (answer string, has bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	answer, has = k.answers[key]
	return answer, has
}

func (k *known) keep(key, answer string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answers[key] = answer
}

// forget has commands be asked again.
func (k *known) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.answers)
}

// ask is a command's standard output, from before where nothing can have changed it.
func (p project) ask(t *testing.T, args ...string) string {
	t.Helper()
	key := strings.Join(slices.Concat([]string{p.tombolo}, p.env, args), "\n")
	answer, has := p.known.answer(key)
	if !has {
		answer = p.must(t, args...)
		p.known.keep(key, answer)
	}
	return answer
}

// changes says that a command may change what others say.
func changes(args []string) bool {
	reads := []string{"kubeconfig", "lab env", "lab status", "list", "outputs", "status", "verify"}
	return !slices.ContainsFunc(reads, func(read string) bool { return strings.HasPrefix(strings.Join(args, " ")+" ", read+" ") })
}

// newProject makes a project whose lab is down again when the test ends. Tests
// with projects run beside each other: a lab is idle most of the time.
func newProject(t *testing.T) project {
	t.Helper()
	tier.Parallel(t)
	root := checkout(t)
	if _, err := os.Stat(filepath.Join(root, ".tools", "bin", "controlplane")); err != nil {
		t.Fatalf("the lab's tools are missing: %v; run `make setup`", err)
	}
	dir, err := os.MkdirTemp("", "tombolo-") //nolint:usetesting // the path of a socket in it must stay short
	assert.NilError(t, err)
	p := project{dir: dir, tombolo: filepath.Join(root, "bin", "tombolo"), known: &known{answers: map[string]string{}}}
	assert.NilError(t, checkoutInto(dir, root))
	t.Cleanup(func() { p.remove(t) })
	return p
}

// checkout is the directory of the project that is tested.
func checkout(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	assert.NilError(t, err)
	return root
}

// testdata is the text of a file of the test data.
func testdata(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	assert.NilError(t, err)
	return string(text)
}

// remove ends the lab. The logs of a failed test are kept.
func (p project) remove(t *testing.T) {
	if t.Failed() {
		kept := p.dir + "-logs"
		if err := os.CopyFS(kept, os.DirFS(filepath.Join(p.dir, ".lab", "logs"))); err == nil {
			t.Logf("the lab's logs are in %s", kept)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.tombolo, "lab", "down")
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	assert.Check(t, err == nil, "ending the lab: %v\n%s", err, out)
	assert.Check(t, os.RemoveAll(p.dir), "removing the project")
}

func (p project) write(t *testing.T, name, content string) {
	t.Helper()
	files.Write(t, filepath.Join(p.dir, name), content)
}

func (p project) read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(p.dir, name))
	assert.NilError(t, err)
	return string(content)
}

// edit replaces a text that is in a file once.
func (p project) edit(t *testing.T, file, old, new string) {
	t.Helper()
	text := p.read(t, file)
	assert.Assert(t, is.Equal(strings.Count(text, old), 1), "%v %v", file, old)
	p.write(t, file, strings.Replace(text, old, new, 1))
}

// outcome is how a command ended.
type outcome struct {
	stdout, stderr string
	code           int
}

// ends asserts with which exit code a command ended, and that people read all of the texts.
func (o outcome) ends(t *testing.T, code int, texts ...string) {
	t.Helper()
	assert.Equal(t, o.code, code, "%s\n%s", o.stdout, o.stderr)
	contains(t, o.stderr, texts...)
}

// contains asserts that a text has all of the others.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		assert.Check(t, is.Contains(text, part))
	}
}

// fails asserts that a command has failed, in whatever way, and that people read all of the texts.
func (o outcome) fails(t *testing.T, texts ...string) {
	t.Helper()
	assert.Check(t, o.code != 0, "%s\n%s", o.stdout, o.stderr)
	contains(t, o.stderr, texts...)
}

// refuses is fails for what programs below Tombolo say, which may be on either stream.
func (o outcome) refuses(t *testing.T, texts ...string) {
	t.Helper()
	o.stderr = o.stdout + o.stderr
	o.fails(t, texts...)
}

func (p project) command(ctx context.Context, args ...string) *exec.Cmd {
	if changes(args) {
		p.known.forget()
	}
	cmd := exec.CommandContext(ctx, p.tombolo, args...)
	cmd.Dir = p.dir
	cmd.Env = slices.Concat(os.Environ(), []string{"TOMBOLO_LAB=1", "NO_COLOR=1"}, p.env)
	return cmd
}

// start starts tombolo, and returns what it says until it ends.
func (p project) start(t *testing.T, args ...string) (*exec.Cmd, *transcript) {
	t.Helper()
	cmd, out := p.command(t.Context(), args...), &transcript{}
	cmd.Stdout, cmd.Stderr = out, out
	assert.NilError(t, cmd.Start())
	return cmd, out
}

// run runs tombolo and takes any exit code.
func (p project) run(t *testing.T, args ...string) outcome {
	t.Helper()
	return end(t, p.command(t.Context(), args...))
}

func end(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	assert.Assert(t, err == nil || errors.As(err, &exit), "%s: %v", strings.Join(cmd.Args, " "), err)
	return outcome{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
}

// must runs tombolo, which must end well, and returns its standard output.
func (p project) must(t *testing.T, args ...string) string {
	t.Helper()
	o := p.run(t, args...)
	assert.Assert(t, o.code == 0, "tombolo %s: exit code %d\n%s\n%s", strings.Join(args, " "), o.code, o.stdout, o.stderr)
	return o.stdout
}

// labEnv is the lab's environment.
func (p project) labEnv(t *testing.T) map[string]string {
	t.Helper()
	env := map[string]string{}
	decode(t, p.ask(t, "lab", "env", "--output", "json"), &env)
	return env
}

// tool runs a tool in the lab's environment, as `eval "$(tombolo lab env)"`
// gives it to a shell.
func (p project) tool(t *testing.T, name string, args ...string) outcome {
	t.Helper()
	env := p.labEnv(t)
	if name == "pulumi" {
		p.known.forget()
	}
	path := name
	if !strings.Contains(name, "/") {
		path = filepath.Join(p.dir, ".tools", "bin", name)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir, cmd.Env = p.dir, slices.Concat(os.Environ(), p.env)
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	return end(t, cmd)
}

func (p project) mustTool(t *testing.T, name string, args ...string) string {
	t.Helper()
	o := p.tool(t, name, args...)
	assert.Assert(t, o.code == 0, "%s %s: exit code %d\n%s\n%s", name, strings.Join(args, " "), o.code, o.stdout, o.stderr)
	return o.stdout
}

// kubectl asks the cluster through the kubeconfig that tombolo writes.
func (p project) kubectl(t *testing.T, cluster string, args ...string) string {
	t.Helper()
	return p.mustTool(t, "kubectl", p.at(t, cluster, args)...)
}

// tryKubectl is kubectl that may fail.
func (p project) tryKubectl(t *testing.T, cluster string, args ...string) outcome {
	t.Helper()
	return p.tool(t, "kubectl", p.at(t, cluster, args)...)
}

func (p project) at(t *testing.T, cluster string, args []string) []string {
	t.Helper()
	file := strings.TrimSpace(p.ask(t, "kubeconfig", cluster, "--file", filepath.Join(p.dir, ".lab", cluster+".kubeconfig")))
	return append([]string{"--kubeconfig", file}, args...)
}

// becomes waits until kubectl says something of a cluster.
func (p project) becomes(t *testing.T, cluster, want string, args ...string) {
	t.Helper()
	eventually(t, func() (bool, string) {
		got := p.kubectl(t, cluster, args...)
		return got == want, fmt.Sprintf("kubectl %s says %q, want %q", strings.Join(args, " "), got, want)
	})
}

// meets waits until objects of a cluster meet a condition of kubectl's.
func (p project) meets(t *testing.T, cluster, condition string, objects ...string) {
	t.Helper()
	p.kubectl(t, cluster, append([]string{"wait", "--for=" + condition, "--timeout=" + patience.String()}, objects...)...)
}

// vanishes waits until a cluster has none of the objects any more that kubectl is asked for.
func (p project) vanishes(t *testing.T, cluster string, args ...string) {
	t.Helper()
	p.becomes(t, cluster, "", append(args, "--ignore-not-found", "-o", "name")...)
}

// state is a stack's state as Pulumi exports it, with its secrets encrypted.
func (p project) state(t *testing.T, stack string) string {
	t.Helper()
	return p.mustTool(t, "pulumi", "stack", "export", "--stack", stack, "--cwd", p.workdir())
}

// hides asserts that a text has a secret neither as it is nor as an object of Kubernetes has it.
func hides(t *testing.T, what, text, secret string) {
	t.Helper()
	encoded := strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "=")
	assert.Check(t, text != "" && !strings.Contains(text, secret), "%s has the secret", what)
	assert.Check(t, !strings.Contains(text, encoded), "%s has the secret, encoded", what)
}

// destroys takes a cluster down, after which the clouds are empty.
func (p project) destroys(t *testing.T, cluster string, flags ...string) {
	t.Helper()
	p.must(t, append([]string{"destroy", cluster, "--yes"}, flags...)...)
	p.nothingExists(t)
}

// result is the last document of a command with --output json.
type result struct {
	Type   string
	Stacks []struct {
		Stack, Operation string
		Changes          map[string]int
		Changed          int
	}
}

// unchanged asserts that nothing was changed, or would be.
func (r result) unchanged(t *testing.T) {
	t.Helper()
	for _, s := range r.Stacks {
		assert.Check(t, s.Changed == 0, "%s changed: %v", s.Stack, s.Changes)
	}
}

// created asserts that both stacks made something, or would.
func (r result) created(t *testing.T) {
	t.Helper()
	for _, s := range r.Stacks {
		assert.Check(t, s.Changes["create"] != 0, "%s created nothing: %v", s.Stack, s.Changes)
	}
}

// up has the engine look at the cluster, whatever was recorded of its last up: a second one shows
// that the engine finds nothing to do.
func (p project) up(t *testing.T, cluster string) result {
	t.Helper()
	return lastResult(t, p.must(t, "up", cluster, "--yes", "--force", "--output", "json"))
}

func lastResult(t *testing.T, stdout string) result {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var r result
	decode(t, lines[len(lines)-1], &r)
	if r.Type != "result" || len(r.Stacks) < 2 {
		t.Fatalf("the last document is no result of two stacks: %s", lines[len(lines)-1])
	}
	return r
}

// step is a part of a test that builds on the parts before it.
type step[P any] struct {
	name string
	run  func(P, *testing.T)
}

func inOrder[P any](t *testing.T, p P, steps []step[P]) {
	t.Helper()
	for _, s := range steps {
		if !t.Run(s.name, func(t *testing.T) { s.run(p, t) }) {
			t.Fatal("what follows needs this")
		}
	}
}

// destroyStep is the last one of a test.
func destroyStep[P interface {
	destroys(t *testing.T, cluster string, flags ...string)
}](cluster string, flags ...string) step[P] {
	return step[P]{"destroy leaves an empty cloud", func(p P, t *testing.T) { p.destroys(t, cluster, flags...) }}
}

// item is something in the AWS stand-in.
type item struct {
	Type, ID, Name string
	Created        time.Time
}

// inventory is what exists in the AWS stand-in.
func (p project) inventory(t *testing.T) []item {
	t.Helper()
	var status struct{ Inventory []item }
	decode(t, p.must(t, "lab", "status", "--output", "json"), &status)
	return status.Inventory
}

// made are the items of a type.
func (p project) made(t *testing.T, token string) []item {
	t.Helper()
	return slices.DeleteFunc(p.inventory(t), func(i item) bool { return i.Type != token })
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	assert.NilError(t, json.Unmarshal([]byte(text), into), text)
}

// locks are the lock files of the lab's state backend.
func (p project) locks(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Join(p.dir, ".lab", "state"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, "/locks/") {
			found = append(found, path)
		}
		return err
	})
	assert.Assert(t, err == nil || errors.Is(err, fs.ErrNotExist), err)
	return found
}

// patience with what has to come: no test is decided by a machine that is busy.
const patience = 10 * time.Minute

// eventually waits until a condition holds. While it does not, found says what is there instead.
func eventually(t *testing.T, condition func() (holds bool, found string)) {
	t.Helper()
	deadline, tick := time.After(patience), time.NewTicker(500*time.Millisecond)
	defer tick.Stop()
	for {
		holds, found := condition()
		if holds {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("not after %s: %s", patience, found)
		case <-tick.C:
		}
	}
}

// transcript is what a command that still runs has said so far.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// killDriver ends the driver so that it can do nothing more.
func killDriver(t *testing.T, cmd *exec.Cmd, _ project) {
	t.Helper()
	assert.NilError(t, cmd.Process.Kill())
	_ = cmd.Wait()
}

// killAll ends the driver and the Pulumi CLI that it runs, as a machine does
// that goes down.
func killAll(t *testing.T, cmd *exec.Cmd, p project) {
	t.Helper()
	clis := pulumiIn(t, p.dir)
	for _, pid := range append(clis, cmd.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait()
}
