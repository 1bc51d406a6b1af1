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
// build on each other. TestClouds has what is the same for every cluster.
func TestAKS(t *testing.T) {
	p := newProject(t)
	inOrder(t, p, []step[project]{
		{"up", func(p project, t *testing.T) { p.must(t, "up", "aks", "--yes", "--verify") }},
		{"the cloud has the cluster and its pools", project.aksExists},
		{"the network's id reaches the ConfigMap", project.aksPublishes},
		{"neither state nor kubeconfig holds a credential", project.aksHoldsNoSecret},
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
