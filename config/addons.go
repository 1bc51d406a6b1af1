package config

import (
	"reflect"

	"gopkg.in/yaml.v3"

	"tombolo/config/addon"
)

// This file lets the decoder read the catalogue of addons as if it were a
// struct with a field for each.

var selectionType = reflect.TypeFor[addon.Selection]()

// addonFields are the keys of a selection: the catalogue's names.
func addonFields() []field {
	all := addon.All()
	out := make([]field, len(all))
	for i, a := range all {
		out[i] = field{name: a.Name, index: i, typ: reflect.PointerTo(a.Options())}
	}
	return out
}

// selection reads addons and their options.
func (d *decoder) selection(n *yaml.Node, p path, dst reflect.Value) {
	selected := map[string]reflect.Value{}
	d.structure(n, p, selectionType, func(f field) reflect.Value {
		selected[f.name] = reflect.New(f.typ).Elem()
		return selected[f.name]
	})
	out := addon.Selection{}
	for name, options := range selected {
		if !options.IsNil() {
			out[name] = options.Interface()
		}
	}
	dst.Set(reflect.ValueOf(out))
}

// ruleOf is the rule of a field of the cluster file or of an addon's options.
func ruleOf(name string) rule {
	if r, ok := rules[name]; ok {
		return r
	}
	r, _ := addon.RuleOf(name)
	return rule{
		what: r.What, noun: r.Noun, example: r.Example, allowed: r.Allowed, pattern: r.Pattern,
		maxLength: r.MaxLength, least: r.Least, most: r.Most, minItems: r.MinItems, byDefault: r.Default,
	}
}

// AddonFacts are the facts about the cluster that addons start from.
func (c *Cluster) AddonFacts() addon.Facts {
	return addon.Facts{
		Cluster: c.Name, Environment: c.Environment,
		Region: c.Cloud.Region, Account: c.Cloud.Account, Partition: Partition(c.Cloud.Region),
		OwnNetwork: c.Network.Existing == nil, Enabled: c.Addons.Names(),
	}
}
