package published

import (
	"slices"
	"testing"

	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/names"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func cluster(name string) *config.Cluster {
	return &config.Cluster{
		Name: name, Environment: "dev", File: name + ".yaml",
		Cloud:    config.Cloud{Provider: config.AWS, Region: "eu-central-1", Account: "111122223333"},
		Services: []config.Service{{Name: "dns", Namespace: "net"}},
		Values:   map[string]config.Value{"zone": {Text: "a.test"}, "host": {FromStack: "data/prod", Output: "db.host"}, "tier": {FromSSM: "/shop/tier"}},
		Addons:   addon.Selection{"karpenter": addon.Find("karpenter").NewOptions()},
		GitOps:   config.GitOps{Path: "./clusters/" + name, URL: "https://git.test/tree.git", Branch: "main", Auth: &config.Auth{Type: config.AuthSSH}},
	}
}

func TestToFlux(t *testing.T) {
	c := cluster("one")
	p := To(c, c)
	assert.Check(t, p.Path == "clusters/one" && p.Registration == nil, "starts at %s, registration %v", p.Path, p.Registration)
	v := p.Variables["zone"]
	assert.Check(t, v.Example == "a.test" && slices.Equal(v.Setting, []string{"values", "zone"}), "zone is %v", v)
	if host, tier := p.Variables["host"].Example, p.Variables["tier"].Example; host != "example-host" || tier != "example-tier" {
		t.Errorf("values of elsewhere are %q and %q", host, tier)
	}
	for name, want := range map[string][]string{"dns-values": {names.ValuesKey}, "karpenter-values": {names.ValuesKey}, names.PlatformAuth: {"identity", "known_hosts"}} {
		at := slices.IndexFunc(p.Objects, func(o Object) bool { return o.Name == name })
		assert.Check(t, at >= 0 && slices.Equal(p.Objects[at].Keys, want), "%s with %v is not among %v", name, want, p.Objects)
	}
}

func TestToArgoCD(t *testing.T) {
	hub, spoke := cluster("hub"), cluster("spoke")
	hub.GitOps.Engine = config.ArgoCD
	spoke.GitOps = config.GitOps{Engine: config.ArgoCD, Hub: "hub"}
	spoke.Labels, spoke.Annotations = map[string]string{"ring": "first"}, map[string]string{"contact": "team"}
	h, s := To(hub, hub), To(spoke, hub)
	assert.Check(t, s.Path == "clusters/hub" && s.Registration.Hub == "hub" && s.Registration.Server != h.Registration.Server,
		"the spoke starts at %s, with %v", s.Path, s.Registration)
	r := s.Registration
	assert.Check(t, r.Part("labels")["ring"] == "first" && r.Part("annotations")["contact"] == "team" && r.Repository() == "https://git.test/tree.git", "registration %v", r)
	if keys := Keys([]Set{h, s}, "labels"); !slices.Contains(keys, "ring") || !slices.Contains(keys, "addon-karpenter") || !slices.IsSorted(keys) {
		t.Errorf("labels of the fleet: %v", keys)
	}
}

// TestPagesOfArgoCD: a hub's Argo CD has one page, which no system of the hub or of its spokes
// may take.
func TestPagesOfArgoCD(t *testing.T) {
	hub, spoke := cluster("hub"), cluster("spoke")
	hub.GitOps.Engine = config.ArgoCD
	hub.GitOps.ArgoCD.OIDC = &config.ArgoCDOIDC{URL: "https://ArgoCD.example.com:8443/"}
	spoke.GitOps = config.GitOps{Engine: config.ArgoCD, Hub: "hub"}
	for _, p := range []Set{To(hub, hub), To(spoke, hub)} {
		assert.Check(t, p.Pages["argocd.example.com"] == "Argo CD", "%s has the pages %v", p.Cluster, p.Pages)
	}
	hub.GitOps.Engine = config.Flux
	pages := To(hub, hub).Pages
	assert.Check(t, len(pages) == 0, "with Flux, there are the pages %v", pages)
}

// TestToAzure: the keys are those of the cluster's cloud, and others are told apart.
func TestToAzure(t *testing.T) {
	c := cluster("one")
	c.Addons = nil
	c.Cloud = config.Cloud{Provider: config.Azure, Region: "germanywestcentral", Account: "s1", Tenant: "t1", ResourceGroup: "platform-one"}
	p := To(c, c)
	for key, want := range map[string]string{
		"cloud": "azure", "tenant_id": "t1", "account_id": "s1",
		"cluster_id": "/subscriptions/s1/resourceGroups/platform-one/providers/Microsoft.ContainerService/managedClusters/one",
	} {
		assert.Check(t, is.Equal(p.Variables[key].Example, want), key)
	}
	for key, ours := range map[string]bool{"vpc_id": false, "cluster_arn": false, "vnet_id": true, "zone": true, "none": true} {
		remedy := p.OfOtherCloud(key)
		assert.Check(t, (remedy == "") == ours, "of %s it is said: %q", key, remedy)
		if _, published := p.Variables[key]; !ours && published {
			t.Errorf("%s is published on Azure", key)
		}
	}
}
