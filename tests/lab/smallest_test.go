//go:build lab

package lab

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestSmallestInAzure makes the smallest cluster of AKS by one command: with Flux, what it is to follow, and the
// key of Sealed Secrets. What was sealed before there was any cluster opens, and opens again on the cluster that
// takes its place. Its parts build on each other.
func TestSmallestInAzure(t *testing.T) {
	tier.Long(t, "one up from the smallest file to a secret that opens, and its rebuild; TestDemo has one up in AWS")
	p := newProject(t)
	p.must(t, "lab", "up") // makes the key
	p.write(t, clusterFile("small"), testdata(t, "azure/small.yaml"))
	const tree = "platform/flux/clusters/small/"
	p.write(t, tree+"kustomization.yaml", smallTree)
	p.write(t, tree+"crds/kustomization.yaml", "resources: [../../../addons/sealed-secrets/crds]\n")
	p.write(t, tree+"addons/kustomization.yaml", "resources: [app.yaml]\n")
	p.write(t, tree+"addons/app.yaml", p.sealed(t, "default", "app", "password", "sealed before"))
	p.must(t, "check", "platform/flux", "small")
	p.must(t, "lab", "up") // brings the tree to its repository
	inOrder(t, p, []step[project]{
		{"one command", func(p project, t *testing.T) { p.must(t, "up", "small", "--yes", "--verify"); p.smallOpens(t) }},
		{"another up changes nothing", func(p project, t *testing.T) { p.unchanged(t, "small") }},
		{"what was sealed opens on the cluster that is made anew", func(p project, t *testing.T) {
			before := p.identity(t, "small")
			p.must(t, "rebuild", "small", "--yes")
			assert.Check(t, before != p.identity(t, "small"), "it is the same cluster")
			p.smallOpens(t)
		}},
		destroyStep[project]("small"),
	})
}

// smallTree has two stages: the controller, and what needs it.
const smallTree = `
resources: [../base/crds.yaml, ../base/addons.yaml]
components: [../lab]
patches:
  - target: {group: kustomize.toolkit.fluxcd.io, kind: Kustomization, name: addons}
    patch: |
      - {op: replace, path: /spec/dependsOn, value: [{name: crds}]}
`

func (p project) smallOpens(t *testing.T) {
	t.Helper()
	p.opened(t, "small", "default", "app", "password", "sealed before")
	keys := p.kubectl(t, "small", "-n", "sealed-secrets", "get", "secrets", "-l", "sealedsecrets.bitnami.com/sealed-secrets-key=active", "-o", "jsonpath={.items[*].metadata.name}")
	assert.Check(t, is.Equal(keys, "sealing-key"), "the controller made a key")
}
