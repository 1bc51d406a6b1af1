package lab

import "errors"

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

// profile is the setting that a lab keeps its profile in.
func (l *Lab) profile() setting[Profile] {
	return setting[Profile]{what: "profile", file: l.paths().profile(), variable: ProfileVariable, all: Profiles()}
}

// ErrOtherProfile is wrapped where a lab has another profile than was asked for.
var ErrOtherProfile = errors.New("a lab keeps its profile: run `tombolo lab down`, which removes it, first")

// ChooseProfile gives a lab that is yet to be made its profile. It fails with
// ErrOtherProfile where the lab exists and has another.
func (l *Lab) ChooseProfile(p Profile) error { return l.profile().choose(p, ErrOtherProfile) }

// Profile is the lab's. One that is yet to be made has the environment's, and
// Full by default.
func (l *Lab) Profile() (Profile, error) { return l.profile().get() }
