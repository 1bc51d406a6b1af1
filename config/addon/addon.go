// Package addon is the catalogue of addons: software of others that a cluster
// runs, with what it needs from the cloud and what it has to know about it.
//
// One addon is one file here, which registers one definition. Definitions are
// data and pure functions: stacks make what they ask for, the contract check
// and the platform tree's writer read them without a cloud. The guide
// docs/guide/addons.md adds one.
package addon

import (
	"cmp"
	"reflect"
	"slices"

	"tombolo/config/strict"
	"tombolo/internal/names"
)

// Stage of the platform tree that an addon's release is in. Each stage waits
// until the one before is ready.
type Stage string

// The stages of addons, in their order. Before them come the custom resource
// definitions, after them the apps.
const (
	// Karpenter comes first: whatever follows may need the nodes it makes.
	Karpenter Stage = "karpenter"
	// LoadBalancerController comes before whatever makes Services: its webhook
	// refuses them until it runs.
	LoadBalancerController Stage = "load-balancer-controller"
	// Others is everything else.
	Others Stage = "addons"
)

// Stages are the stages of addons in their order.
func Stages() []Stage { return []Stage{Karpenter, LoadBalancerController, Others} }

// Addon is one entry of the catalogue.
type Addon struct {
	// Name is the addon's key in a cluster file's addons, and what its folder
	// in the platform tree, its release and its values ConfigMap
	// (<name>-values) are called after.
	Name string
	// Summary says what it is for, in one sentence.
	Summary string
	// Namespace of its release and its values ConfigMap.
	Namespace string
	// NamespaceLabels are needed on that namespace, such as a Pod Security level.
	NamespaceLabels map[string]string
	// Stage of its release.
	Stage Stage
	// Requires names the addons that must be turned on with it.
	Requires []string

	rules   map[string]strict.Rule
	options reflect.Type
	needs   func(Facts, any) Needs
	keys    []Key
	values  func(Facts, any, Outputs) map[string]any
	check   func(any, Selection) []Problem
}

// Key is a key that an addon adds to the general ConfigMap.
type Key struct {
	// Name of the key, also of the variable ${name} in manifests.
	Name string
	// Description for the reference.
	Description string
	// Example of a value.
	Example string

	value func(Facts, any, Outputs) string
}

// Problem is something wrong with an addon's options.
type Problem struct {
	// Path within the options, such as zones[0].name.
	Path string
	// Message says what is wrong, Remedy what to do.
	Message, Remedy string
}

// catalogue of the registered addons, by name.
var catalogue = map[string]*Addon{}

// All are the addons of the catalogue, by stage and then by name.
func All() []*Addon {
	all := make([]*Addon, 0, len(catalogue))
	for _, a := range catalogue {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *Addon) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Stages(), a.Stage), slices.Index(Stages(), b.Stage)),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return all
}

// Find returns the addon of a name, or nil.
func Find(name string) *Addon { return catalogue[name] }

// ValuesName is the name of the addon's ConfigMap of Helm values.
func (a *Addon) ValuesName() string { return names.Values(a.Name) }

// HasValues tells whether the addon has Helm values to publish: one without is
// made in the cloud alone, or needs nothing from it.
func (a *Addon) HasValues() bool { return a.values != nil }

// Options is the struct type of the addon's options.
func (a *Addon) Options() reflect.Type { return a.options }

// Keys that the addon adds to the general ConfigMap.
func (a *Addon) Keys() []Key { return slices.Clone(a.keys) }

// Needs of the addon in the cloud. options is a pointer to its options.
func (a *Addon) Needs(f Facts, options any) Needs { return a.needs(f, options) }

// Values are the addon's Helm values, in the shape that its chart takes.
func (a *Addon) Values(f Facts, options any, out Outputs) map[string]any {
	return a.values(f, options, out)
}

// Check finds what is wrong with the options beyond single values. all are the
// addons that are turned on with it.
func (a *Addon) Check(options any, all Selection) []Problem { return a.check(options, all) }

// Value of the key for a cluster.
func (k Key) Value(f Facts, options any, out Outputs) string { return k.value(f, options, out) }
