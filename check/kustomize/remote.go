package kustomize

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"tombolo/check/tree"
)

// Kind says what kustomize makes of a reference that is no path of the tree.
type Kind string

const (
	// Outside is what no engine builds: a place of the machine that builds, or one above
	// the tree.
	Outside Kind = "outside"
	// Git is what kustomize starts Git for.
	Git Kind = "git"
	// HTTP is the address of a manifest, which kustomize fetches by itself.
	HTTP Kind = "http"
	// Address is one that kustomize fetches, or starts Git for where that brings no manifest.
	Address Kind = "address"
	// Unclear is a name that could be a file's or a repository's.
	Unclear Kind = "unclear"
)

var (
	// keyBefore is the name= before a generator's file.
	keyBefore = regexp.MustCompile(`^[-._a-zA-Z0-9]+=`)
	// userBefore is the user before a host, as kustomize knows repositories by.
	userBefore = regexp.MustCompile(`^[a-z][-a-z0-9]*@[^/:]+[/:]`)
	// gitMarks are in the path of a repository, which kustomize parts from a directory in it.
	// Source: NewRepoSpecFromURL in api/internal/git/repospec.go of kubernetes-sigs/kustomize.
	gitMarks = regexp.MustCompile(`\.git(/|$)|/_git/|//`)
)

// KindOf is what a reference is in a kustomization file of a directory of the tree.
func KindOf(dir, reference string) Kind {
	r := strings.ToLower(keyBefore.ReplaceAllString(reference, ""))
	forced := strings.HasPrefix(r, "git::")
	for strings.HasPrefix(r, "git::") {
		r = strings.TrimPrefix(r, "git::")
	}
	scheme, _, isURL := strings.Cut(r, "://")
	switch {
	case path.IsAbs(r), strings.HasPrefix(r, "file:"), !isURL && tree.Leaves(dir, r):
		return Outside
	case forced, isURL && scheme != "http" && scheme != "https", userBefore.MatchString(r), strings.HasPrefix(r, "github.com/"), strings.HasPrefix(r, "github.com:"):
		return Git
	case isURL:
		return kindOfAddress(r)
	}
	return Unclear
}

func kindOfAddress(address string) Kind {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return Address
	case gitMarks.MatchString(u.Path), u.User != nil, u.Query().Has("ref"), u.Query().Has("version"):
		return Git
	case slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(u.Path)):
		return HTTP
	case u.Hostname() == "github.com" && strings.Count(strings.Trim(u.Path, "/"), "/") == 1:
		return Git
	}
	return Address
}
