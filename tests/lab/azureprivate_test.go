//go:build lab

package lab

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestPrivateClusterInAzure is the way of a private cluster of AKS behind a proxy of its network, on
// a machine outside of it and by a runner inside. Requests to the Resource Manager go wrong
// meanwhile.
func TestPrivateClusterInAzure(t *testing.T) {
	tier.Long(t, "a private cluster in Azure behind a proxy, and the Resource Manager's faults")
	p := newProject(t)
	p.must(t, "lab", "up", "--network", "closed")
	company := newCompany(t, p)
	const file = "clusters/aks.yaml"
	p.edit(t, file, "    private: false\n    public: true\n    allowedCidrs: [203.0.113.0/24]\n", "    private: true\n")
	p.edit(t, file, "chart_repository: http://charts.lab.test", "chart_repository: https://"+companyCharts)
	egress, _, _ := strings.Cut(company.egress, "  images:")
	p.write(t, file, p.read(t, file)+egress)
	inOrder(t, p, []step[project]{
		{"what Azure does not tell is no reason to stop, and is named", project.managerFails},
		{"outside core is made, and no more", project.aksOutside},
		{"up from inside", func(p project, t *testing.T) {
			inside := p.inside(t, "10.8.0.10")
			inside.must(t, "up", "aks", "--yes", "--verify")
			inside.unchanged(t, "aks")
			assert.DeepEqual(t, company.asked(), []string{companyCharts, gitHost})
		}},
		{"refused outside, by a connection", func(p project, t *testing.T) { p.silentOutside(t, "aks") }},
		{"a destroy that cannot see what is left over stops, and goes on", project.managerFailsAtTheEnd},
	})
}

// faulty has the next questions to the Resource Manager go wrong.
func (p project) faulty(t *testing.T, kind, question, count string, more ...string) {
	t.Helper()
	p.must(t, append([]string{"lab", "fault", "add", kind, "ask", question, "--count", count}, more...)...)
}

// managerFails: Azure slows down, times out and loses answers. What goes away costs other tries. Of
// what stays, a command that looks says so, with what to do.
func (p project) managerFails(t *testing.T) {
	p.faulty(t, "throttled", "subscription", "1")
	p.faulty(t, "server-error", "locations", "2")
	p.faulty(t, "answer-lost", "provider", "1")
	p.faulty(t, "slow", "sizes", "1", "--delay", "3s")
	p.run(t, "doctor", "aks") // it is not sure of the way to the API
	assert.Check(t, is.Equal(p.must(t, "lab", "fault", "list"), ""), "a fault has not happened")

	p.faulty(t, "server-error", "versions", "3")
	o := p.run(t, "doctor", "aks")
	contains(t, o.stdout, "cannot be told: get /subscriptions/", "after 3 tries: ServerTimeout: The request timed out.")
	assert.Check(t, is.Contains(o.stdout+o.stderr, "run the same command again in some minutes"))

	p.faulty(t, "server-error", "subscription", "3")
	o = p.run(t, "up", "aks", "--yes")
	o.ends(t, 4, "Azure says nothing of subscription", "run the same command again in some minutes")
	assert.Check(t, !strings.Contains(o.stderr, "az login"), o.stderr)
	p.nothingExists(t)
}

// aksOutside: whether this machine's network is connected to the cluster's cannot be seen before there
// is one, so core is made. Then the way to its API is missing.
func (p project) aksOutside(t *testing.T) {
	p.run(t, "up", "aks", "--yes").fails(t, "whether this machine's network is connected to it cannot be told from here", "docs/guide/private.md", "check that https://aks.k8s.lab.test is reachable from here")
	assert.Check(t, is.Len(p.made(t, aksCluster), 1))
	p.run(t, "up", "aks", "--yes").ends(t, 4, "the Kubernetes API of aks does not answer this machine: its name aks.k8s.lab.test is not known here", "docs/guide/private.md")
}

func (p project) managerFailsAtTheEnd(t *testing.T) {
	inside := p.inside(t, "10.8.0.10")
	p.faulty(t, "server-error", "*", "3")
	inside.run(t, "destroy", "aks", "--yes", "--leftovers", "delete").fails(t, "ServerTimeout", "run the same command again in some minutes")
	p.must(t, "lab", "fault", "clear")
	p.faulty(t, "throttled", "resources", "1")
	p.faulty(t, "answer-lost", "get", "1")
	inside.must(t, "destroy", "aks", "--yes", "--leftovers", "delete")
	p.nothingExists(t)
}
