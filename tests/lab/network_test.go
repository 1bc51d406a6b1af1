//go:build lab

package lab

import (
	"os/exec"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestNetworkCutDuringUp cuts the cluster off while bootstrap makes its objects.
// The up says what does not answer, tries again, and comes to its end once the
// network is back.
func TestNetworkCutDuringUp(t *testing.T) {
	tier.Long(t, "an up waits for a cluster that is cut off")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	cmd, out := p.amidBootstrap(t)
	p.must(t, "lab", "cluster", "cut", "demo")
	awaitOutput(t, cmd, out, "trying again in 5s, 1 of 2")
	p.must(t, "lab", "cluster", "restore", "demo")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the up did not come to its end: %v\n%s", err, out.String())
	}
	if said := out.String(); !strings.Contains(said, "client connection lost") && !strings.Contains(said, "timeout") && !strings.Contains(said, "deadline exceeded") {
		t.Errorf("it does not say what happened:\n%s", said)
	}
	p.settled(t)
}

// TestCutForGood: without an end of the cut the up fails with its cause, and the
// next one makes what is missing.
func TestCutForGood(t *testing.T) {
	tier.Long(t, "an up gives up on a cluster that stays cut off, which takes minutes of waiting")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	cmd, out := p.amidBootstrap(t)
	p.must(t, "lab", "cluster", "cut", "demo")
	if err := cmd.Wait(); err == nil {
		t.Fatalf("the up succeeded without a cluster:\n%s", out.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, "unreachable cluster") && !strings.Contains(last, "connection lost") && !strings.Contains(last, "timeout") {
		t.Errorf("the cause is not clear: %s", last)
	}
	p.must(t, "lab", "cluster", "restore", "demo")
	p.up(t, "demo")
	p.settled(t)
}

// TestRestartDuringUp restarts the API server while bootstrap makes its objects.
func TestRestartDuringUp(t *testing.T) {
	tier.Long(t, "an up goes on after the restart of an API server")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	cmd, out := p.amidBootstrap(t)
	p.must(t, "lab", "cluster", "restart", "demo")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the up did not come to its end: %v\n%s", err, out.String())
	}
	p.settled(t)
}

// amidBootstrap starts an up, and returns when bootstrap has begun to make
// objects.
func (p project) amidBootstrap(t *testing.T) (*exec.Cmd, *transcript) {
	t.Helper()
	cmd, out := p.start(t, "up", "demo", "--yes")
	awaitOutput(t, cmd, out, "created kubernetes:core/v1:Namespace")
	return cmd, out
}

// settled asserts that another up changes nothing, that the objects of the state
// are there, and that nothing stays after a destroy.
func (p project) settled(t *testing.T) {
	t.Helper()
	p.unchanged(t, "demo")
	o := p.run(t, "drift", "demo")
	assert.Check(t, o.code == 0, "the state and the world differ: exit code %d\n%s\n%s", o.code, o.stdout, o.stderr)
	for _, token := range []string{"aws:ec2/vpc:Vpc", "aws:eks/cluster:Cluster"} {
		assert.Check(t, is.Len(p.made(t, token), 1))
	}
	p.must(t, "destroy", "demo", "--yes")
	p.nothingExists(t)
}
