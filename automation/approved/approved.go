// Package approved has the plan that people approve: what an up would do to each
// cluster of a run, as a file whose digest stands for all of it. An up that is given
// the file does what is in it and nothing else.
//
// The file is canonical JSON as in RFC 8785, so that the same plan is the same bytes.
// It holds no value of any resource, only digests of inputs. Where a key is known they
// are keyed (see Key), so that nobody who reads the file can guess a secret by its
// digest; else what is secret is left out of them.
//
// The package knows nothing of the driver. Pulumi's own update plans are experimental,
// and know one stack: see docs/adr/0029-what-was-approved-is-what-is-applied.md.
package approved

import (
	"cmp"
	"slices"

	"tombolo/stacks"
)

// Version of the file's format.
const Version = 1

// Plan is what an up of a run would do.
type Plan struct {
	// Version of the format: the constant of that name.
	Version int `json:"version"`
	// Program that made the plan.
	Program Program `json:"program"`
	// Refresh says that the clusters were compared with the cloud, not only with
	// their states. The up compares alike.
	Refresh bool `json:"refresh"`
	// Waves in the order in which the up works on them.
	Waves []Wave `json:"waves"`
}

// Wave has the clusters that go together.
type Wave struct {
	Wave int `json:"wave"`
	// Clusters by name.
	Clusters []Cluster `json:"clusters"`
}

// Cluster is what an up would do to one cluster.
type Cluster struct {
	Name string `json:"name"`
	// File is the digest of the cluster file, Hub of the hub's; "" without a hub.
	File string `json:"file"`
	Hub  string `json:"hub,omitempty"`
	// Shared are the digests of the files of shared settings that the cluster and its hub have, by
	// their names.
	Shared map[string]string `json:"shared,omitempty"`
	// Keyed says that the digests of inputs are keyed. Without a key they do not say
	// which value a secret has.
	Keyed bool `json:"keyed"`
	// WithoutSecrets says that no secret was decrypted. The up compares alike, and takes the
	// secrets as it finds them.
	WithoutSecrets bool `json:"withoutSecrets,omitempty"`
	// Secrets are keyed digests of the secrets in the environment and in files that were there
	// for a plan without secrets, by the key of the cluster file that names them.
	Secrets map[string]string `json:"secrets,omitempty"`
	// Stacks in the order in which they are made, and after them the own stacks in theirs.
	Stacks []Stack `json:"stacks"`
}

// Stack is what an up would do to one stack.
type Stack struct {
	// Name of the stack, without its backend.
	Name string      `json:"name"`
	Kind stacks.Kind `json:"kind"`
	// State that the stack had; nil for one that did not exist.
	State *State `json:"state,omitempty"`
	// AfterCore says that the steps follow from an up of core, or of the hub's, that
	// comes before: what is unknown in them is known only then.
	AfterCore bool `json:"afterCore"`
	// Steps by URN and operation. What stays is no step.
	Steps []Step `json:"steps"`
	// Unseen are the URNs of resources that have inputs which no plan without secrets sees, sorted.
	// The up may update them.
	Unseen []string `json:"unseen,omitempty"`
}

// State is by what a state is known again. Pulumi's states have no serial: the time at
// which one was written, and its content, stand in its place.
type State struct {
	// Time at which the state was written, as it has it itself.
	Time string `json:"time"`
	// Digest of the deployment in the state, with its secrets encrypted.
	Digest string `json:"digest"`
}

// Step is one step of the Pulumi engine.
type Step struct {
	URN string `json:"urn"`
	// Op in the engine's words, such as create or delete-replaced. Two are ours:
	// OpState and OpOutputs.
	Op string `json:"op"`
	// Inputs is the digest of the resource's inputs, with a mark in the place of each
	// value that is not known.
	Inputs string `json:"inputs"`
	// Unknown are the JSON Pointers of these values (RFC 6901), sorted.
	Unknown []string `json:"unknown,omitempty"`
}

// Operations that are none of the engine's: it calls both "same", but an up writes
// them into the state.
const (
	// OpState changes what the state says of a resource, such as its protection.
	OpState = "state"
	// OpOutputs changes the outputs of the stack.
	OpOutputs = "outputs"
)

// NewPlan puts clusters into their waves. wave says which is whose.
func NewPlan(p Program, refresh bool, all []Cluster, wave func(cluster string) int) Plan {
	plan := Plan{Version: Version, Program: p, Refresh: refresh, Waves: []Wave{}}
	byWave := map[int][]Cluster{}
	for _, c := range all {
		byWave[wave(c.Name)] = append(byWave[wave(c.Name)], c)
	}
	for n, members := range byWave {
		slices.SortFunc(members, func(a, b Cluster) int { return cmp.Compare(a.Name, b.Name) })
		plan.Waves = append(plan.Waves, Wave{Wave: n, Clusters: members})
	}
	slices.SortFunc(plan.Waves, func(a, b Wave) int { return cmp.Compare(a.Wave, b.Wave) })
	return plan
}

// Clusters of all waves.
func (p Plan) Clusters() []Cluster {
	var out []Cluster
	for _, w := range p.Waves {
		out = append(out, w.Clusters...)
	}
	return out
}

// Cluster of that name; nil when the plan has none.
func (p Plan) Cluster(name string) *Cluster {
	for _, c := range p.Clusters() {
		if c.Name == name {
			return &c
		}
	}
	return nil
}

// Empty says that the up has nothing to do.
func (p Plan) Empty() bool { return !slices.ContainsFunc(p.Clusters(), Cluster.Changes) }

// Changes says that the up has something to do to the cluster.
func (c Cluster) Changes() bool {
	return slices.ContainsFunc(c.Stacks, func(s Stack) bool { return len(s.Steps) > 0 })
}

// MayChange says that the plan, which has no secrets, cannot tell whether the up has something to do
// to the cluster.
func (c Cluster) MayChange() bool {
	return !c.Changes() && slices.ContainsFunc(c.Stacks, Stack.MayChange)
}

// MayChange says that the up has something to do to the stack, or that it may have.
func (s Stack) MayChange() bool { return len(s.Steps) > 0 || len(s.Unseen) > 0 }

// Stack of that kind; nil when the plan has none.
func (c Cluster) Stack(k stacks.Kind) *Stack {
	for i := range c.Stacks {
		if c.Stacks[i].Kind == k {
			return &c.Stacks[i]
		}
	}
	return nil
}
