package config

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/kubernetes"
)

func TestExistingCluster(t *testing.T) {
	c := loadGood(t, "shop.yaml")
	assert.Check(t, c.IsExisting() && !c.OwnsNetwork() && c.NeedsOIDC())
	assert.Check(t, is.Equal(c.NameInCloud(), "Shop_Main"))
	assert.Check(t, is.Equal(c.AddonFacts().ClusterARN(), "arn:aws:eks:eu-central-1:111122223333:cluster/Shop_Main"))
	assert.Check(t, is.Equal(c.AddonFacts().Named("karpenter"), "shop-karpenter"))
	// Nothing of what core would make has a default.
	assert.Check(t, is.Len(c.Kubernetes.Addons, 0))
	assert.Check(t, is.Equal(string(c.Network.NAT), ""))
	assert.Check(t, is.Equal(c.Kubernetes.LogRetentionDays, 0))

	small := smallWith(t)
	assert.Check(t, !small.IsExisting() && small.OwnsNetwork() && !small.NeedsOIDC())
	assert.Check(t, is.Equal(small.NameInCloud(), "small"))
}

// adopted is a file of an existing cluster.
func adopted(t *testing.T, existing string) *Cluster {
	t.Helper()
	text := small[:strings.Index(small, "network:")] + "kubernetes:\n  existing: " + existing + "\n" + small[strings.Index(small, "gitops:"):]
	return loadText(t, text)
}

func TestChangesOfExistingCluster(t *testing.T) {
	for _, test := range []struct {
		live, file *Cluster
		want       string
	}{
		{smallWith(t), adopted(t, "{}"), "kubernetes.existing: a cluster that core makes -> the existing cluster small: impossible: core has made this cluster"},
		{adopted(t, "{name: main}"), smallWith(t), "kubernetes.existing: the existing cluster main -> a cluster that core makes: impossible: core would make a cluster of its own"},
		{adopted(t, "{name: main}"), adopted(t, "{}"), "kubernetes.existing.name: main -> small: impossible: another cluster"},
		{adopted(t, "{}"), adopted(t, "{createOidcProvider: true}"), "kubernetes.existing.createOidcProvider: false -> true: in place: core makes the provider"},
		{adopted(t, "{createOidcProvider: true}"), adopted(t, "{}"), "kubernetes.existing.createOidcProvider: true -> false: needs rebuild: core has made the provider"},
	} {
		found := Compare(everything(test.live), test.file)
		assert.Assert(t, is.Len(found, 1), "%v", found)
		assert.Check(t, is.Contains(found[0].String(), test.want))
	}
	assert.Check(t, is.Len(Compare(everything(adopted(t, "{}")), adopted(t, "{name: small}")), 0))
}

func TestSupportNotice(t *testing.T) {
	for minor, want := range map[string]string{
		"1.35": "", "1.33": "1.33 leaves standard support on 2026-07-29: from that day, the cluster costs more", "1.32": "1.32 is in extended support since 2026-03-23: the cluster costs more", "9.99": "",
	} {
		got := SupportNotice(minor, kubernetes.ExtendedSupport)
		assert.Check(t, strings.HasPrefix(got, want) && (got == "") == (want == ""), "%s: %q", minor, got)
	}
}
