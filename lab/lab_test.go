package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/process"
	"tombolo/tests/files"
)

func TestLogFile(t *testing.T) {
	l := Open(t.TempDir())
	if _, err := l.LogFile("daemon"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("without a lab: %v", err)
	}
	for _, name := range []string{"daemon.log", "demo-etcd.log", "demo-etcd.log.1"} {
		file := filepath.Join(l.paths().logs(), name)
		files.Write(t, file, "")
	}
	names, err := l.Processes()
	assert.Check(t, err)
	assert.Check(t, is.DeepEqual([]string{"daemon", "demo-etcd"}, names))
	if file, err := l.LogFile("demo-etcd"); err != nil || filepath.Base(file) != "demo-etcd.log" {
		t.Errorf("%s, %v", file, err)
	}
	_, err = l.LogFile("etcd")
	if want := `find the log of "etcd": there is none; use one of daemon, demo-etcd`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestDownHasACloudOnDisk is for a daemon that was killed.
func TestDownHasACloudOnDisk(t *testing.T) {
	l := Open(t.TempDir())
	file := filepath.Join(l.paths().cloud(), "resources", "ec2", "Vpc-1.json")
	vpc := `{"type":"aws:ec2/vpc:Vpc","id":"vpc-1","region":"eu-central-1","outputs":{"tags":{"Name":"demo"}}}`
	files.Write(t, file, vpc)
	s, err := l.Status(t.Context())
	want := []Item{{Type: "aws:ec2/vpc:Vpc", ID: "vpc-1", Name: "demo", Region: "eu-central-1"}}
	if diff := cmp.Diff(want, s.Inventory); diff != "" || err != nil || s.Running {
		t.Errorf("status %+v, %v\n%s", s, err, diff)
	}
}

func TestDownIsNotRunning(t *testing.T) {
	l := Open(t.TempDir())
	if s, err := l.Status(t.Context()); err != nil || s.Running || len(s.Inventory) > 0 {
		t.Errorf("status %+v, %v", s, err)
	}
	if _, _, err := l.daemon().EKSToken(t.Context(), "demo"); err == nil || err.Error() != "get a token for cluster demo: the lab is not running; run `tombolo lab up`" {
		t.Errorf("token: %v", err)
	}
	// A daemon that was killed: its pid is somebody else's by now.
	stale := fmt.Sprintf(`{"pid":%d,"identity":"1","socket":"/nowhere"}`, os.Getpid())
	files.Write(t, l.paths().daemon(), stale)
	if _, err := l.Env(); !errors.Is(err, ErrNotRunning) {
		t.Errorf("env: %v", err)
	}
	assert.Check(t, l.Down(t.Context()))
}

func TestUpNamesMissingTools(t *testing.T) {
	l := Open(t.TempDir())
	assert.NilError(t, os.MkdirAll(filepath.Join(l.root, "tools", "build"), 0o755))
	var steps []string
	err := l.Up(t.Context(), func(s Step) { steps = append(steps, string(s.State)+" "+s.Name) })
	want := "check the lab's tools: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok, source-controller, " +
		"kustomize-controller, helm-controller, notification-controller missing in " + l.paths().tools() + "; run `make tools`"
	assert.Check(t, is.Error(err, want))
	assert.Check(t, is.DeepEqual([]string{"doing check the lab's tools", "failed check the lab's tools"}, steps))
	_, err = os.Stat(l.paths().dir())
	assert.Check(t, os.IsNotExist(err), "a failed start left something: %v", err)
}

// A daemon that was stopped still has its socket, and never answers.
func TestStatusOfADaemonThatHangs(t *testing.T) {
	t.Parallel()
	l := Open(t.TempDir())
	socket, err := socketPath("/" + strings.Repeat("long", 30))
	assert.NilError(t, err)
	defer os.RemoveAll(filepath.Dir(socket))
	listener, err := net.Listen("unix", socket)
	assert.NilError(t, err)
	defer listener.Close()
	file := fmt.Sprintf(`{"pid":%d,"identity":%q,"socket":%q}`, os.Getpid(), process.Identity(os.Getpid()), socket)
	files.Write(t, l.paths().daemon(), file)
	_, err = l.Status(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "get the lab's status: no answer in 15s: ") || !strings.Contains(err.Error(), "tombolo lab down") {
		t.Errorf("error %v", err)
	}
}

func TestInterruptedStartSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	daemon := exec.Command("sleep", "60")
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	assert.NilError(t, daemon.Start())
	exited := make(chan error)
	go func() { exited <- daemon.Wait() }()
	err := Open(t.TempDir()).awaitDaemon(ctx, daemon, exited)
	if want := "wait for the daemon: context canceled"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	<-exited // it was ended
}

func TestShim(t *testing.T) {
	root := filepath.Join(t.TempDir(), "it's a checkout")
	l := Open(root)
	assert.NilError(t, l.writeShims(root))
	cmd := exec.CommandContext(t.Context(), filepath.Join(l.paths().bin(), "aws"), "eks", "get-token", "--cluster-name", "a b")
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if want := root + " [eks get-token --cluster-name a b]\n"; err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
	// The program for aws alone takes its place, and stays in the lab.
	own := filepath.Join(root, "lab-aws")
	files.Write(t, own, "#!/bin/sh\necho own $PWD [$@]\n")
	assert.NilError(t, os.Chmod(own, 0o755))
	assert.NilError(t, l.writeShims(root))
	assert.NilError(t, os.Remove(own))
	out, err = exec.CommandContext(t.Context(), cmd.Path, "--version").CombinedOutput()
	if want := "own " + root + " [--version]\n"; err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
	assert.NilError(t, l.writeShims(root))
	// Somebody who runs it is not disturbed, and an older one is replaced whole.
	running, err := os.Open(cmd.Path)
	assert.NilError(t, err)
	defer running.Close()
	assert.NilError(t, replace(cmd.Path, "another", 0o755))
	old, err := io.ReadAll(running)
	if err != nil || !strings.HasPrefix(string(old), "#!/bin/sh\n") {
		t.Errorf("what runs became %q, %v", old, err)
	}
	assert.NilError(t, l.writeShims(root))
	if left, err := filepath.Glob(cmd.Path + "*"); err != nil || len(left) != 1 {
		t.Errorf("there is %v, %v", left, err)
	}
}

// What `go run` has built may go from Go's cache while the lab is up.
func TestTheLabKeepsItsProgram(t *testing.T) {
	l := Open(t.TempDir())
	file, err := l.keepProgram()
	assert.NilError(t, err)
	if again, err := l.keepProgram(); err != nil || again != file || !strings.HasPrefix(file, l.paths().dir()) {
		t.Errorf("%s, %v; want %s, in the lab", again, err, file)
	}
	assert.NilError(t, l.writeShims(t.TempDir()))
	script, err := os.ReadFile(filepath.Join(l.paths().bin(), "aws"))
	if self, _ := os.Executable(); err != nil || !strings.Contains(string(script), file) || strings.Contains(string(script), self) {
		t.Errorf("the aws command is %s, %v; want it to run %s", script, err, file)
	}
	// A newer one takes its place, linked or copied.
	from := filepath.Join(t.TempDir(), "newer")
	assert.NilError(t, os.WriteFile(from, []byte("newer"), 0o755))
	for name, put := range map[string]func(from, to string) error{"linked": place, "copied": copyProgram} {
		to := filepath.Join(t.TempDir(), "libexec")
		assert.NilError(t, put(from, to))
		info, err := os.Stat(to)
		if got, _ := os.ReadFile(to); err != nil || string(got) != "newer" || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %q, mode %v, error %v", name, got, info.Mode(), err)
		}
	}
}

func TestSocketPath(t *testing.T) {
	if got, err := socketPath("/short/lab.sock"); err != nil || got != "/short/lab.sock" {
		t.Errorf("%s, %v", got, err)
	}
	got, err := socketPath("/" + strings.Repeat("long", 30) + "/lab.sock")
	assert.NilError(t, err)
	defer os.RemoveAll(filepath.Dir(got))
	if len(got) > longestSocketPath || !strings.HasPrefix(filepath.Base(filepath.Dir(got)), socketDir) {
		t.Errorf("socket at %s", got)
	}
}

func TestSecretIsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lab", "token")
	first, err := secret(file)
	if err != nil || len(first) < 20 {
		t.Fatal(first, err)
	}
	if again, err := secret(file); err != nil || again != first {
		t.Errorf("%s, %v; was %s", again, err, first)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

type oneUser struct{}

func (oneUser) Authenticate(cluster, token string) (string, []string, error) {
	if cluster != "demo" || token != "right" {
		return "", nil, errors.New("no such token")
	}
	return "arn:aws:iam::111122223333:role/admin", []string{"system:masters"}, nil
}

func TestReviewHandler(t *testing.T) {
	h := reviewHandler(oneUser{}.Authenticate)
	for _, test := range []struct {
		path, body, want string
		code             int
	}{
		{"/demo", `{"spec":{"token":"right"}}`, `"status":{"authenticated":true,"user":{"username":"arn:aws:iam::111122223333:role/admin","groups":["system:masters"]}}`, 200},
		{"/demo", `{"spec":{"token":"wrong"}}`, `"status":{"user":{},"error":"no such token"}`, 200},
		{"/other", `{"spec":{"token":"right"}}`, `"status":{"user":{},"error":"no such token"}`, 200},
		{"/demo", `{`, "read the token review", 400},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", test.path, strings.NewReader(test.body)))
		if body := w.Body.String(); w.Code != test.code || !strings.Contains(body, test.want) || strings.Contains(body, "right") {
			t.Errorf("%s %s: %d %s, want %s", test.path, test.body, w.Code, body, test.want)
		}
	}
}

// TestPulumiKeepsNoLog puts a file where the CLI would make its directory of logs, also in
// the place of one that an older lab has.
func TestPulumiKeepsNoLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs")
	assert.NilError(t, os.Mkdir(path, 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(path, "old.log"), nil, 0o600))
	for range 2 {
		assert.NilError(t, withoutPulumiLogs(path))
		info, err := os.Stat(path)
		assert.NilError(t, err)
		assert.Assert(t, info.Mode().IsRegular())
	}
}

// TestKubeloginThatIsBuiltLater: a lab that began without clusters in Azure, and without the tool,
// has the command for the first one.
func TestKubeloginThatIsBuiltLater(t *testing.T) {
	l := Open(t.TempDir())
	assert.NilError(t, l.writeKubelogin())
	tool := filepath.Join(l.paths().tools(), "kubelogin")
	files.Write(t, tool, "#!/bin/sh\necho \"$HTTPS_PROXY for $*\"\n")
	assert.NilError(t, os.Chmod(tool, 0o700))
	said, err := exec.CommandContext(t.Context(), filepath.Join(l.paths().bin(), "kubelogin"), "get-token").Output()
	assert.NilError(t, err)
	assert.Check(t, strings.HasPrefix(string(said), "http") && strings.HasSuffix(string(said), " for get-token\n"), "%s", said)
}
