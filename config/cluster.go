// Package config reads cluster files: one YAML file describes one cluster, and
// both of its stacks, core and bootstrap, read the same file.
//
// Load decodes strictly, fills in defaults and validates; it reports all
// problems of a file together, each with its line and column. The package
// imports nothing else of Tombolo.
package config

import (
	"tombolo/config/addon"
	"tombolo/config/cloud"
	"tombolo/config/egress"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/gitops"
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
	// Kubernetes labels.
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
		Rule: form.Label("demo"),
		Change: []field.Case{
			{Effect: field.Impossible, Words: "another name is another cluster, beside this one", Remedy: "take the name back, or destroy the cluster of the old name with its old file"},
		},
	},
	"Environment": {
		Rule: form.Label("dev"), Change: field.Always(field.RollsNodes, "it is a tag of every resource: "+field.RollsAll),
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
