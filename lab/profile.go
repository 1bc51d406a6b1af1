package lab

import (
	"errors"

	"tombolo/lab/control"
)

// Profile says how much of a cluster runs in a lab.
type Profile = control.Profile

// The profiles.
const (
	Full        = control.Full
	Light       = control.Light
	LightEngine = control.LightEngine
)

// profile is the setting that a lab keeps its profile in.
func (l *Lab) profile() setting[Profile] {
	return setting[Profile]{what: "profile", file: l.paths().profile(), variable: control.ProfileVariable, all: control.Profiles()}
}

// ErrOtherProfile is wrapped where a lab has another profile than was asked for.
var ErrOtherProfile = errors.New("a lab keeps its profile: run `tombolo lab down`, which removes it, first")

// ChooseProfile gives a lab that is yet to be made its profile. It fails with
// ErrOtherProfile where the lab exists and has another.
func (l *Lab) ChooseProfile(p Profile) error { return l.profile().choose(p, ErrOtherProfile) }

// Profile is the lab's. One that is yet to be made has the environment's, and
// Full by default.
func (l *Lab) Profile() (Profile, error) { return l.profile().get() }
