package config

import (
	"maps"
	"slices"

	"tombolo/config/addon"
)

// Effect is what a change of a key of the cluster file does to a cluster that lives.
type Effect string

// The effects, the mildest first.
const (
	// InPlace changes what is there. Nodes and the control plane stay.
	InPlace Effect = "in place"
	// RollsNodes has the cloud replace the nodes of a group one after another, each drained
	// before. The group stays.
	RollsNodes Effect = "rolls nodes"
	// ReplacesNodeGroup makes a new node group, and deletes the old one afterwards.
	ReplacesNodeGroup Effect = "replaces node group"
	// NeedsRebuild is what a live cluster keeps: it is refused. Only a cluster that is
	// destroyed and made anew has another value.
	NeedsRebuild Effect = "needs rebuild"
	// Impossible is what the cloud refuses, or what makes another cluster: it is refused.
	Impossible Effect = "impossible"
)

// Effects lists all effects, the mildest first.
func Effects() []Effect {
	return []Effect{InPlace, RollsNodes, ReplacesNodeGroup, NeedsRebuild, Impossible}
}

// Refused says that an up refuses such a change before anything starts.
func (e Effect) Refused() bool { return e == NeedsRebuild || e == Impossible }

// worse says that the effect is graver than another.
func (e Effect) worse(than Effect) bool {
	return slices.Index(Effects(), e) > slices.Index(Effects(), than)
}

// Case is a way in which a key can change, with what that does.
type Case struct {
	// When says which changes are meant, such as "turned off"; "" for all others.
	When string
	// Effect of the change.
	Effect Effect
	// Words say what happens, as a part of a sentence.
	Words string
	// Remedy says what to do in place of a change that is refused.
	Remedy string

	// applies says whether a change is one of them; nil for all others.
	applies func(change) bool
}

// EffectsOf are the cases of a field of the cluster file's types in files for AWS: see
// EffectsOn.
func EffectsOf(field string) []Case { return EffectsOn(AWS, field) }

// EffectsOn are the cases of a field of the cluster file's types, such as "Network.CIDR", on
// a cloud, in the order in which they are tried; the last is for all other changes. There
// are none for a section, which has keys with effects of their own, and for what is no key.
func EffectsOn(p Provider, field string) []Case {
	if cases, ok := azureEffects[field]; ok && p == Azure {
		return slices.Clone(cases)
	}
	if cases, ok := effects[field]; ok {
		return slices.Clone(cases)
	}
	if words, ok := addon.EffectOf(field); ok {
		return []Case{{Effect: InPlace, Words: words}}
	}
	return nil
}

// EffectFields are the fields with declared effects in files for AWS, sorted, without those
// of addons.
func EffectFields() []string { return slices.Sorted(maps.Keys(effects)) }

// AzureEffectFields are the fields whose effects are declared for files for Azure alone, sorted.
func AzureEffectFields() []string { return slices.Sorted(maps.Keys(azureEffects)) }
