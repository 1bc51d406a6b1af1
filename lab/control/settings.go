package control

// Profile says how much of a cluster runs in a lab.
type Profile string

// The profiles.
const (
	// Full is a whole control plane for each cluster, and its engine's
	// controllers: about 1 GiB a cluster, see docs/guide/lab.md.
	Full Profile = "full"
	// Light is an API server for each cluster, all on one etcd, and nothing
	// else: nodes and workloads are said to be ready, and no engine runs, so
	// that `tombolo verify` would wait in vain.
	Light Profile = "light"
	// LightEngine is Light with the controllers of Flux and Argo CD. What
	// belongs to a deleted object is not collected.
	LightEngine Profile = "light-engine"
)

// Profiles lists them all.
func Profiles() []Profile { return []Profile{Full, Light, LightEngine} }

// ProfileVariable is the environment variable with the profile of a lab that
// is made while it is set.
const ProfileVariable = "TOMBOLO_LAB_PROFILE"

// Network is where this machine stands to the networks of a lab's clusters.
type Network string

// The networks.
const (
	// OpenNetwork has no outside: this machine reaches every cluster.
	OpenNetwork Network = "open"
	// ClosedNetwork has this machine outside. The private endpoint of a cluster without a
	// public one has a name that is not known there, and only the runner, a proxy inside,
	// leads to it, from addresses that the cluster's security group lets in.
	ClosedNetwork Network = "closed"
)

// Networks lists them all.
func Networks() []Network { return []Network{OpenNetwork, ClosedNetwork} }

// NetworkVariable is the environment variable with the network of a lab that is made while
// it is set.
const NetworkVariable = "TOMBOLO_LAB_NETWORK"
