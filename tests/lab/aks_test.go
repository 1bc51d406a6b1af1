//go:build lab

package lab

import (
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// azureCredential is what a kubeconfig or a state must not have of a cluster in Azure: tokens
// of Entra or of anybody, keys, and passwords of AKS's own accounts.
var azureCredential = regexp.MustCompile(`eyJhbGciOi[A-Za-z0-9_-]+\.|-----BEGIN [A-Z ]*PRIVATE KEY|client-key-data|client-certificate-data|clusterAdmin_`)

// TestAKS is the way of the cluster in Azure, from an empty lab to an empty lab. Its parts
// build on each other.
func TestAKS(t *testing.T) {
	p := newProject(t)
	inOrder(t, p, []step[project]{
		{"up", func(p project, t *testing.T) { p.must(t, "up", "aks", "--yes", "--verify") }},
		{"the cloud has the cluster and its pools", project.aksExists},
		{"the network's id reaches the ConfigMap", project.aksPublishes},
		{"neither state nor kubeconfig holds a credential", project.aksHoldsNoSecret},
		{"a second up changes nothing", func(p project, t *testing.T) { p.unchanged(t, "aks") }},
		{"an upgrade takes the control plane first, and then each pool", project.aksUpgrades},
		{"there is no drift", func(p project, t *testing.T) { p.must(t, "drift", "aks") }},
		{"plain pulumi sees the same stacks", func(p project, t *testing.T) { p.sameByPulumi(t, "aks-core", "aks-bootstrap") }},
		{"destroy leaves an empty cloud", func(p project, t *testing.T) {
			p.must(t, "destroy", "aks", "--yes")
			p.nothingExists(t)
		}},
	})
}

func (p project) aksExists(t *testing.T) {
	assert.Check(t, is.Len(p.made(t, "azure-native:containerservice/v20240901:ManagedCluster"), 1))
	assert.Check(t, is.Len(p.made(t, "azure-native:containerservice/v20240901:AgentPool"), 1))
	nodes := p.kubectl(t, "aks", "get", "nodes", "-o", "name")
	assert.Check(t, is.Equal(strings.Count(nodes, "node/"), 3), nodes)
}

// aksUpgrades to the next minor version. The inline pool of the cluster and the other one have
// theirs in different resources; a second upgrade finds both done.
func (p project) aksUpgrades(t *testing.T) {
	o := p.run(t, "upgrade", "aks", "--to", "1.36", "--yes")
	for _, want := range []string{"Azure insights: 2 of 2 pass", "step 1 of 2: control plane to 1.36", "step 2 of 2: node groups to 1.36", "the control plane has 1.36, and the node groups 1.36"} {
		assert.Check(t, is.Contains(o.stderr, want))
	}
	assert.Equal(t, o.code, 0, o.stderr)
	versions := strings.Fields(p.kubectl(t, "aks", "get", "nodes", "-o", "jsonpath={.items[*].status.nodeInfo.kubeletVersion}"))
	assert.Check(t, is.Len(versions, 3))
	for _, version := range versions {
		assert.Check(t, strings.HasPrefix(version, "v1.36."), version)
	}
	o = p.run(t, "upgrade", "aks", "--to", "1.36", "--yes")
	assert.Check(t, o.code == 0 && strings.Contains(o.stderr, "nothing to upgrade"), "exit code %d\n%s", o.code, o.stderr)
}

func (p project) aksPublishes(t *testing.T) {
	networks := p.made(t, "azure-native:network/v20190601:VirtualNetwork")
	assert.Assert(t, is.Len(networks, 1))
	got := p.kubectl(t, "aks", "-n", "flux-system", "get", "configmap", "infra-config", "-o", "jsonpath={.data.network_id}")
	assert.Check(t, strings.EqualFold(got, networks[0].ID), "the ConfigMap says %q, and the cloud %q", got, networks[0].ID)
}

func (p project) aksHoldsNoSecret(t *testing.T) {
	for _, stack := range []string{"aks-core", "aks-bootstrap"} {
		state := p.mustTool(t, "pulumi", "stack", "export", "--stack", stack, "--cwd", p.workdir())
		assert.Check(t, is.Contains(state, `"urn:pulumi:`), "%s: the export holds no resources", stack)
		assert.Check(t, is.Equal(azureCredential.FindString(state), ""), stack)
	}
	assert.Check(t, is.Equal(azureCredential.FindString(p.must(t, "kubeconfig", "aks")), ""))
}
