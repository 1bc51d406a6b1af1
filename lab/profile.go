package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

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

// ParseProfile reads the name of a profile.
func ParseProfile(name string) (Profile, error) {
	if p := Profile(name); slices.Contains(Profiles(), p) {
		return p, nil
	}
	var names []string
	for _, p := range Profiles() {
		names = append(names, string(p))
	}
	return "", fmt.Errorf("%q is no profile of the lab; use one of %s", name, strings.Join(names, ", "))
}

// ErrOtherProfile is wrapped where a lab has another profile than was asked for.
var ErrOtherProfile = errors.New("a lab keeps its profile: run `tombolo lab down`, which removes it, first")

// ChooseProfile gives a lab that is yet to be made its profile. It fails with
// ErrOtherProfile where the lab exists and has another.
func (l *Lab) ChooseProfile(p Profile) error {
	if _, err := ParseProfile(string(p)); err != nil {
		return err
	}
	kept, found, err := l.keptProfile()
	if err != nil {
		return err
	}
	if found && kept != p {
		return fmt.Errorf("choose the profile %s: the lab's is %s; %w", p, kept, ErrOtherProfile)
	}
	return l.keepProfile(p)
}

// Profile is the lab's. One that is yet to be made has the environment's, and
// Full by default.
func (l *Lab) Profile() (Profile, error) {
	kept, found, err := l.keptProfile()
	if found || err != nil {
		return kept, err
	}
	name := os.Getenv(ProfileVariable)
	if name == "" {
		return Full, nil
	}
	p, err := ParseProfile(name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", ProfileVariable, err)
	}
	return p, nil
}

// keptProfile is the one that the lab was made with; false when there is none.
func (l *Lab) keptProfile() (Profile, bool, error) {
	data, err := os.ReadFile(l.paths().profile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read the lab's profile: %w", err)
	}
	p, err := ParseProfile(strings.TrimSpace(string(data)))
	if err != nil {
		return "", false, fmt.Errorf("read the lab's profile: %w; run `tombolo lab down`", err)
	}
	return p, true, nil
}

func (l *Lab) keepProfile(p Profile) error {
	if err := os.MkdirAll(l.paths().dir(), 0o755); err != nil {
		return fmt.Errorf("make the lab's directory: %w", err)
	}
	if err := os.WriteFile(l.paths().profile(), []byte(p+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the lab's profile: %w", err)
	}
	return nil
}
