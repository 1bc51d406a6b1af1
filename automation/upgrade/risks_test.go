package upgrade

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
)

func TestRefusals(t *testing.T) {
	c := &config.Cluster{Name: "demo", File: "none.yaml"}
	c.Kubernetes.Addons = []config.ManagedAddon{{Name: "coredns"}, {Name: "vpc-cni", Version: "v1.20.4-eksbuild.2"}}
	c.GitOps.Engine, c.GitOps.Distribution.Version = config.Flux, "v2.7.5"
	up := Steps(Versions{"1.33", "1.33"}, "1.35", Ways{})
	found := Refusals(c, up, nil)
	assert.Assert(t, is.Len(found, 2))
	assert.Check(t, is.Contains(found.Error(), "none.yaml:1:1: kubernetes.addons[1].version: keeps vpc-cni at v1.20.4-eksbuild.2, whatever the version of Kubernetes; remove it"))
	assert.Check(t, is.Contains(found.Error(), "gitops.distribution.version: is tested by upstream with Kubernetes 1.32, 1.33 and 1.34, not with 1.35; upgrade the engine first, to a release of v2.8"))
	assert.Check(t, is.Len(Refusals(c, up, []Risk{PinnedAddons, UntestedEngine}), 0))
	assert.Check(t, is.Len(Refusals(c, Steps(Versions{"1.35", "1.34"}, "1.35", Ways{}), nil), 0), "only nodes move")
}

func TestErrors(t *testing.T) {
	all := []Insight{{Name: "skew", Status: Warning}, {Name: "addons", Status: Bad, Reason: "kube-proxy"}}
	assert.DeepEqual(t, Errors(all), all[1:])
	assert.Equal(t, all[1].String(), "addons: ERROR: kube-proxy")
}
