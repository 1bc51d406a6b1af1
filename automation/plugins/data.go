package plugins

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
)

// Digest is that of one archive.
type Digest struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Platform string `json:"platform"`
	// SHA256 of the archive, in hex.
	SHA256 string `json:"sha256"`
	// Source is where the digest is from: a list that others keep, or the address
	// that `make plugins-lock` fetched the archive from for the first time.
	Source string `json:"source"`
}

//go:embed lock.json
var lockJSON []byte

// Lock has the digests that were reviewed.
type Lock []Digest

// Locked are the digests that this program was built with.
func Locked() Lock {
	lock, err := ReadLock(lockJSON)
	if err != nil {
		panic(err) // a test reads it
	}
	return lock
}

// ReadLock reads the text of a lock file.
func ReadLock(text []byte) (Lock, error) {
	var lock Lock
	err := json.Unmarshal(text, &lock)
	return lock, err
}

// Of is the digest of a plugin's archive; false where none is known.
func (l Lock) Of(p Plugin, platform string) (Digest, bool) {
	i := slices.IndexFunc(l, func(d Digest) bool {
		return d.Name == p.Name && d.Version == p.Version && d.Platform == platform
	})
	if i < 0 {
		return Digest{}, false
	}
	return l[i], true
}

// With is the lock with one more digest, sorted.
func (l Lock) With(d Digest) Lock {
	out := append(slices.Clone(l), d)
	slices.SortFunc(out, func(a, b Digest) int {
		return strings.Compare(a.Name+"-"+a.Version+"-"+a.Platform, b.Name+"-"+b.Version+"-"+b.Platform)
	})
	return out
}

// release is what one released plugin has in it.
type release struct {
	Name, Version string
	// SDKs are the versions of those that it was built with.
	SDKs map[string]string
	// Asks are those of the SDKs for whose plugin it asks the engine. The component of
	// EKS makes a provider of Kubernetes itself, and takes that of AWS from the program.
	Asks []string
	// Source has the versions.
	Source string
}

//go:embed released.json
var releasedJSON []byte

func releases() []release {
	var all []release
	if err := json.Unmarshal(releasedJSON, &all); err != nil {
		panic(err) // a test reads it
	}
	return all
}

// released is what a release asks for: nothing, for those that are no components.
func released(p Plugin) map[string]string {
	asks := map[string]string{}
	for _, r := range releases() {
		if r.Name == p.Name && r.Version == p.Version {
			for _, name := range r.Asks {
				asks[name] = r.SDKs[name]
			}
		}
	}
	return asks
}
