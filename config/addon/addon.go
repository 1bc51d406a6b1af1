// Package addon is the catalogue of addons: third-party software on a cluster,
// with its needs in the cloud and the values that its chart gets.
//
// Each addon is a file of this package that registers it. Addons are data and
// pure functions: stacks make their needs; the check and the writer of
// platform trees read them without a cloud. docs/guide/addons.md says how to
// add one.
package addon

import (
	"cmp"
	"reflect"
	"slices"

	"tombolo/config/field"
	"tombolo/internal/names"
)

// Stage of the platform tree that an addon's release is in. Each stage waits
// until the one before is ready.
type Stage string

// The stages of addons, in their order. After them come the apps.
const (
	// Definitions is where the custom resource definitions are. An addon is among them
	// when everything else may need it.
	Definitions Stage = "crds"
	// Karpenter comes first: all others may need the nodes that it makes.
	Karpenter Stage = "karpenter"
	// LoadBalancerController comes before all that make Services: its webhook
	// refuses them until it runs.
	LoadBalancerController Stage = "load-balancer-controller"
	// Others is everything else.
	Others Stage = "addons"
)

// Stages are the stages of addons in their order.
func Stages() []Stage { return []Stage{Definitions, Karpenter, LoadBalancerController, Others} }

// Addon is one entry of the catalogue.
type Addon struct {
	// Name is the addon's key in a cluster file's addons. Its folder in the
	// platform tree, its release and its ConfigMap <name>-values have this name.
	Name string
	// Summary is the addon's purpose in one sentence.
	Summary string
	// Namespace of its release and its values ConfigMap.
	Namespace string
	// NamespaceLabels are needed on that namespace, such as a Pod Security level.
	NamespaceLabels map[string]string
	// Stage of its release.
	Stage Stage
	// Requires names the addons that must be turned on with it on every cloud, RequiresOn
	// those of one cloud, such as azure, alone.
	Requires   []string
	RequiresOn map[string][]string
	// NotOn are the clouds that the addon is not for, such as azure, each with what to do
	// there; none for an addon that is for all.
	NotOn map[string]Instead
	// Ended says that upstream makes no releases any more; nil while it does.
	Ended *End

	fields  field.Set
	options reflect.Type
	needs   func(Facts, any) Needs
	keys    []Key
	values  func(Facts, any, Outputs) map[string]any
	check   func(any, Selection) []Problem

	unpublished func(any) []string
}

// Instead says why an addon is not for a cloud, and what to do there.
type Instead struct {
	// Reason is a sentence about the addon, without its name.
	Reason string
	// Remedy says what to do.
	Remedy string
}

// Azure and AWS are the names of the clouds in NotOn, RequiresOn and Facts.
const (
	Azure = "azure"
	AWS   = "aws"
)

// notOnAzure is NotOn of an addon for all clouds but Azure.
func notOnAzure(reason, remedy string) map[string]Instead {
	return map[string]Instead{Azure: {Reason: reason, Remedy: remedy}}
}

// End is the end of an addon's software.
type End struct {
	// Date, such as 2026-03-02, after which there are no releases.
	Date string
	// Successor is the addon that does the same.
	Successor string
}

// Key is a key that an addon adds to the infra ConfigMap.
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
	// Path within the options, such as zones[0].name. Empty for the addon itself.
	Path string
	// Warning says that it may be right none the less.
	Warning bool
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

// Required are the addons that must be turned on with it on a cloud.
func (a *Addon) Required(cloud string) []string {
	return slices.Concat(a.Requires, a.RequiresOn[cloud])
}

// HasValues says whether the addon has Helm values to publish. An addon without
// values exists only in the cloud, or needs nothing from it.
func (a *Addon) HasValues() bool { return a.values != nil }

// Options is the struct type of the addon's options.
func (a *Addon) Options() reflect.Type { return a.options }

// Keys that the addon may add to the infra ConfigMap.
func (a *Addon) Keys() []Key { return slices.Clone(a.keys) }

// Keys that the addon adds to the infra ConfigMap with its options.
func (e Enabled) Keys() []Key {
	without := e.unpublished(e.Options)
	return slices.DeleteFunc(e.Addon.Keys(), func(k Key) bool { return slices.Contains(without, k.Name) })
}

// Needs of the addon in the cloud. options is a pointer to its options.
func (a *Addon) Needs(f Facts, options any) Needs { return a.needs(f, options) }

// Values are the addon's Helm values, in the shape that its chart takes.
func (a *Addon) Values(f Facts, options any, out Outputs) map[string]any {
	return a.values(f, options, out)
}

// Check finds problems that involve several options, or other addons. all are
// the addons that are turned on.
func (a *Addon) Check(options any, all Selection) []Problem { return a.check(options, all) }

// Value of the key for a cluster.
func (k Key) Value(f Facts, options any, out Outputs) string { return k.value(f, options, out) }
