package field

import "slices"

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

// Worse says that the effect is graver than another.
func (e Effect) Worse(than Effect) bool {
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
	// Applies says whether a change is one of them; nil for all others.
	Applies func(Change) bool
}

// Always is the case of a key whose changes all have one effect.
func Always(effect Effect, words string) []Case { return []Case{{Effect: effect, Words: words}} }

// Changes is the case of a key that is changed in place.
func Changes(words string) []Case { return Always(InPlace, words) }

// ComesAndGoes are the cases of a key, or of an item of a list, that is made and removed in place.
func ComesAndGoes(made, removed string) []Case {
	return []Case{{When: "removed", Effect: InPlace, Words: removed, Applies: Change.TakesAway}, {Effect: InPlace, Words: made}}
}

// Keeps is the case of a key that a live cluster keeps.
func Keeps(words string) []Case {
	return []Case{{Effect: NeedsRebuild, Words: words, Remedy: RebuildRemedy}}
}

// RebuildRemedy is what is left to do about a change that a live cluster does not take.
const RebuildRemedy = "take the change back, or make the cluster anew: `tombolo destroy`, then `tombolo up`"

// RollsAll are the words of a change by which EKS rolls the nodes of all groups.
const RollsAll = "the launch template gets a new version, and EKS rolls the nodes of every group"

// Outside are the words of a change that nothing in the cluster is made of.
const Outside = "it is read by tombolo; nothing in the cluster changes"

// Change is what a case is chosen by.
type Change struct {
	// Before and After are the values of the key; of an item of a list that came or went, its
	// name on one side and nil on the other.
	Before, After any
	// Live is what cases look at of the live cluster beside the key, and File that of the file.
	Live, File Facts
	// ControlPlaneZones are those that the control plane was made in.
	ControlPlaneZones []string
	// HasRoom says whether the network has room for subnets in zones beside those it has.
	HasRoom func(zones []string) bool
}

// Facts are what the changes of several keys depend on.
type Facts struct {
	// Existing says that others own the cluster, Auto that EKS makes the nodes, Proxied that
	// nodes have a proxy, and Encrypts that Secrets are encrypted.
	Existing, Auto, Proxied, Encrypts bool
	// RollBack lets Kubernetes go back to the minor before.
	RollBack bool
	// LongTerm says that the cloud supports the version beyond the community's support.
	LongTerm bool
	// Version of Kubernetes, and Nodes that of the node groups, as minors such as 35.
	Version, Nodes int
	// FirstPool is the node group that AKS makes the cluster with.
	FirstPool string
}

// TakesAway says that what was there is gone.
func (c Change) TakesAway() bool { return c.After == nil }

// GoesByProxy says that nodes have a proxy, before or after.
func (c Change) GoesByProxy() bool { return c.File.Proxied || c.Live.Proxied }

// GivesOrTakes says that a text is there on one side only.
func (c Change) GivesOrTakes() bool { return (c.Before == "") != (c.After == "") }

// Minors is how many minor versions of Kubernetes the change goes on, negative for back.
func (c Change) Minors() int { return c.File.Version - c.Live.Version }

// NodeMinors is how many minor versions the node groups go on, negative for back.
func (c Change) NodeMinors() int { return c.File.Nodes - c.Live.Nodes }

// SkipsMinors says that Kubernetes goes on by more than one minor version, as AKS lets a cluster with
// long-term support go: no further than its nodes may be behind. Source: "Kubernetes version upgrade rules" in
// https://learn.microsoft.com/azure/aks/upgrade-aks-control-plane
func (c Change) SkipsMinors(behind int) bool {
	return c.Minors() > 1 && c.Live.LongTerm && c.File.LongTerm && c.File.Version-c.Live.Nodes <= behind
}

// HoldsNodes says that the file keeps the node groups at the version that they have.
func (c Change) HoldsNodes() bool { return c.NodeMinors() == 0 }
