//go:build lab

package lab

import (
	"regexp"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestPrivateCluster is the way of a cluster without a public endpoint, on a machine outside
// of its network: refused there before anything is made, and brought up by a runner inside,
// which the cluster's file lets in.
func TestPrivateCluster(t *testing.T) {
	tier.Long(t, "a cluster without a public endpoint, seen from outside and from inside")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light", "--network", "closed")
	const file, public = "clusters/demo.yaml", "    public: true\n    allowedCidrs: [203.0.113.0/24]\n"
	p.edit(t, file, public, "    privateCidrs: [10.7.0.0/16]\n")
	inOrder(t, p, []step[project]{
		{"refused outside, before anything is made", project.refusedOutside},
		{"a runner that the file does not let in", project.runnerNotLetIn},
		{"up from inside", project.upFromInside},
		{"refused outside, by a connection", project.silentOutside},
		{"destroy from inside", func(p project, t *testing.T) {
			inside := p.inside(t, "10.8.0.10")
			inside.must(t, "destroy", "demo", "--yes")
			p.nothingExists(t)
		}},
	})
}

// inside is the project on a runner with an address in the network.
func (p project) inside(t *testing.T, address string) project {
	t.Helper()
	runner := regexp.MustCompile(`TOMBOLO_LAB_RUNNER='?(http://)10\.8\.0\.10(:[^'\s]+)`).FindStringSubmatch(p.must(t, "lab", "env"))
	assert.Assert(t, is.Len(runner, 3))
	p.env = append(p.env, "HTTPS_PROXY="+runner[1]+address+runner[2], "NO_PROXY=127.0.0.1,localhost")
	return p
}

func (p project) refusedOutside(t *testing.T) {
	const words = "the Kubernetes API of demo will be reachable inside its network from the cluster's own nodes and 10.7.0.0/16; " +
		"this machine is not there: it has 203.0.113.7"
	up := p.run(t, "up", "demo", "--yes")
	assert.Equal(t, up.code, 4, "%s\n%s", up.stdout, up.stderr)
	assert.Check(t, is.Contains(up.stderr, words))
	assert.Check(t, is.Contains(up.stderr, "nothing was started"))
	assert.Check(t, is.Contains(up.stderr, "docs/guide/private.md"))
	preview := p.run(t, "preview", "demo")
	assert.Equal(t, preview.code, 0, preview.stderr)
	assert.Check(t, is.Contains(preview.stderr, words))
	doctor := p.run(t, "doctor", "demo")
	assert.Check(t, doctor.code != 0)
	assert.Check(t, is.Contains(doctor.stdout, "way to the API"))
	p.nothingExists(t)
}

// runnerNotLetIn: through a proxy nothing can be seen before there is a cluster, so core is
// made; then its security group is silent to the runner.
func (p project) runnerNotLetIn(t *testing.T) {
	up := p.inside(t, "10.8.0.10").run(t, "up", "demo", "--yes")
	assert.Check(t, up.code != 0, "a cluster is reached from an address that no rule lets in")
	assert.Check(t, is.Contains(up.stderr, "what that one reaches cannot be seen from here"))
	assert.Check(t, is.Len(p.made(t, "aws:eks/cluster:Cluster"), 1))
	again := p.inside(t, "10.8.0.10").run(t, "up", "demo", "--yes")
	assert.Equal(t, again.code, 4, "%s\n%s", again.stdout, again.stderr)
	assert.Check(t, is.Contains(again.stderr, "lets 10.8.0.10 in at port 443"))
}

func (p project) upFromInside(t *testing.T) {
	p.edit(t, "clusters/demo.yaml", "[10.7.0.0/16]", "[10.7.0.0/16, 10.8.0.0/16]")
	inside := p.inside(t, "10.8.0.10")
	inside.must(t, "up", "demo", "--yes")
	inside.unchanged(t, "demo")
}

// silentOutside: an up that has to look at the cluster is refused; one of which nothing has changed
// needs no way to it.
func (p project) silentOutside(t *testing.T) {
	assert.Check(t, is.Contains(p.must(t, "up", "demo", "--yes", "--output", "json"), `"unchangedSince":{`))
	up := p.run(t, "up", "demo", "--yes", "--force")
	assert.Equal(t, up.code, 4, "%s\n%s", up.stdout, up.stderr)
	assert.Check(t, is.Contains(up.stderr, "the Kubernetes API of demo does not answer this machine: its name demo.k8s.lab.test is not known here"))
}
