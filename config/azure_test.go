package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/azurefacts"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/gitops"
	"tombolo/config/network"
	"tombolo/config/strict"
	"tombolo/tests/files"
)

// azureWith is the base file for Azure with texts replaced, loaded.
func azureWith(t *testing.T, replace ...string) (*Cluster, error) {
	t.Helper()
	text := files.Read(t, azureBaseFile)
	for i := 0; i < len(replace); i += 2 {
		assert.Assert(t, strings.Contains(text, replace[i]), "the base has no %q", replace[i])
		text = strings.Replace(text, replace[i], replace[i+1], 1)
	}
	dir := t.TempDir()
	write(t, dir, "demo.yaml", text)
	return Load(filepath.Join(dir, "demo.yaml"))
}

func goodAzure(t *testing.T, replace ...string) *Cluster {
	t.Helper()
	c, err := azureWith(t, replace...)
	assert.NilError(t, err)
	return c
}

// TestProviderIsReadFirst: what a file may say depends on it, whatever else is wrong.
func TestProviderIsReadFirst(t *testing.T) {
	for text, want := range map[string]Provider{
		"cloud: {provider: azure}":                 Azure,
		"cloud: {provider: aws}":                   AWS,
		"cloud: {provider: Azure}":                 Azure,
		"cloud: {provider: azur}":                  Azure,
		"cloud: {provider: gcp}":                   AWS,
		"cloud: {provider: 7}":                     AWS,
		"cloud: azure":                             AWS,
		"":                                         AWS,
		"cloud: [":                                 AWS,
		"\xef\xbb\xbfcloud: {provider: azure}":     Azure,
		"a: &a {provider: azure}\ncloud: *a":       Azure,
		"a: &a {provider: azure}\ncloud: {<<: *a}": Azure,
		"wave: many\ncloud: {account: 7, provider: azure}": Azure,
	} {
		assert.Check(t, is.Equal(providerIn([]byte(text)), want), text)
	}
}

// TestElsewhere: what is in place of a key is a key, of a mapping of its cloud.
func TestElsewhere(t *testing.T) {
	for typ := range clusterTypes(reflect.TypeFor[Cluster]()) {
		for _, f := range clusterFormat.Fields(typ) {
			goField := typ.Field(f.Index)
			cloud := Provider(goField.Tag.Get(field.CloudTag))
			name := typ.Name() + "." + goField.Name
			in := described[name]
			if in.Instead == "" && in.Remedy == "" {
				continue
			}
			assert.Check(t, cloud != "", "%s is a key of all clouds", name)
			other := map[Provider]Provider{AWS: Azure, Azure: AWS}[cloud]
			if in.Instead != "" {
				has := func(f strict.Field) bool { return f.Name == in.Instead }
				assert.Check(t, slices.ContainsFunc(formatOf(other).Fields(typ), has), name)
			}
		}
	}
}

// TestAzureDefaults: what a file leaves out.
func TestAzureDefaults(t *testing.T) {
	c := goodAzure(t)
	assert.Equal(t, c.Cloud.ResourceGroup, "demo")
	assert.Equal(t, c.Network.Outbound, network.OutboundNATGateway)
	k := c.Kubernetes
	assert.Equal(t, k.ServiceCIDR, "172.20.0.0/16")
	assert.Equal(t, k.PodCIDR, "10.244.0.0/16")
	assert.Equal(t, k.NodeResourceGroup, "demo-nodes")
	assert.Check(t, *k.Endpoint.Private && k.Endpoint.PrivateDNSZone == "system")
	assert.Equal(t, k.FirstSystemPool(), "system")
	assert.Equal(t, c.Cloud.Roles.Path, "")
	assert.Check(t, is.Len(k.Addons, 0))
	public := goodAzure(t, "kubernetes:\n", "kubernetes:\n  endpoint: {public: true, allowedCidrs: [203.0.113.0/24]}\n", "10.0.0.0/16", "172.16.0.0/16")
	assert.Check(t, !*public.Kubernetes.Endpoint.Private && public.Kubernetes.Endpoint.PrivateDNSZone == "")
	assert.Equal(t, public.Kubernetes.ServiceCIDR, "10.100.0.0/16")
}

// TestAzureVersions: the first day of each warning, and the last version.
func TestAzureVersions(t *testing.T) {
	const extended = "tier: premium\n  support: extended\n  admins:"
	for name, test := range map[string]struct{ day, minor, more, want string }{
		"long before": {"2026-09-01", "1.34", "admins:", ""},
		"soon": {
			"2026-10-02", "1.34", "admins:",
			"1.34 leaves AKS's support on 2026-12-01; run `tombolo upgrade demo --to 1.35`",
		},
		"soon, with one that ends too": {
			"2027-02-15", "1.34", extended, "",
		},
		"over": {
			"2026-12-01", "1.34", "admins:",
			"1.34 is out of AKS's support since 2026-12-01: AKS makes no cluster of it without support: extended, and gives a live one no fixes; " +
				"run `tombolo upgrade demo --to 1.35`; or set tier: premium and support: extended, which lasts until 2027-12-01",
		},
		"over, with long-term support": {"2026-12-01", "1.34", extended, ""},
		"long-term support ends": {
			"2027-02-15", "1.32", extended,
			"1.32 leaves AKS's long-term support on 2027-04-01; run `tombolo upgrade demo --to 1.33`",
		},
	} {
		t.Run(name, func(t *testing.T) {
			onDay(t, test.day)
			c := goodAzure(t, `"1.35"`, `"`+test.minor+`"`, "admins:", test.more, "v2.7.5", "v2.99.0")
			var said []string
			for _, w := range c.Warnings {
				said = append(said, w.Message+"; "+w.Remedy)
			}
			if test.want == "" {
				assert.Check(t, is.Len(said, 0))
				return
			}
			assert.DeepEqual(t, said, []string{test.want})
		})
	}
	onDay(t, azurefacts.CalendarEnds.Format(time.DateOnly))
	_, err := azureWith(t, `"1.35"`, `"1.32"`)
	assert.ErrorContains(t, err, `kubernetes.version: 1.32 ended on AKS on 2027-04-01: AKS makes no cluster of it; write "1.33" for a live cluster, and "1.36" for a new one`)
}

func TestChannelsThatChangeTheMinor(t *testing.T) {
	c := goodAzure(t, "kubernetes:\n", "kubernetes:\n  upgrades: {kubernetes: stable}\n", "v2.7.5", "v2.99.0")
	assert.Assert(t, is.Len(c.Warnings, 1))
	assert.Check(t, is.Contains(c.Warnings[0].Warning(), "kubernetes.upgrades.kubernetes: has AKS change the minor version by itself"))
}

// TestNoProxyInAzure: what nodes reach directly, beside what AKS adds.
func TestNoProxyInAzure(t *testing.T) {
	c := goodAzure(t, "gitops:\n", "egress:\n  proxy: {url: \"http://proxy.corp.example:3128\", noProxy: [.corp.example]}\ngitops:\n")
	assert.DeepEqual(t, c.NoProxy(), []string{
		"localhost", "127.0.0.1", ".svc", ".cluster.local", ".cluster.local.", "169.254.169.254", "168.63.129.16",
		"172.20.0.0/16", "10.244.0.0/16", "10.0.0.0/16", ".azmk8s.io", ".corp.example",
	})
	assert.Equal(t, c.AddonFacts().Egress.Proxy, "http://proxy.corp.example:3128")
}

// TestTooManyAuthorities: AKS takes twenty.
func TestTooManyAuthorities(t *testing.T) {
	good := authority(t, today().AddDate(1, 0, 0))
	egress := func(n int) string {
		return strings.TrimSuffix(inFile(strings.Repeat(good, n)), "\n") + "\n  proxy: {url: \"http://proxy.corp.example:3128\"}\ngitops:\n"
	}
	goodAzure(t, "gitops:\n", egress(azurefacts.MaxAuthorities))
	_, err := azureWith(t, "gitops:\n", egress(azurefacts.MaxAuthorities+1))
	assert.ErrorContains(t, err, "egress.certificateAuthority: has 21 certificates; AKS takes 20; leave those of the proxy")
}

// TestAddonFactsInAzure: addons learn the cloud, and no partition.
func TestAddonFactsInAzure(t *testing.T) {
	f := goodAzure(t).AddonFacts()
	assert.Equal(t, f.Provider, "azure")
	assert.Equal(t, f.Partition, "")
	assert.Equal(t, f.Account, "00000000-0000-4000-8000-000000000001")
}

// TestCompareInAzure changes one thing of a file each, from what is live to what is wanted.
func TestCompareInAzure(t *testing.T) {
	const version = `version: "1.35"`
	second := "  nodeGroups:\n    - {name: work, vmSize: Standard_D4s_v5, size: {}}\n"
	first := "  nodeGroups:\n    - {name: other, mode: system, vmSize: Standard_D4s_v5, size: {}}\n"
	with := func(more string) []string { return []string{version, version + "\n  " + more} }
	images := func(channel string) []string { return with("upgrades: {nodeImages: " + channel + "}") }
	proxied := []string{"gitops:\n", "egress: {proxy: {url: \"http://proxy.corp.example:3128\"}}\ngitops:\n"}
	otherProxy := []string{"gitops:\n", "egress: {proxy: {url: \"http://other.corp.example:3128\", noProxy: [.corp.example]}}\ngitops:\n"}
	longTerm := func(minor string) []string {
		return []string{version, "version: \"" + minor + "\"\n  tier: premium\n  support: extended"}
	}
	for _, test := range []struct {
		name       string
		live, file []string
		want       string // "" for no change
		effect     Effect
	}{
		{name: "nothing"},
		{name: "a default that is written", file: with("tier: standard")},
		{name: "block", file: []string{"10.0.0.0/16", "10.1.0.0/16"}, want: "network.cidr: 10.0.0.0/16 -> 10.1.0.0/16", effect: NeedsRebuild},
		{name: "tags", file: []string{"cloud:\n", "tags: {team: a}\ncloud:\n"}, want: "tags: ", effect: InPlace},
		{name: "the next minor", live: []string{`"1.35"`, `"1.34"`}, want: "kubernetes.version: 1.34 -> 1.35", effect: RollsNodes},
		{name: "two minors", live: []string{`"1.35"`, `"1.33"`}, want: "kubernetes.version: 1.33 -> 1.35", effect: Impossible},
		{name: "two minors with long-term support", live: longTerm("1.33"), file: longTerm("1.35"), want: "kubernetes.version: 1.33 -> 1.35", effect: RollsNodes},
		{name: "three minors with long-term support", live: longTerm("1.32"), file: longTerm("1.35"), want: "kubernetes.version: 1.32 -> 1.35", effect: RollsNodes},
		{name: "four minors with long-term support", live: longTerm("1.32"), file: longTerm("1.36"), want: "kubernetes.version: 1.32 -> 1.36", effect: Impossible},
		{name: "two minors to long-term support", live: []string{`"1.35"`, `"1.33"`}, file: longTerm("1.35"), want: "kubernetes.version: 1.33 -> 1.35", effect: Impossible},
		{name: "a minor back with long-term support", live: longTerm("1.35"), file: longTerm("1.34"), want: "kubernetes.version: 1.35 -> 1.34", effect: Impossible},
		{name: "no proxy any more", live: proxied, want: "egress.proxy.url: http://proxy.corp.example:3128 -> none", effect: Impossible},
		{name: "a proxy", file: proxied, want: "egress.proxy.url: none -> http://proxy.corp.example:3128", effect: RollsNodes},
		{name: "another proxy", live: proxied, file: otherProxy, want: "egress.proxy.url", effect: RollsNodes},
		{name: "unmanaged images", file: images("unmanaged"), want: "kubernetes.upgrades.nodeImages: node-image -> unmanaged", effect: RollsNodes},
		{name: "unmanaged images after none", live: images("none"), file: images("unmanaged"), want: "kubernetes.upgrades.nodeImages", effect: RollsNodes},
		{name: "unmanaged images after patches", live: images("security-patch"), file: images("unmanaged"), want: "kubernetes.upgrades.nodeImages", effect: RollsNodes},
		{name: "no images after unmanaged ones", live: images("unmanaged"), file: images("none"), want: "kubernetes.upgrades.nodeImages", effect: RollsNodes},
		{name: "node images after unmanaged ones", live: images("unmanaged"), want: "kubernetes.upgrades.nodeImages", effect: InPlace},
		{name: "no images", file: images("none"), want: "kubernetes.upgrades.nodeImages", effect: InPlace},
		{name: "patches", file: images("security-patch"), want: "kubernetes.upgrades.nodeImages", effect: InPlace},
		{name: "a minor back", file: []string{`"1.35"`, `"1.34"`}, want: "kubernetes.version: 1.35 -> 1.34", effect: Impossible},
		{name: "a public endpoint", file: with("endpoint: {public: true, allowedCidrs: [203.0.113.0/24]}"), want: "kubernetes.endpoint.private", effect: NeedsRebuild},
		{name: "size of machines", file: []string{"Standard_D4s_v5", "Standard_D8s_v5"}, want: "kubernetes.nodeGroups[0].vmSize", effect: Impossible},
		{name: "system", file: []string{"mode: system", "mode: system\n      os: ubuntu"}, want: "kubernetes.nodeGroups[0].os", effect: RollsNodes},
		{name: "a pool more", file: []string{"  nodeGroups:\n", second}, want: "kubernetes.nodeGroups[0]: added work", effect: InPlace},
		{name: "a pool less", live: []string{"  nodeGroups:\n", second}, want: "kubernetes.nodeGroups: removed work", effect: InPlace},
		{name: "another first pool", file: []string{"  nodeGroups:\n", first}, want: "kubernetes.nodeGroups[0]: added other", effect: NeedsRebuild},
		{name: "another group of admins", file: []string{"0000000000a1", "0000000000a3"}, want: "kubernetes.admins[0].group", effect: InPlace},
	} {
		t.Run(test.name, func(t *testing.T) {
			live := goodAzure(t, test.live...)
			found := Compare(everythingInAzure(live), goodAzure(t, test.file...))
			if test.want == "" {
				assert.Check(t, is.Len(found, 0), "%v", found)
				return
			}
			assert.Assert(t, len(found) > 0)
			assert.Check(t, is.Contains(found[0].String(), test.want))
			assert.Check(t, is.Equal(found[0].Effect, test.effect))
		})
	}
}

// everythingInAzure knows all fields.
func everythingInAzure(c *Cluster) *Live {
	return &Live{Cluster: c, Known: fieldsToDeclare(Azure)}
}

// TestAnotherCloud is said once: all other keys differ with it.
func TestAnotherCloud(t *testing.T) {
	found := Compare(everything(smallWith(t)), goodAzure(t))
	assert.Assert(t, is.Len(found, 1))
	assert.Equal(t, found[0].String(), "cloud.provider: aws -> azure: needs rebuild: a cluster stays in its cloud")
}

// TestHubAndSpokeInAzure: a private API has to be reached. validate_reach_test.go has hubs and
// spokes of two clouds.
func TestHubAndSpokeInAzure(t *testing.T) {
	hub := strings.NewReplacer("name: azure-minimal", "name: mgmt", "engine: flux", "engine: argocd", "v2.7.5", "v3.2.1").Replace(readGood(t, "azure-minimal.yaml"))
	load := func(spoke string, replace ...string) (*Cluster, error) {
		dir := t.TempDir()
		write(t, dir, "mgmt.yaml", hub)
		write(t, dir, spoke, strings.NewReplacer(replace...).Replace(readGood(t, spoke)))
		return Load(filepath.Join(dir, spoke))
	}
	public, err := load("azure-spoke.yaml")
	assert.NilError(t, err)
	assert.Equal(t, public.GitOps.ArgoCD.Credentials, gitops.CredentialsServiceAccount)
	assert.Check(t, is.Len(public.Warnings, 0))
	private, err := load("azure-spoke.yaml", "  endpoint: {public: true, allowedCidrs: [203.0.113.0/24]}\n", "")
	assert.NilError(t, err)
	assert.Assert(t, is.Len(private.Warnings, 1))
	assert.Check(t, is.Contains(private.Warnings[0].Warning(),
		`kubernetes.endpoint: is private, and the Argo CD of the hub "mgmt" works with this cluster by its Kubernetes API; connect the hub's network with this one`))
}

func TestSpokeInTheHubsNetwork(t *testing.T) {
	network := func(subnet string) *Cluster {
		return &Cluster{Network: network.Network{Existing: &network.ExistingNetwork{NodeSubnet: form.ExampleGroup + "/providers/Microsoft.Network/virtualNetworks/" + subnet}}}
	}
	assert.Check(t, sharesNetwork(network("shared/subnets/a"), network("Shared/subnets/b")))
	assert.Check(t, !sharesNetwork(network("shared/subnets/a"), network("other/subnets/a")))
	assert.Check(t, !sharesNetwork(&Cluster{}, &Cluster{}))
}

func TestVersionsOfAzureFilesAreEdited(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "azure-minimal.yaml")
	write(t, dir, "azure-minimal.yaml", strings.Replace(readGood(t, "azure-minimal.yaml"), "kubernetes:\n", "kubernetes:\n  upgrades: {kubernetes: none}\n", 1))
	c, err := AtVersion(file, "1.36")
	assert.NilError(t, err)
	assert.Equal(t, c.Kubernetes.Version, "1.36")
	assert.NilError(t, SetVersions(file, "1.36", "1.35"))
	c, err = Load(file)
	assert.NilError(t, err)
	assert.Equal(t, c.Kubernetes.Nodes(), "1.35")
}

// TestExamplesForAzure have every key that only files for Azure have.
func TestExamplesForAzure(t *testing.T) {
	there := map[string]bool{}
	var visit func(value any)
	visit = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			for key, child := range v {
				there[key] = true
				visit(child)
			}
		case []any:
			for _, item := range v {
				visit(item)
			}
		}
	}
	for _, file := range goodFiles(t) {
		if strings.HasPrefix(filepath.Base(file), "azure-") {
			visit(asJSON(t, file, nil))
		}
	}
	for typ := range typesByCloud()[Azure] {
		for _, f := range formatOf(Azure).Fields(typ) {
			if cloudOf(typ) == Azure || typ.Field(f.Index).Tag.Get(field.CloudTag) == string(Azure) {
				assert.Check(t, there[f.Name], "no example has %s of %s", f.Name, typ.Name())
			}
		}
	}
}

// TestNamesAsLongAsAzureTakes: what is longer by one is in testdata/bad.
func TestNamesAsLongAsAzureTakes(t *testing.T) {
	inKubernetes := func(line string) []string { return []string{"kubernetes:\n", "kubernetes:\n  " + line + "\n"} }
	goodAzure(t, inKubernetes("nodeResourceGroup: "+strings.Repeat("n", azurefacts.MaxNodeGroupName))...)
	goodAzure(t, "cloud:\n", "cloud:\n  resourceGroup: "+strings.Repeat("n", azurefacts.MaxResourceGroupName)+"\n")
	space, account := strings.Repeat("n", 60), strings.Repeat("s", azurefacts.MaxCredentialName-61)
	goodAzure(t, "gitops:\n", "namespaces: [{name: "+space+"}]\nservices: [{name: orders, namespace: "+space+", identity: {serviceAccount: "+account+"}}]\ngitops:\n")
}

// TestBlocksOfAVault are what Key Vault takes, and with it what is private by other documents than
// RFC 1918.
func TestBlocksOfAVault(t *testing.T) {
	goodAzure(t, "gitops:\n", "addons: {external-secrets: {allowedCidrs: [203.0.113.0/24, 203.0.113.7/32, 172.15.0.0/16, 172.32.0.0/16, 11.0.0.0/8, 100.64.0.0/10]}}\ngitops:\n")
}

// TestHeldNodesOnAzure: nodes are behind while AKS upgrades nothing by itself, and a version that is
// the control plane's holds none.
func TestHeldNodesOnAzure(t *testing.T) {
	c := goodAzure(t, "kubernetes:\n", "kubernetes:\n  nodeVersion: \"1.34\"\n  upgrades: {kubernetes: none}\n")
	assert.Check(t, !c.UpgradesTogether())
	c = goodAzure(t, "kubernetes:\n", "kubernetes:\n  nodeVersion: \"1.35\"\n")
	assert.Check(t, c.UpgradesTogether())
}

// TestLimitsOfAzure are those that Azure takes; what is beyond is in testdata/bad.
func TestLimitsOfAzure(t *testing.T) {
	blocks := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf("203.0.%d.%d/30", i/64, i%64*4)
		}
		return "kubernetes:\n  endpoint: {public: true, allowedCidrs: [" + strings.Join(all, ", ") + "]}\n"
	}
	goodAzure(t, "kubernetes:\n", blocks(azurefacts.MaxAuthorizedBlocks-1))
	goodAzure(t, "kubernetes:\n", blocks(azurefacts.MaxAuthorizedBlocks), "10.0.0.0/16\n", "10.0.0.0/16\n  outbound: load-balancer\n")
	var pools strings.Builder
	for i := range azurefacts.MaxPools - 1 {
		fmt.Fprintf(&pools, "    - {name: p%d, vmSize: Standard_D4s_v5, size: {min: 0, max: 1}}\n", i)
	}
	goodAzure(t, "gitops:\n", pools.String()+"gitops:\n")
	for _, name := range []string{"office-dev", "my-login", "xbox1", "azure-demo", "accessible"} {
		goodAzure(t, "name: demo\n", "name: "+name+"\n")
	}
	goodAzure(t, "cloud:\n", "tags: {a: x, b: x, c: x, d: x, e: x, f: x, g: x, h: x, i: x}\ncloud:\n")
}

// TestSizesOfSystemPools: two vCPUs are fewer than AKS asks for, and it takes them.
func TestSizesOfSystemPools(t *testing.T) {
	for size, warns := range map[string]bool{
		"Standard_D4s_v5": false, "Standard_D2s_v5": true, "Standard_E4-2s_v5": true, "Standard_D11_v2": false, "Standard_DS2_v2": false, "Standard_E16ads_v6": false, "Standard_D96as_v7": false,
	} {
		c := goodAzure(t, "Standard_D4s_v5", size, "v2.7.5", "v2.99.0")
		assert.Check(t, is.Equal(len(c.Warnings) == 1, warns), "%s: %v", size, c.Warnings)
	}
}

// TestManyNodes: pools may be able to grow beyond what a cluster has, which is worth a warning.
func TestManyNodes(t *testing.T) {
	many := "    - {name: work, vmSize: Standard_D4s_v5, size: {min: 0, max: 1000}}\ngitops:\n"
	for tier, warns := range map[string]bool{"standard": false, "free": true} {
		c := goodAzure(t, "gitops:\n", many, "kubernetes:\n", "kubernetes:\n  tier: "+tier+"\n  podCidr: 10.64.0.0/12\n", "10.0.0.0/16", "10.0.0.0/12", "v2.7.5", "v2.99.0")
		assert.Check(t, is.Equal(len(c.Warnings) == 1, warns), "%s: %v", tier, c.Warnings)
	}
}

// TestTagsOfTheZone: the zone that AKS makes for a private endpoint keeps no such keys.
func TestTagsOfTheZone(t *testing.T) {
	tags := "tags: {\"cost:centre\": a, cost centre: b, 1st: c, cost_centre: d, cost.centre-1: e}\ncloud:\n"
	c := goodAzure(t, "cloud:\n", tags, "v2.7.5", "v2.99.0")
	assert.Assert(t, is.Len(c.Warnings, 1))
	assert.Check(t, is.Contains(c.Warnings[0].Warning(), `: warning: tags: the private DNS zone that AKS makes drops "1st", "cost centre" and "cost:centre": `))
	c = goodAzure(t, "cloud:\n", tags, "v2.7.5", "v2.99.0", "kubernetes:\n", "kubernetes:\n  endpoint: {privateDnsZone: none}\n")
	assert.Check(t, is.Len(c.Warnings, 0))
}
