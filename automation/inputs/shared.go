package inputs

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"

	"tombolo/config"
	filesystem "tombolo/internal/file"
	"tombolo/internal/wording"
)

// This file is about the settings that clusters share. A change of them touches the clusters that are
// others by it, and not all that have the file under their own.

// Shared is a file of shared settings that is not what it was.
type Shared struct {
	Change
	// Clusters that are others by it, sorted.
	Clusters []string `json:"clusters"`
}

// String is a line such as "clusters/_prod.yaml changed: 12 clusters".
func (s Shared) String() string {
	what := wording.Count(len(s.Clusters), "cluster")
	if len(s.Clusters) == 0 {
		what = "no cluster is another one by it"
	}
	return fmt.Sprintf("%s %s: %s", s.Name, s.How, what)
}

// sharedOf are the shared files of a cluster by whose changes it is another one.
func (s *search) sharedOf(c *config.Cluster) []string {
	var changed []string
	for _, file := range c.SharedFiles() {
		inRepo, ok := s.inRepo(file)
		if !ok {
			continue
		}
		if _, err := os.Lstat(file); err == nil && !s.repo.known[inRepo] && s.diff[inRepo] == "" {
			s.diff[inRepo] = added // Git ignores it, and the cluster has its settings
		}
		if s.diff[inRepo] != "" {
			changed = append(changed, inRepo)
		}
	}
	if s.whole {
		return changed
	}
	if len(changed) == 0 || !s.another(c, "") {
		return nil
	}
	alone := slices.DeleteFunc(slices.Clone(changed), func(inRepo string) bool { return !s.another(c, inRepo) })
	if len(alone) == 0 {
		return changed // together
	}
	return alone
}

// another says whether the cluster would be another one with a shared file as it was at the commit, or
// with all of them.
func (s *search) another(c *config.Cluster, inRepo string) bool {
	loader := s.base[inRepo]
	if loader == nil {
		loader = &config.Loader{Read: func(file string) ([]byte, error) { return s.readShared(file, inRepo) }}
		s.base[inRepo] = loader
	}
	was, err := loader.Load(c.File)
	if err != nil {
		return true // it was none that is known
	}
	before, now := *was, *c
	before.Warnings, now.Warnings = nil, nil
	return !reflect.DeepEqual(before, now)
}

// inRepo is where a file is in the repository; false for one elsewhere, which the cluster file's own
// reason says.
func (s *search) inRepo(file string) (string, bool) {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return "", false
	}
	inRepo, err := s.repo.path(absolute)
	return inRepo, err == nil
}

// readShared reads a file of shared settings: that in the repository, or each for "", as it was at the
// commit.
func (s *search) readShared(file, of string) ([]byte, error) {
	inRepo, ok := s.inRepo(file)
	ok = ok && (of == "" || of == inRepo)
	switch {
	case ok && s.diff[inRepo] == added:
		return nil, fs.ErrNotExist
	case ok && s.diff[inRepo] != "":
		text, err := s.show(inRepo)
		return []byte(text), err
	}
	return filesystem.ReadInside(file, filesystem.MostText)
}

// sharedChanges are the files of shared settings that have changed, with the clusters that have them
// among their reasons.
func (s *search) sharedChanges(of map[string][]Reason) []Shared {
	var out []Shared
	for _, file := range slices.Sorted(maps.Keys(s.diff)) {
		if !config.IsShared(file) || path.Dir(file) != s.repo.below(clustersDir) || path.Ext(file) != ".yaml" {
			continue
		}
		shared := Shared{Change: Change{Name: s.repo.display(file), How: string(s.diff[file])}, Clusters: []string{}}
		for _, name := range slices.Sorted(maps.Keys(of)) {
			if slices.ContainsFunc(of[name], func(r Reason) bool {
				return r.Input == SharedFile && slices.Contains(r.Changes, shared.Change)
			}) {
				shared.Clusters = append(shared.Clusters, name)
			}
		}
		out = append(out, shared)
	}
	return out
}
