//go:build lab

package lab

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// TestHubInAzure is the way of the fleet of TestArgoCD with its hub in Azure, from an empty lab to
// an empty lab: it reaches spoke-a in AWS and spoke-b in Azure by tokens of service accounts. Its
// parts build on each other. TestArgoCD alone upgrades the hub's Argo CD, and tries what a system may
// not do: no cloud has a part in that.
func TestHubInAzure(t *testing.T) {
	tier.Long(t, "a hub in Azure, its spokes in both clouds and the systems on it: TestArgoCD has a hub in AWS")
	f := newFleetOfAzure(t)
	inOrder(t, f, []step[*fleet]{
		{"a role of AWS is refused", (*fleet).roleIsRefused},
		{"one command, the hub first", (*fleet).up},
		{"verify", (*fleet).verify},
		{"each wave waited for the one before", (*fleet).wavesKept},
		{"a hand edit is put back and told of", (*fleet).healed},
		{"another token of a spoke", (*fleet).tokenRotates},
		{"another up changes nothing", (*fleet).settled},
		{"no token anywhere", (*fleet).noToken},
		{"systems of teams, one of which is refused and holds nobody up", (*fleet).systemsSetUp},
		{"what it may do works", (*fleet).systemsAllowed},
		{"systems are suspended and removed, with all that they had", (*fleet).systemsRemoved},
		{"a hub is kept while it has spokes", (*fleet).hubIsKept},
		{"a dead spoke in AWS leaves", (*fleet).deadSpokeLeaves},
		{"a spoke in Azure leaves", func(f *fleet, t *testing.T) { f.leaves(t, spokeB) }},
		{"destroy leaves an empty cloud", func(f *fleet, t *testing.T) {
			f.destroys(t, hub)
			assert.Check(t, is.Len(f.locks(t), 0))
		}},
	})
}

// newFleetOfAzure is the fleet with its hub in Azure.
func newFleetOfAzure(t *testing.T) *fleet {
	t.Helper()
	f := newFleet(t)
	f.inAzure(t, hub)
	f.waves = map[string]int{"external-dns": -2, "external-secrets": -2, "ingress-nginx": -1, "kube-prometheus-stack": 0}
	f.byToken = []string{spokeA, spokeB}
	return f
}

// inAzure has the file of a cluster in AWS say that it is in Azure. All else stays: its name, the
// tree that it follows, and what is sealed for it.
func (p project) inAzure(t *testing.T, cluster string) {
	t.Helper()
	p.write(t, clusterFile(cluster), files.WithParts(p.read(t, clusterFile(cluster)), testdata(t, "azure/"+cluster+".yaml")))
}

// roleIsRefused: the spoke in AWS says how the hub in Azure reaches it.
func (f *fleet) roleIsRefused(t *testing.T) {
	f.run(t, "validate", spokeA).fails(t, "its Argo CD has no IAM role that could assume this cluster's")
	f.edit(t, clusterFile(spokeA), "\n  hub: mgmt\n", "\n  hub: mgmt\n  argocd:\n    credentials: service-account\n")
	f.must(t, "validate")
}
