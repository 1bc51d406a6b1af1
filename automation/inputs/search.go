package inputs

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/config"
)

// search looks for the inputs of clusters among what has changed.
type search struct {
	repo *repository
	diff diff
	// own are the own stacks of all clusters.
	own []config.OwnStack
	// shared are the reasons that every cluster has.
	shared []Reason
	// tree is the platform tree's path in the repository; "" when trees are not
	// compared.
	tree string
	// show is the content of a file at the commit, by its path in the repository; "" when it was not there.
	show func(file string) (string, error)
	// base load cluster files with a file of shared settings as it was at the commit, by the file's path
	// in the repository; that of "" with all of them.
	base map[string]*config.Loader
	// whole says that a shared file is compared as a cluster file is: by its text.
	whole bool
	// differing are the files among the inputs that have changed, by their paths in the repository.
	differing map[string]bool
	// unseen is what clusters take values from, and Git does not have.
	unseen []Unseen
}

// abs is a path that a cluster file gives, relative to it.
func abs(clusterFile, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(clusterFile), path)
}

// files is a reason with those of the files that have changed; none if none has.
func (s *search) files(input Input, paths ...string) []Reason {
	var changes []Change
	for _, p := range paths {
		if how, ok := s.diff[p]; ok {
			s.differing[p] = true
			changes = append(changes, Change{Name: s.repo.display(p), How: string(how)})
		}
	}
	return reason(input, changes)
}

func reason(input Input, changes []Change) []Reason {
	if len(changes) == 0 {
		return nil
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	return []Reason{{Input: input, Changes: slices.Compact(changes)}}
}

// within returns a file's path below a directory.
func within(dir, file string) (string, bool) {
	if dir == "." {
		return file, true
	}
	return strings.CutPrefix(file, dir+"/")
}
