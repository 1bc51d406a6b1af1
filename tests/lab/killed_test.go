//go:build lab

package lab

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/procfs"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestKilledInTheMiddle kills the driver, alone and together with the Pulumi
// CLI that it runs, while core is under way. The next up must recover, say so,
// and leave nothing twice.
func TestKilledInTheMiddle(t *testing.T) {
	tier.Short(t, "driver and Pulumi CLI are killed in an up, and the next one recovers")
	p := newProject(t)
	p.must(t, "lab", "up")
	for _, c := range []struct {
		moment string
		kill   func(*testing.T, *exec.Cmd, project)
	}{
		{"aws:ec2/vpc:Vpc", killAll},
		{"aws:ec2/natGateway:NatGateway", killDriver},
		{"aws:eks/cluster:Cluster", killAll},
	} {
		cmd, out := p.start(t, "up", "demo", "--yes")
		eventually(t, func() (bool, string) {
			return len(p.made(t, c.moment)) > 0, fmt.Sprintf("the stand-in has no %s\n%s", c.moment, out.String())
		})
		c.kill(t, cmd, p)
	}

	o := p.run(t, "up", "demo", "--yes", "--verify")
	o.ends(t, 0, "recovered")
	for what, want := range map[string]int{
		"aws:ec2/vpc:Vpc": 1, "aws:ec2/subnet:Subnet": 4, "aws:eks/cluster:Cluster": 1,
		"aws:kms/key:Key": 1, "aws:ec2/natGateway:NatGateway": 1,
	} {
		assert.Check(t, is.Len(p.made(t, what), want), what)
	}
	p.destroys(t, "demo")
}

// TestKilledWhileMountTargetsAreMade: mount targets have no tags by which they
// could be looked up, and EFS refuses second ones. The next up knows them by
// their network interfaces. The stand-in takes some time, as EFS does, so that
// the kill comes in between.
func TestKilledWhileMountTargetsAreMade(t *testing.T) {
	tier.Long(t, "a kill amid what has no tags to be found by, at a speed that takes its time")
	p := newProject(t)
	p.env = append(p.env, "TOMBOLO_LAB_LATENCY=0.03") // a mount target takes two and a half seconds
	p.edit(t, "clusters/demo.yaml", "\naddons:\n", "\naddons:\n  aws-efs-csi-driver: {}\n")
	p.must(t, "lab", "up")
	cmd, out := p.start(t, "up", "demo", "--yes")
	var made []string
	eventually(t, func() (bool, string) {
		made = p.idsOf(t, "aws:efs/mountTarget:MountTarget")
		return len(made) == 2, fmt.Sprintf("the mount targets are %v\n%s", made, out.String())
	})
	killAll(t, cmd, p)

	o := p.run(t, "up", "demo", "--yes")
	o.ends(t, 0)
	for _, id := range made {
		assert.Check(t, strings.Contains(o.stderr, " "+id), "it does not say that it adopted %s:\n%s", id, o.stderr)
	}
	now := p.idsOf(t, "aws:efs/mountTarget:MountTarget")
	assert.Check(t, slices.Equal(now, made), "the mount targets are %v, and were %v", now, made)
}

// idsOf are the ids of what the stand-in has of a type, in order.
func (p project) idsOf(t *testing.T, token string) []string {
	t.Helper()
	var ids []string
	for _, i := range p.made(t, token) {
		ids = append(ids, i.ID)
	}
	slices.Sort(ids)
	return ids
}

// TestLabDaemonKilled kills the lab with SIGKILL: `lab up` brings it back, with
// the same clusters on the same ports.
func TestLabDaemonKilled(t *testing.T) {
	tier.Long(t, "the lab comes back after a kill; lab has it without a cluster in the short tier")
	p := newProject(t)
	p.up(t, "demo")
	out, err := exec.Command("pkill", "-KILL", "-f", "lab serve --root "+p.dir).CombinedOutput()
	assert.Assert(t, err == nil, "killing the daemon: %v\n%s", err, out)
	p.must(t, "lab", "up")
	p.must(t, "verify", "demo")
	p.unchanged(t, "demo")
}

// processesIn lists the running processes whose command line names a
// directory, as "pid command".
func processesIn(t *testing.T, dir string) []string {
	t.Helper()
	all, err := procfs.AllProcs()
	assert.NilError(t, err)
	var found []string
	for _, p := range all {
		words, err := p.CmdLine()
		if line := strings.Join(words, " "); err == nil && strings.Contains(line, dir) {
			found = append(found, fmt.Sprint(p.PID, " ", line))
		}
	}
	return found
}

// pulumiIn lists the Pulumi CLIs whose working directory is below dir.
func pulumiIn(t *testing.T, dir string) []int {
	t.Helper()
	all, err := procfs.AllProcs()
	assert.NilError(t, err)
	var found []int
	for _, p := range all {
		cwd, err := p.Cwd()
		if name, _ := p.Comm(); err == nil && strings.HasPrefix(cwd, dir) && name == "pulumi" {
			found = append(found, p.PID)
		}
	}
	return found
}

// resident is the memory of a process, in MiB.
func resident(t *testing.T, pid int) int {
	t.Helper()
	p, err := procfs.NewProc(pid)
	assert.NilError(t, err)
	stat, err := p.Stat()
	assert.NilError(t, err)
	return stat.ResidentMemory() >> 20
}
