//go:build lab

package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/lab/control"
	"tombolo/lab/process"
	"tombolo/lab/secretskey"
	"tombolo/tests/tier"
)

// TestLife takes a lab without clusters through its life: up, up again, a
// killed daemon, and down.
func TestLife(t *testing.T) {
	tier.Short(t, "a lab comes up, comes back after a kill, and goes")
	root := checkout(t, map[string]string{"settings.yaml": settings})
	l := Open(root)
	t.Cleanup(func() { _ = l.Down(context.Background()) })

	up := func() (steps []string) {
		t.Helper()
		err := l.Up(t.Context(), func(s Step) { steps = append(steps, string(s.State)+": "+s.Name) })
		if err != nil {
			log, _ := os.ReadFile(l.paths().daemonLog())
			t.Fatalf("%v\n%s", err, log)
		}
		return steps
	}
	status := func() Status {
		t.Helper()
		s, err := l.Status(t.Context())
		assert.NilError(t, err)
		return s
	}
	if s := status(); s.Running {
		t.Fatal("it runs before it was started")
	}
	if _, err := l.Env(); !errors.Is(err, ErrNotRunning) {
		t.Errorf("env of a lab that is down: %v", err)
	}
	up()
	first := status()
	if !first.Running || len(first.Endpoints) == 0 {
		t.Fatalf("status after up: %+v", first)
	}
	up()
	if again := status(); again.PID != first.PID {
		t.Errorf("up replaced the daemon: pid %d, was %d", again.PID, first.PID)
	}

	env, err := l.Env()
	assert.NilError(t, err)
	shim := exec.CommandContext(t.Context(), "sh", "-c", "aws --version")
	shim.Env = []string{"PATH=" + env["PATH"]}
	out, err := shim.CombinedOutput()
	if want := root + " [--version]"; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("the aws shim ran with %q (%v), want %q", out, err, want)
	}

	t.Setenv("AWS_ACCESS_KEY_ID", "")
	_, err = l.daemon().EKSInsights(t.Context(), control.InsightRequest{Cluster: "none"})
	assert.Error(t, err, "An error occurred (ResourceNotFoundException) when calling the ListInsights operation: No cluster found for name: none.")

	sealed := byKey(t, env, "Encrypt", keyed{KeyID: secretskey.Alias, Plaintext: []byte("kept")})
	assert.NilError(t, syscall.Kill(first.PID, syscall.SIGKILL))
	await(t, "the killed daemon is gone", func() bool { return process.Identity(first.PID) == "" })
	if runtime.GOOS == "linux" { // elsewhere the next up ends them
		await(t, "its processes died with it", func() bool {
			left, err := process.Recorded(l.paths().run())
			return err == nil && len(left) == 0
		})
	}
	up()
	second := status()
	if second.PID == first.PID || !second.Running {
		t.Errorf("after the kill: %+v", second)
	}
	if endpointsOf(second) != endpointsOf(first) {
		t.Errorf("endpoints moved from %s to %s", endpointsOf(first), endpointsOf(second))
	}
	opened := byKey(t, env, "Decrypt", keyed{CiphertextBlob: sealed.CiphertextBlob})
	assert.Equal(t, string(opened.Plaintext), "kept")

	assert.NilError(t, l.Down(t.Context()))
	if process.Identity(second.PID) != "" {
		t.Errorf("daemon %d survived", second.PID)
	}
	if _, err := os.Stat(filepath.Join(root, ".lab")); !os.IsNotExist(err) {
		t.Errorf(".lab is left: %v", err)
	}
	if err := l.Down(t.Context()); err != nil {
		t.Errorf("down twice: %v", err)
	}
}

// keyed is what the key of secrets is asked, and what it answers.
type keyed struct {
	KeyID                     string `json:"KeyId"`
	Plaintext, CiphertextBlob []byte
}

// byKey asks the key that an environment names, as Pulumi does.
func byKey(t *testing.T, env map[string]string, operation string, in keyed) (out keyed) {
	t.Helper()
	provider, err := url.Parse(env[control.SecretsVariable])
	assert.NilError(t, err)
	body, err := json.Marshal(in)
	assert.NilError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, provider.Query().Get("endpoint"), bytes.NewReader(body))
	assert.NilError(t, err)
	r.Header.Set("X-Amz-Target", "TrentService."+operation)
	answer, err := http.DefaultClient.Do(r)
	assert.NilError(t, err)
	defer answer.Body.Close()
	assert.Equal(t, answer.StatusCode, http.StatusOK)
	assert.NilError(t, json.NewDecoder(answer.Body).Decode(&out))
	return out
}

func endpointsOf(s Status) string {
	var all []string
	for _, e := range s.Endpoints {
		all = append(all, e.URL)
	}
	return strings.Join(all, " ")
}

func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 20*time.Second, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		t.Fatalf("wait until %s: %v", what, err)
	}
}
