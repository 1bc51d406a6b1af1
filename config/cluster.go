// Package config reads cluster files: one YAML file describes one cluster, and
// both of its stacks, core and bootstrap, read the same file.
//
// Load decodes strictly, fills in defaults and validates; it reports all
// problems of a file together, each with its line and column. The package
// imports nothing else of Tombolo.
package config

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"tombolo/config/addon"
	"tombolo/config/cloud"
	"tombolo/config/egress"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/gitops"
	"tombolo/config/identity"
	"tombolo/config/kubernetes"
	"tombolo/config/network"
	"tombolo/config/services"
	"tombolo/config/strict"
	"tombolo/config/values"
	"tombolo/config/windows"
)

// Version is the version of the cluster file's format that this package reads.
const Version = 1

// Cluster is a cluster file, which describes one cluster.
type Cluster struct {
	// Version of the format: 1.
	Version int `yaml:"version"`
	// Name of the cluster, a DNS label. It names the stacks (<name>-core,
	// <name>-bootstrap) and starts the name of everything made for the
	// cluster.
	Name string `yaml:"name"`
	// Environment that the cluster belongs to, such as dev or prod, a DNS label.
	Environment string `yaml:"environment"`
	// Wave of the cluster in an operation on several clusters. Lower waves go
	// first; in a wave, a hub goes before its spokes. A spoke without a wave has
	// its hub's. Default 0.
	Wave int `yaml:"wave,omitempty"`
	// Protect prevents a destruction by mistake: tombolo destroy asks for the
	// cluster's name, and plain pulumi destroy refuses to delete the network and
	// the control plane. Default false.
	Protect bool `yaml:"protect,omitempty"`
	// ChangeWindows are the times of the week in which tombolo changes the cluster; in others
	// it refuses to. Default: at any time.
	ChangeWindows []windows.ChangeWindow `yaml:"changeWindows,omitempty"`
	// Drift says what becomes of what others change in the cloud or on the cluster.
	Drift windows.DriftPolicy `yaml:"drift,omitempty"`
	// Cloud, region and account of the cluster.
	Cloud cloud.Cloud `yaml:"cloud"`
	// Tags of every cloud resource. Tombolo sets the keys tombolo:cluster and
	// tombolo:environment itself.
	Tags map[string]string `yaml:"tags,omitempty"`
	// Network of the cluster: one that core makes, or an existing one. Required, but with
	// kubernetes.existing: core then reads the network from the cluster.
	Network network.Network `yaml:"network,omitempty"`
	// Kubernetes holds the managed control plane and its nodes.
	Kubernetes kubernetes.Kubernetes `yaml:"kubernetes"`
	// Egress is how the cluster reaches what is outside of its network. Default: directly.
	Egress egress.Egress `yaml:"egress,omitempty"`
	// Namespaces that bootstrap creates before the engine starts.
	Namespaces []services.Namespace `yaml:"namespaces,omitempty"`
	// Addons of the catalogue that are turned on, by name, with their options.
	// Each gets its namespace, what it needs from the cloud, and a ConfigMap
	// <name>-values of Helm values.
	Addons addon.Selection `yaml:"addons,omitempty"`
	// Services that get a cloud identity and a ConfigMap of Helm values.
	Services []services.Service `yaml:"services,omitempty"`
	// GitOps is the engine and the repository it follows.
	GitOps gitops.GitOps `yaml:"gitops"`
	// Labels that describe the cluster to people and generators. They are
	// Kubernetes labels. monitoring: "on" turns on kube-prometheus-stack,
	// event-exporter, loki and alloy, and gives the cluster the label logging: "on".
	Labels map[string]string `yaml:"labels,omitempty"`
	// Annotations that describe the cluster with values that labels cannot hold.
	Annotations map[string]string `yaml:"annotations,omitempty"`
	// Values are extra keys of the infra ConfigMap, for ${key} in manifests. A key may
	// have a value of another stack or of Parameter Store.
	Values map[string]values.Value `yaml:"values,omitempty"`

	// File is the path the cluster was loaded from.
	File string `yaml:"-"`
	// Warnings are what is right in the file and will not stay so.
	Warnings strict.Problems `yaml:"-"`
	// RollBack lets Kubernetes go back to the minor before, which an up otherwise refuses.
	RollBack bool `yaml:"-"`
	// Rebuild is the record of the rebuild under way, which core keeps among its outputs
	// until the cluster is there again; "" without one.
	Rebuild string `yaml:"-"`
	// Account is the account that this stands for; nil for a cluster.
	Account *Account `yaml:"-"`
}

var clusterFields = field.Of[Cluster](map[string]field.Descriptor{
	"Version": {Rule: strict.Rule{What: "a supported version of the format", Example: "1", Numbers: []int{Version}}, Change: field.Changes("it is the format of the file; nothing in the cluster changes")},
	"Name": {
		Own: true, Rule: form.Label("demo"),
		Change: []field.Case{
			{Effect: field.Impossible, Words: "another name is another cluster, beside this one", Remedy: "take the name back, or destroy the cluster of the old name with its old file"},
		},
	},
	"Environment": {
		Own: true, Rule: form.Label("dev"), Change: field.Always(field.RollsNodes, "it is a tag of every resource: "+field.RollsAll),
		AzureChange: field.Changes("it is a tag of every resource: " + aksTagWords),
	},
	"Wave":          {Rule: strict.Rule{Least: new(0), Most: new(99), Default: 0}, Change: field.Changes(field.Outside)},
	"Protect":       {Rule: strict.Rule{Default: false}, Change: field.Changes("the state protects network and control plane, or no longer; nothing in the cloud changes")},
	"ChangeWindows": {Rule: strict.Rule{Noun: "window"}, Change: field.Changes(field.Outside)},
	"Drift":         {},
	"Cloud":         {},
	"Tags":          {Change: field.Always(field.RollsNodes, "every resource gets the tags: "+field.RollsAll), AzureChange: field.Changes(aksTagWords)},
	"Network":       {},
	"Kubernetes":    {},
	"Egress":        {},
	"Namespaces":    {Change: field.ComesAndGoes("the namespace is made", "the namespace is deleted with everything in it")},
	"Addons": {Change: []field.Case{
		{When: "turned off", Effect: field.InPlace, Words: "once Git has removed the addon, what it has in the cloud is deleted; a bucket with objects is not", Applies: field.Change.TakesAway},
		{Effect: field.InPlace, Words: "what the addon needs in the cloud is made, and the engine installs it"},
	}},
	"Services": {
		Change:      field.ComesAndGoes("the service's role and ConfigMap are made", "the service's role and ConfigMap are deleted"),
		AzureChange: field.ComesAndGoes("the service's identity and ConfigMap are made", "the service's identity and ConfigMap are deleted"),
	},
	"GitOps":      {},
	"Labels":      {Change: field.Changes("the labels of the cluster's registration change, and generators follow them")},
	"Annotations": {Change: field.Changes("the annotations of the cluster's registration change, and generators follow them")},
	"Values":      {Change: field.Changes("the infra ConfigMap changes, and the engine follows it")},
})

// IsExisting says that the cluster is one that others own: core makes no control plane,
// network or nodes for it.
func (c *Cluster) IsExisting() bool { return c.Kubernetes.Existing != nil }

// NameInCloud is the name of the managed cluster in its cloud: that of the file, but for
// an existing cluster.
func (c *Cluster) NameInCloud() string {
	if e := c.Kubernetes.Existing; e != nil {
		return e.Name
	}
	return c.Name
}

// UpgradesTogether says that the cloud takes the control plane on with its nodes alone, as AKS does
// while it upgrades the cluster by itself.
func (c *Cluster) UpgradesTogether() bool {
	return c.onAzure() && !c.IsExisting() && c.Kubernetes.Upgrades.Kubernetes != kubernetes.NoUpgrades
}

// OwnsNetwork says that core makes the cluster's network.
func (c *Cluster) OwnsNetwork() bool { return c.Network.Existing == nil && !c.IsExisting() }

// NeedsOIDC says that something of the file gets its credentials by the cluster's OIDC
// provider: an addon, a service or the Argo CD of a hub.
func (c *Cluster) NeedsOIDC() bool {
	for a, needs := range c.AddonNeeds() {
		for _, i := range needs.Identities {
			if c.GivenAddonRole(a.Name, i.Name) == "" {
				return true
			}
		}
	}
	for _, s := range c.Services {
		if s.Identity != nil && s.Identity.Mode == identity.IRSA && s.Identity.RoleARN == "" {
			return true
		}
	}
	return c.IsHub()
}

// References are all places whose values are read from elsewhere, in the order of the
// file's keys.
func (c *Cluster) References() []values.Reference {
	var out []values.Reference
	for _, key := range slices.Sorted(maps.Keys(c.Values)) {
		if s, ok := c.Values[key].Source(); ok {
			out = append(out, values.Reference{Source: s, Path: strict.Path("values").Key(key)})
		}
	}
	for i, s := range c.Services {
		at := strict.Path("services").Index(i).Field("values")
		values.EachReference(at, s.Values, func(at strict.Path, keys map[string]any) {
			out = append(out, values.Reference{Source: values.SourceOf(keys), Path: at, Service: s.Name})
		})
	}
	return out
}

// ValueTexts are the keys that the file adds to the infra ConfigMap, with what was read
// in the place of each reference: numbers and booleans as YAML writes them.
func (c *Cluster) ValueTexts(read map[values.Source]any) map[string]string {
	return values.Texts(c.Values, read)
}

// followLabels gives the cluster the addons that its labels turn on, and the label by which its logs are
// collected. They are from the line of that label.
func (c *Cluster) followLabels(doc *strict.Document) {
	labels, addons := strict.Path("labels"), strict.Path("addons")
	brought := c.Monitoring()
	if len(brought) == 0 || !doc.Sound(labels, addons) {
		return
	}
	if c.Addons == nil {
		c.Addons = addon.Selection{}
	}
	for _, name := range brought {
		if at := addons.Field(name); c.Addons[name] == nil && doc.Sound(at) {
			c.Addons[name] = addon.Find(name).NewOptions()
			doc.Derive(at, labels.Key(addon.MonitoringLabel))
		}
	}
	if _, said := c.Labels[addon.LoggingLabel]; !said {
		c.Labels[addon.LoggingLabel] = addon.LabelOn
		doc.Derive(labels.Key(addon.LoggingLabel), labels.Key(addon.MonitoringLabel))
	}
}

// Monitoring are the addons that the cluster has by its label monitoring.
func (c *Cluster) Monitoring() []string { return addon.Monitoring(c.Labels, c.Addons) }

// ForCore is the cluster as core's program gets it: without what bootstrap, Git and the driver
// alone are there for. So a change of that changes nothing of core, and an up need not have the
// engine look. Nil stays nil.
func (c *Cluster) ForCore() *Cluster {
	if c == nil {
		return nil
	}
	out := *c
	out.Wave, out.ChangeWindows, out.Drift = 0, nil, windows.DriftPolicy{}
	out.Namespaces, out.Labels, out.Annotations, out.Values = nil, nil, nil, nil
	out.Services = slices.Clone(c.Services)
	for i := range out.Services {
		out.Services[i].Values = nil
	}
	git := &out.GitOps
	git.URL, git.Branch, git.Path, git.Interval = "", "", "", ""
	if !git.ByIdentity() { // which core makes
		git.Auth = nil
	}
	git.Distribution, git.TakeOver, git.SealedSecrets, git.Webhook = gitops.Distribution{}, false, nil, nil
	return &out
}

// WindowAt says whether the cluster may be changed at a moment. Without change windows it
// may at any time.
func (c *Cluster) WindowAt(at time.Time) windows.State { return windows.At(c.ChangeWindows, at) }

// Closed says, as a part of a sentence, that the cluster may not be changed at a moment
// and when it may; "" when it may.
func (c *Cluster) Closed(at time.Time) string { return windows.Closed(c.ChangeWindows, at) }

// setDefaults fills in what the file leaves out. A list that is there and empty
// stays empty.
func (c *Cluster) setDefaults() {
	windows.Fields.SetDefaults(c.Cloud.Provider, &c.Drift)
	c.Cloud.SetDefaults(c.Name)
	existing := c.Kubernetes.Existing
	switch {
	case existing != nil:
		existing.Name = cmp.Or(existing.Name, c.Name)
	default:
		c.Network.SetDefaults(c.Cloud.Provider)
		c.Kubernetes.SetDefaults(c.Cloud.Provider, c.Name, c.Network.CIDR)
	}
	c.Addons.SetDefaults()
	for i := range c.Services {
		c.Services[i].SetDefaults(c.Cloud.Provider)
	}
	c.GitOps.SetDefaults(c.Name, c.Cloud.Provider)
}

// RoleScopes are the ids of what core assigns roles on in Azure, for services and for addons, in
// the order of the file. What core makes itself is among them, resource groups left out.
func (c *Cluster) RoleScopes() []string {
	var out []string
	for _, s := range c.Services {
		if s.Identity == nil {
			continue
		}
		for _, r := range s.Identity.Roles {
			out = append(out, r.Scope)
		}
	}
	if vault := c.Kubernetes.SecretsEncryption.Vault; vault != "" {
		out = append(out, vault)
	}
	for _, needs := range c.AddonNeeds() {
		for _, i := range needs.Identities {
			for _, r := range i.Roles {
				if r.MakeGroup == "" {
					out = append(out, r.Scope)
				}
			}
		}
	}
	return out
}
