package config

import (
	"slices"

	"tombolo/config/access"
	"tombolo/config/addon"
	"tombolo/config/cloud"
	"tombolo/config/egress"
	"tombolo/config/field"
	"tombolo/config/gitops"
	"tombolo/config/identity"
	"tombolo/config/kubernetes"
	"tombolo/config/network"
	"tombolo/config/nodes"
	"tombolo/config/policy"
	"tombolo/config/secret"
	"tombolo/config/services"
	"tombolo/config/strict"
	"tombolo/config/values"
	"tombolo/config/windows"
)

// described are the descriptors of all fields of all files, by type and field.
var described = field.Join(
	addon.Fields(), clusterFields, accountFields, stateStoreFields, pipelinesFields, previewRoleFields, applyRoleFields,
	cloud.Fields, network.Fields, secret.Fields, egress.Fields, identity.Fields, services.Fields, values.Fields, nodes.Fields, access.Fields, kubernetes.Fields, gitops.Fields, windows.Fields, policy.Fields,
)

// ruleFor is the rule of a field in the files for a cloud.
func ruleFor(p Provider, name string) strict.Rule { return described[name].RuleOn(p) }

// ruleOf is the rule of a field in files for AWS, and in those that are for no cloud.
func ruleOf(name string) strict.Rule { return ruleFor(AWS, name) }

// EffectsOf are the cases of a field of the cluster file's types in files for AWS: see
// EffectsOn.
func EffectsOf(name string) []Case { return EffectsOn(AWS, name) }

// EffectsOn are the cases of a field of the cluster file's types, such as "Network.CIDR", on
// a cloud, in the order in which they are tried; the last is for all other changes. There
// are none for a section, which has keys with effects of their own, and for what is no key.
func EffectsOn(p Provider, name string) []Case { return slices.Clone(described[name].ChangeOn(p)) }

// EffectFields are the fields with declared effects in files for AWS, sorted, without the
// options of addons that are all changed in place.
func EffectFields() []string {
	return fieldsWith(func(name string, d field.Descriptor) bool {
		_, ofAddon := addon.Fields()[name]
		return d.Change != nil && d.Cloud != Azure && (!ofAddon || len(d.Change) > 1)
	})
}

// AzureEffectFields are the fields whose effects are declared for files for Azure alone, sorted.
func AzureEffectFields() []string {
	return fieldsWith(func(_ string, d field.Descriptor) bool {
		return d.AzureChange != nil || d.Change != nil && d.Cloud == Azure
	})
}

func fieldsWith(is func(name string, d field.Descriptor) bool) []string {
	var out []string
	for name, d := range described {
		if is(name, d) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
