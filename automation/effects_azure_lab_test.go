//go:build lab

package automation

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/preview"
	"tombolo/config"
	"tombolo/stacks"
	coreazure "tombolo/stacks/core/azure"
	"tombolo/stacks/core/live"
	"tombolo/stacks/owner"
	"tombolo/stacks/programs"
	"tombolo/tests/tier"
)

// azureEffect changes a live cluster's file in one way: what core's plan does then, and what the
// driver says of the keys.
type azureEffect struct {
	name   string
	change func(*config.Cluster)
	effect config.Effect
	// paths that are told with the effect, and the fields and their case that they stand for.
	paths, fields []string
	when          string
	// steps that the plan has, as operation and type in short.
	steps []string
}

func azureEffects() []azureEffect {
	group := func(c *config.Cluster, i int) *config.NodeGroup { return &c.Kubernetes.NodeGroups[i] }
	return []azureEffect{
		{
			name: "in place", effect: config.InPlace,
			change: func(c *config.Cluster) {
				c.Environment, c.Tags = "dev", map[string]string{"team": "other"}
				k := &c.Kubernetes
				k.Endpoint.AllowedCIDRs, k.Tier, k.Support = []string{"198.51.100.0/24"}, config.StandardTier, config.StandardSupport
				k.Upgrades = config.Upgrades{Kubernetes: config.PatchUpgrades, NodeImages: config.NoImages}
				k.Admins = append(slices.Clone(k.Admins), config.Principal{Name: "more", Group: "00000000-0000-4000-8000-0000000000a9"})
				system, work := group(c, 0), group(c, 1)
				system.Taints, system.Update.MaxSurge, system.Size.Max = nil, "50%", new(5)
				work.Labels, work.Size.Min = map[string]string{"example.com/pool": "other"}, new(1)
				more := *work
				more.Name = "more"
				k.NodeGroups = append(k.NodeGroups, more)
				c.Services[0].Identity.ServiceAccount = "others"
				c.Services[0].Identity.Roles[0].Role = "Contributor"
			},
			fields: []string{
				"Cluster.Environment", "Cluster.Tags", "Endpoint.AllowedCIDRs", "Kubernetes.Tier", "Kubernetes.Support", "Upgrades.Kubernetes", "Upgrades.NodeImages", "Kubernetes.Admins",
				"NodeGroup.Taints", "NodeUpdate.MaxSurge", "Size.Max", "NodeGroup.Labels", "Size.Min", "Kubernetes.NodeGroups", "Identity.ServiceAccount", "RoleGrant.Role",
			},
			paths: []string{
				"tags", "kubernetes.endpoint.allowedCidrs", "kubernetes.tier", "kubernetes.support", "kubernetes.upgrades.kubernetes", "kubernetes.upgrades.nodeImages",
				"kubernetes.admins[1]", "kubernetes.nodeGroups[0].taints", "kubernetes.nodeGroups[0].update.maxSurge", "kubernetes.nodeGroups[0].size.max",
				"kubernetes.nodeGroups[1].labels", "kubernetes.nodeGroups[1].size.min", "kubernetes.nodeGroups[3]",
			},
			steps: []string{"update ManagedCluster", "update AgentPool", "create AgentPool", "create FederatedIdentityCredential", "delete FederatedIdentityCredential", "update ResourceGroup"},
		},
		{
			name: "removed", effect: config.InPlace, when: "removed",
			change: func(c *config.Cluster) {
				c.Services = nil
				c.Kubernetes.NodeGroups = c.Kubernetes.NodeGroups[:2]
			},
			fields: []string{"Kubernetes.NodeGroups", "Cluster.Services"}, paths: []string{"kubernetes.nodeGroups"},
			steps: []string{"delete AgentPool", "delete UserAssignedIdentity", "delete FederatedIdentityCredential", "delete RoleAssignment"},
		},
		{
			name: "nodes are rolled", effect: config.RollsNodes,
			change: func(c *config.Cluster) {
				c.Kubernetes.NodeVersion, group(c, 1).OS = "1.35", config.AzureLinux
				c.Egress.Proxy.URL, c.Egress.Proxy.NoProxy = "http://other.example:3128", []string{".other.example"}
			},
			fields: []string{"Kubernetes.NodeVersion", "NodeGroup.OS", "Proxy.URL", "Proxy.NoProxy"},
			paths:  []string{"kubernetes.nodeVersion", "kubernetes.nodeGroups[1].os", "egress.proxy.url", "egress.proxy.noProxy"},
			steps:  []string{"update ManagedCluster", "update AgentPool"},
		},
		{
			name: "the control plane alone", effect: config.InPlace, when: "to the next minor, with the nodes held back",
			change: func(c *config.Cluster) { c.Kubernetes.Version = "1.36" },
			fields: []string{"Kubernetes.Version"}, paths: []string{"kubernetes.version"}, steps: []string{"update ManagedCluster"},
		},
		{
			name: "images that the nodes see to themselves", effect: config.RollsNodes, when: "to unmanaged, and from there to none",
			change: func(c *config.Cluster) { c.Kubernetes.Upgrades.NodeImages = config.UnmanagedImages },
			fields: []string{"Upgrades.NodeImages"}, paths: []string{"kubernetes.upgrades.nodeImages"}, steps: []string{"update ManagedCluster"},
		},
		{
			name: "another version of the key", effect: config.InPlace,
			change: func(c *config.Cluster) {
				k := &c.Kubernetes.SecretsEncryption
				k.KeyID = strings.TrimSuffix(k.KeyID, "1") + "2"
			},
			fields: []string{"SecretsEncryption.KeyID"}, paths: []string{"kubernetes.secretsEncryption.keyId"}, steps: []string{"update ManagedCluster"},
		},
		{
			name: "the key turned off", effect: config.InPlace, when: "turned off",
			change: func(c *config.Cluster) { c.Kubernetes.SecretsEncryption.Enabled = new(false) },
			fields: []string{"SecretsEncryption.Enabled"}, paths: []string{"kubernetes.secretsEncryption.enabled"}, steps: []string{"update ManagedCluster"},
		},
		{
			name: "the key taken away", effect: config.Impossible, when: "taken away while AKS encrypts by it",
			change: func(c *config.Cluster) { c.Kubernetes.SecretsEncryption = config.SecretsEncryption{} },
			fields: []string{"SecretsEncryption.KeyID"}, paths: []string{"kubernetes.secretsEncryption.keyId"}, steps: []string{"delete RoleAssignment"},
		},
		{
			name: "no proxy", effect: config.Impossible, when: "taken away", // an update that Azure makes nothing of
			change: func(c *config.Cluster) { c.Egress = config.Egress{} },
			fields: []string{"Proxy.URL"}, paths: []string{"egress.proxy.url"}, steps: []string{"update ManagedCluster"},
		},
		{
			name: "vmSize", effect: config.Impossible, change: func(c *config.Cluster) { group(c, 1).VMSize = "Standard_D8s_v5" },
			fields: []string{"NodeGroup.VMSize"}, paths: []string{"kubernetes.nodeGroups[1].vmSize"}, steps: []string{"replace AgentPool"},
		},
		{
			name: "what a pool keeps", effect: config.Impossible, // an update that Azure refuses
			change: func(c *config.Cluster) {
				g := group(c, 1)
				g.MaxPods, g.DiskGiB, g.Zones, g.Capacity = 90, 256, []string{"1"}, config.Spot
			},
			fields: []string{"NodeGroup.MaxPods", "NodeGroup.DiskGiB", "NodeGroup.Zones", "NodeGroup.Capacity"},
			paths:  []string{"kubernetes.nodeGroups[1].maxPods", "kubernetes.nodeGroups[1].diskGiB", "kubernetes.nodeGroups[1].zones", "kubernetes.nodeGroups[1].capacity"},
			steps:  []string{"update AgentPool"},
		},
		{
			name: "pods' block", effect: config.NeedsRebuild, change: func(c *config.Cluster) { c.Kubernetes.PodCIDR = "100.64.0.0/16" },
			fields: []string{"Kubernetes.PodCIDR"}, paths: []string{"kubernetes.podCidr"}, steps: []string{"replace ManagedCluster"},
		},
		{
			name: "services' block", effect: config.NeedsRebuild, change: func(c *config.Cluster) { c.Kubernetes.ServiceCIDR = "172.22.0.0/16" },
			fields: []string{"Kubernetes.ServiceCIDR"}, paths: []string{"kubernetes.serviceCidr"}, steps: []string{"replace ManagedCluster"},
		},
		{
			name: "way out", effect: config.NeedsRebuild, change: func(c *config.Cluster) { c.Network.Outbound = config.OutboundLoadBalancer },
			fields: []string{"Network.Outbound"}, paths: []string{"network.outbound"}, steps: []string{"replace ManagedCluster"},
		},
		{
			name: "group of nodes", effect: config.NeedsRebuild, change: func(c *config.Cluster) { c.Kubernetes.NodeResourceGroup = "other-nodes" },
			fields: []string{"Kubernetes.NodeResourceGroup"}, paths: []string{"kubernetes.nodeResourceGroup"}, steps: []string{"replace ManagedCluster"},
		},
		{
			name: "private endpoint", effect: config.NeedsRebuild, // an update that Azure refuses
			change: func(c *config.Cluster) {
				c.Kubernetes.Endpoint = config.Endpoint{Private: new(true), Public: false, PrivateDNSZone: "system"}
			},
			fields: []string{"Endpoint.Private", "Endpoint.Public"}, paths: []string{"kubernetes.endpoint.private", "kubernetes.endpoint.public"}, steps: []string{"update ManagedCluster"},
		},
		{
			name: "network's block", effect: config.NeedsRebuild, change: func(c *config.Cluster) { c.Network.CIDR = "10.21.0.0/16" },
			fields: []string{"Network.CIDR"}, paths: []string{"network.cidr"}, steps: []string{"update VirtualNetwork", "update Subnet"},
		},
		{
			name: "resource group", effect: config.NeedsRebuild, change: func(c *config.Cluster) { c.Cloud.ResourceGroup = "other" },
			fields: []string{"Cloud.ResourceGroup"}, paths: []string{"cloud.resourceGroup"}, steps: []string{"replace ResourceGroup", "replace ManagedCluster", "replace VirtualNetwork"},
		},
	}
}

// gravely says that a step takes away more than a role, which is made anew in place of another.
func gravely(step string) bool {
	return strings.HasPrefix(step, "replace ") && step != "replace RoleAssignment"
}

// unrefused is core without what refuses a change of a live cluster, so that the engine tells
// what would become of it.
func unrefused(c *config.Cluster, _ stacks.Kind, _ programs.Options) (pulumi.RunFunc, error) {
	return func(p *pulumi.Context) error {
		own, err := owner.New(p, "")
		if err != nil {
			return err
		}
		_, err = coreazure.Build(p, c, nil, own, live.Resources{})
		return err
	}, nil
}

// planWitness notes the steps of plans.
type planWitness struct {
	witness
	steps []string
}

func (w *planWitness) EngineEvent(_ string, e events.EngineEvent) {
	if e.ResourcePreEvent == nil {
		return
	}
	m := e.ResourcePreEvent.Metadata
	step := string(m.Op) + " " + m.Type[strings.LastIndexByte(m.Type, ':')+1:]
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.HasPrefix(m.Type, "azure-native:") && m.Op != apitype.OpSame && !slices.Contains(w.steps, step) {
		w.steps = append(w.steps, step)
	}
}

// TestEffectsInAzure holds what keys declare to do to a live cluster in Azure against the
// engine's plan of core, also where the driver refuses the change before.
func TestEffectsInAzure(t *testing.T) {
	tier.Short(t, "each key does to a live cluster in Azure what the file says that it does")
	t.Parallel()
	b := newAzureBench(t, azureFile(t, "azure-full"))
	_, err := b.up()
	assert.NilError(t, err)
	seen := &planWitness{}
	b.opts.Observer, b.deps.program = seen, unrefused
	_, err = b.previewer().Once(t.Context(), b.cluster, stacks.Core, preview.Options{}, true)
	assert.NilError(t, err)
	assert.Equal(t, len(seen.steps), 0, "nothing is changed: %q", seen.steps)
	for _, test := range azureEffects() {
		t.Run(test.name, func(t *testing.T) {
			changed := azureFile(t, "azure-full")
			test.change(changed)
			told, err := b.FileChanges(t.Context(), changed)
			assert.NilError(t, err)
			err = told.Problems(changed).Err()
			assert.Check(t, is.Equal(err != nil, test.effect.Refused()), "%v", err)
			for _, path := range test.paths {
				i := slices.IndexFunc(told, func(c config.Change) bool { return c.Path == path })
				assert.Check(t, i >= 0 && told[i].Effect == test.effect, "%s is not told as %s: %v", path, test.effect, told)
			}
			seen.steps = nil
			if b.deps.program = unrefused; !test.effect.Refused() {
				b.deps.program = programs.Of
			}
			_, err = b.previewer().Once(t.Context(), changed, stacks.Core, preview.Options{}, true)
			assert.NilError(t, err)
			for _, want := range test.steps {
				assert.Check(t, slices.Contains(seen.steps, want), "no %q among %q", want, seen.steps)
			}
			assert.Check(t, test.effect.Refused() || !slices.ContainsFunc(seen.steps, gravely), "something is replaced: %q", seen.steps)
			for _, field := range test.fields {
				declared := func(c config.Case) bool { return c.Effect == test.effect && c.When == test.when }
				assert.Check(t, slices.ContainsFunc(config.EffectsOn(config.Azure, field), declared), "%s declares no %s %q", field, test.effect, test.when)
			}
		})
	}
}

// TestEffectsInAzureHaveCases: an effect that keeps a change from happening, or rolls nodes, and
// that no plan has shown, is a claim.
func TestEffectsInAzureHaveCases(t *testing.T) {
	tier.Short(t, "a declared effect in Azure has been shown by a plan")
	elsewhere := map[string]string{
		"Cloud.Tenant":   "the provider's guard refuses another one before a plan: unit test of stacks/core/azure",
		"NodeGroup.Name": "another name is another entry: see Kubernetes.NodeGroups", "NodeGroup.Mode": "of the first group: unit test of config",
		"Network.Existing": "unit test of config", "ExistingNetwork.NodeSubnet": "unit test of config", "ExistingCluster.ResourceGroup": "unit test of config",
		"Endpoint.PrivateDNSZone": "of a private cluster: see Endpoint.Private", "Egress.CertificateAuthority": "with a proxy: see Proxy.URL",
	}
	for _, field := range config.AzureEffectFields() {
		for _, declared := range config.EffectsOn(config.Azure, field) {
			if elsewhere[field] != "" || declared.Effect == config.InPlace || declared.When != "" {
				continue
			}
			shown := slices.ContainsFunc(azureEffects(), func(e azureEffect) bool {
				return slices.Contains(e.fields, field) && e.effect == declared.Effect
			})
			assert.Check(t, shown || field == "Kubernetes.Version", "%s: no plan of a change is shown that %s", field, declared.Effect)
		}
	}
}
