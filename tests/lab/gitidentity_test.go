//go:build lab

package lab

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// TestGitByIdentityWithFlux has the real source-controller read a repository at Azure DevOps, which the
// lab plays, by the identity that core makes. Flux is in Git before, and reads by a token.
func TestGitByIdentityWithFlux(t *testing.T) {
	tier.Long(t, "the identity and the patches are resources, which unit tests hold at what the documentation says")
	inOrder(t, newGitByIdentity(t, "flux"), gitByIdentitySteps(step[*gitByKeys]{"Flux in Git, by a token", (*gitByKeys).byToken}))
}

// TestGitByIdentityWithArgoCD is the same with the real repo-server, on a new cluster.
func TestGitByIdentityWithArgoCD(t *testing.T) {
	tier.Long(t, "the identity and the patches are resources, which unit tests hold at what the documentation says")
	inOrder(t, newGitByIdentity(t, "argocd"), gitByIdentitySteps())
}

func gitByIdentitySteps(before ...step[*gitByKeys]) []step[*gitByKeys] {
	return append(before, []step[*gitByKeys]{
		{"an identity that is no user is refused", (*gitByKeys).noUser},
		{"and one that is a user reads", (*gitByKeys).user},
		{"destroy leaves an empty cloud", func(g *gitByKeys, t *testing.T) { g.destroyLeavesNothing(t) }},
	}...)
}

// devOps is the address of a repository, which the lab serves from the project.
const devOps = "https://dev.azure.com/acme/platform/_git/clusters"

// inAKS is what the cluster of the handover is in Azure.
const inAKS = `
cloud: {provider: azure, region: germanywestcentral, account: 00000000-0000-4000-8000-000000000001, tenant: 00000000-0000-4000-8000-00000000000a}

network: {cidr: 10.20.0.0/16}

kubernetes:
  version: "1.36"
  endpoint: {public: true, allowedCidrs: [203.0.113.0/24]}
  admins: [{name: platform-team, group: 00000000-0000-4000-8000-0000000000a1}]
  nodeGroups: [{name: system, mode: system, vmSize: Standard_D4s_v5, size: {min: 2, max: 4}}]
`

func newGitByIdentity(t *testing.T, engine string) *gitByKeys {
	t.Helper()
	g := newGitByKeys(t, engine)
	g.write(t, demoFile, files.WithParts(g.read(t, demoFile), inAKS))
	g.repository = g.bare("dev.azure.com_acme_platform__git_clusters")
	return g
}

func (g *gitByKeys) byToken(t *testing.T) {
	g.must(t, "lab", "up")
	g.by(t, devOps, "    type: basic\n    username: lab\n    password: {env: TOMBOLO_GIT_TOKEN}\n")
	g.must(t, "push", "demo")
	g.must(t, "verify", "demo")
}

// devOpsUsers are the client ids of those whom the lab's organisation at Azure DevOps has as users.
const devOpsUsers = ".lab/azure-devops-users"

func (g *gitByKeys) noUser(t *testing.T) {
	g.must(t, "lab", "up")
	g.write(t, devOpsUsers, "")
	g.by(t, devOps, "    type: workload-identity\n")
	g.refused(t, `authentication required`)
	g.run(t, "verify", "demo", "--timeout", "5s").fails(t, "the identity demo-git with the client id "+g.gitClient(t)+" has to be a user of the Azure DevOps organisation")
}

func (g *gitByKeys) gitClient(t *testing.T) string {
	t.Helper()
	id := strings.TrimSpace(g.ask(t, "outputs", "demo", "gitClientId"))
	assert.Assert(t, id != "", "core has made no identity")
	return id
}

// user: people add the identity to the organisation, and the engine goes on. Their own git, by which the
// driver reads and pushes, is as it was.
func (g *gitByKeys) user(t *testing.T) {
	g.write(t, devOpsUsers, g.gitClient(t)+"\n")
	g.mountHosts(t)
	g.follows(t, "by-identity")
	if g.engine == "flux" {
		g.must(t, "push", "demo")
		g.follows(t, "pushed")
	}
}
