// Package inputs tells which clusters have other inputs than at a commit of
// the project's repository, and which inputs these are. What an up of a cluster
// depends on is its cluster file, a spoke's hub's, the files that these name,
// the settings of its stacks, and the program: the packages of this module that
// the stacks are made of, and the modules that these are built with.
//
// Only what Git knows is compared: commits, the working tree, and files that
// are not added yet. Secrets in environment variables or in files that Git
// ignores, and what others changed in the cloud, are not seen.
//
// The package knows nothing of the driver.
package inputs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"tombolo/config"
)

// Options of a comparison. Root and Ref are required.
type Options struct {
	// Root is the project's directory, with Pulumi.yaml and clusters/.
	Root string
	// Ref names the commit to compare with, as git does: a branch, a tag, a
	// hash, HEAD~3. It is compared as it is: where the branch has moved on since
	// the work at hand began, give `git merge-base HEAD <branch>`.
	Ref string
	// Tree is the directory of the platform tree, the root of what gitops.path
	// is relative to; it is in the repository of Root. Default: trees are not
	// compared, as no stack reads them.
	Tree string
}

// Report is what has changed.
type Report struct {
	// Clusters maps the name of each cluster with other inputs to the reasons.
	// A cluster that is not in it has the same inputs as at the commit.
	Clusters map[string][]Reason
	// Removed are the cluster files in clusters/ that are there no more, by
	// their paths below Root, sorted. Their stacks may still exist.
	Removed []string
}

// Error is a comparison that could not be made.
type Error struct {
	// What could not be done, and why.
	What string
	// Remedy is what to do about it.
	Remedy string
	// BadRef says that it is Options.Ref that is wrong.
	BadRef bool
	// Err is the cause, if any.
	Err error
}

func (e *Error) Error() string {
	if e.Remedy == "" {
		return e.What
	}
	return e.What + "; " + e.Remedy
}

func (e *Error) Unwrap() error { return e.Err }

// Since compares the inputs of clusters with what they were at o.Ref. The error
// is an *Error where Git, or the program's source, cannot be read.
func Since(ctx context.Context, o Options, clusters []*config.Cluster) (Report, error) {
	repo, err := openRepository(ctx, o.Root, o.Ref)
	if err != nil {
		return Report{}, err
	}
	diff, err := repo.diff(ctx)
	if err != nil {
		return Report{}, err
	}
	s := &search{repo: repo, diff: diff}
	if s.shared, err = s.ofAll(ctx); err != nil {
		return Report{}, err
	}
	if s.tree, err = s.treePath(o.Tree); err != nil {
		return Report{}, err
	}
	report := Report{Clusters: map[string][]Reason{}, Removed: s.removedClusters()}
	for _, c := range clusters {
		reasons, err := s.ofCluster(c, clusters)
		if err != nil {
			return Report{}, err
		}
		if len(reasons) > 0 {
			report.Clusters[c.Name] = reasons
		}
	}
	return report, nil
}

// search looks for the inputs of clusters among what has changed.
type search struct {
	repo *repository
	diff diff
	// shared are the reasons that every cluster has.
	shared []Reason
	// tree is the platform tree's path in the repository; "" when trees are not
	// compared.
	tree string
}

// ofAll gathers what every cluster depends on.
func (s *search) ofAll(ctx context.Context) ([]Reason, error) {
	project, err := s.repo.path("Pulumi.yaml")
	if err != nil {
		return nil, err
	}
	reasons := s.files(ProjectFile, project)
	program, err := s.program(ctx)
	return append(reasons, program...), err
}

// abs is a path that a cluster file gives, relative to it.
func abs(clusterFile, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(clusterFile), path)
}

// removedClusters are the cluster files of the project that are gone.
func (s *search) removedClusters() []string {
	dir := s.repo.below(clustersDir)
	var out []string
	for _, path := range slices.Sorted(maps.Keys(s.diff)) {
		if s.diff[path] == removed && isClusterFile(dir, path) {
			out = append(out, s.repo.display(path))
		}
	}
	return out
}

// files is a reason with those of the files that have changed; none if none has.
func (s *search) files(input Input, paths ...string) []Reason {
	var changes []Change
	for _, p := range paths {
		if how, ok := s.diff[p]; ok {
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

func unreadable(what string, err error) error {
	return &Error{What: fmt.Sprintf("--changed-since: %s: %v", what, err), Err: err}
}
