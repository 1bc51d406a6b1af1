//go:build lab

package lab

import (
	"strings"
	"testing"
	"time"

	"tombolo/tests/tier"

	"gotest.tools/v3/assert"
)

// TestTeardown takes a cluster down that has a load balancer: once while its
// controllers run, and once when no controller is left to delete it.
func TestTeardown(t *testing.T) {
	tier.Short(t, "a destroy leaves nothing of a load balancer, with and without its controllers")
	p := newProject(t)
	p.edit(t, "clusters/demo.yaml", "\nenvironment: ", "\nprotect: true\nenvironment: ")
	p.must(t, "lab", "up", "--profile", "light")
	p.upWithBalancer(t)
	p.refusesTheProtected(t)

	p.must(t, "destroy", "demo", "--yes-destroy", "demo")
	p.nothingExists(t)

	p.upWithBalancer(t)
	p.must(t, "lab", "cluster", "cut", "demo")
	given := []string{"destroy", "demo", "--yes-destroy", "demo", "--unreachable", "--drain-timeout", "10s"}
	o := p.run(t, given...)
	for _, want := range []string{"controllers have left over", "load balancer", "target group", "security group", "stack demo-core was kept"} {
		assert.Check(t, o.code == 10 && strings.Contains(o.stderr, want), "exit code %d, and people do not read %q:\n%s", o.code, want, o.stderr)
	}
	p.must(t, append(given, "--leftovers", "delete")...)
	p.nothingExists(t)
}

// upWithBalancer makes the cluster, and a Service with a load balancer on it.
func (p project) upWithBalancer(t *testing.T) {
	t.Helper()
	p.up(t, "demo")
	p.kubectl(t, "demo", "-n", "default", "create", "service", "loadbalancer", "front", "--tcp=80:80")
	eventually(t, time.Minute, func() string {
		if p.kubectl(t, "demo", "-n", "default", "get", "service", "front", "-o", "jsonpath={.status.loadBalancer.ingress[0].hostname}") == "" {
			return "the Service has no load balancer"
		}
		return ""
	})
}

// refusesTheProtected has the cluster's name given, and Pulumi itself refuse.
func (p project) refusesTheProtected(t *testing.T) {
	t.Helper()
	o := p.run(t, "destroy", "demo", "--yes")
	assert.Check(t, o.code == 2 && strings.Contains(o.stderr, "demo is protected, and --yes does not destroy what is protected"),
		"destroy of a protected cluster: exit code %d\n%s", o.code, o.stderr)
	o = newPlain(t, p).run(t, "destroy", "demo-core", "--preview-only")
	if text := o.stdout + o.stderr; o.code == 0 || !strings.Contains(text, "demo-control-plane") || !strings.Contains(text, "because it is protected") {
		t.Errorf("plain pulumi would destroy a protected core: exit code %d\n%s", o.code, text)
	}
}
