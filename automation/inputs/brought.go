package inputs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/automation/fault"
	"tombolo/automation/gitcmd"
	"tombolo/config"
)

// Line are the commits that HEAD comes from by its first parents, since another one: those that
// requests have brought to the branch.
type Line struct {
	// Commits, the newest first.
	Commits []string
	// Brought are those among them by which an input of the cluster has become another one.
	Brought []string
}

// head is the commit of the checkout.
const head = "HEAD"

// Brought is the line since a commit, with what has changed the inputs of the cluster between that
// commit and HEAD. What a commit did and a later one took back is not in it. It fails with a
// *fault.Error where Git does not tell all of it: a shallow clone, a commit that HEAD does not come
// from, inputs that are not committed. since is "" for a cluster to which nothing was applied:
// then it is what HEAD had before the cluster's file was added.
func Brought(ctx context.Context, root, since string, c *config.Cluster) (Line, error) {
	if _, same, err := AtHead(ctx, root, []*config.Cluster{c}); err != nil || !same[c.Name] {
		return Line{}, cmp.Or(err, untold(c, "what it depends on is not committed", "run it in a clean checkout of the commit"))
	}
	repo, err := openRepository(ctx, root, head)
	if err != nil {
		return Line{}, err
	}
	if shallow, err := repo.git(ctx, "rev-parse", "--is-shallow-repository"); err != nil || strings.TrimSpace(shallow) != "false" {
		return Line{}, cmp.Or(err, untold(c, "the clone is shallow", "fetch all commits, as with `git fetch --unshallow`"))
	}
	if since == "" {
		if since, err = repo.beforeAdded(ctx, c); err != nil {
			return Line{}, err
		}
	}
	return repo.brought(ctx, root, since, c)
}

// untold is the error of what Git does not tell of a cluster.
func untold(c *config.Cluster, why, remedy string) error {
	return &fault.Error{What: fmt.Sprintf("look for the requests that have changed %s: %s", c.Name, why), Remedy: remedy}
}

func (r *repository) brought(ctx context.Context, root, since string, c *config.Cluster) (Line, error) {
	if _, err := r.git(ctx, "cat-file", "-e", since+"^{commit}"); errors.As(err, new(*gitcmd.Refusal)) {
		return Line{}, untold(c, since+" was applied last, and the repository has no such commit", "fetch the branch that it is on, or pass the number of approvals")
	}
	s, err := searchSince(ctx, Options{Root: root, Ref: since})
	if err != nil {
		return Line{}, err
	}
	// A change of a shared file may be without effect now because a later one has the same in another file.
	s.whole = true
	if _, err := r.git(ctx, "merge-base", "--is-ancestor", s.repo.commit, r.commit); err != nil {
		if errors.As(err, new(*gitcmd.Refusal)) {
			err = untold(c, since+" is not among the commits that HEAD comes from", "apply a commit that comes after it, or pass the number of approvals")
		}
		return Line{}, err
	}
	if _, err := s.ofCluster(c, nil); err != nil {
		return Line{}, err
	}
	var line Line
	between := s.repo.commit + ".." + r.commit
	if line.Commits, err = r.lines(ctx, "rev-list", "--first-parent", between); err != nil || len(s.differing) == 0 {
		return line, err
	}
	args := []string{"rev-list", "--first-parent", between, "--"}
	for _, file := range slices.Sorted(maps.Keys(s.differing)) {
		args = append(args, ":(top,literal)"+file)
	}
	line.Brought, err = r.lines(ctx, args...)
	return line, err
}

// beforeAdded is the commit before the one that added the cluster's file.
func (r *repository) beforeAdded(ctx context.Context, c *config.Cluster) (string, error) {
	file, err := r.clusterPath(c)
	if err != nil {
		return "", err
	}
	found, err := r.lines(ctx, "log", "--first-parent", "-m", "--no-renames", "--diff-filter=A", "--format=%H", "--max-count=1", r.commit, "--", ":(top,literal)"+file)
	if err == nil && len(found) == 1 {
		found, err = r.lines(ctx, "rev-list", "--max-count=1", "--skip=1", "--first-parent", found[0])
	}
	if err == nil && len(found) != 1 {
		err = untold(c, "nothing was applied to it, and there is no commit before that of its file", "pass the number of approvals")
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// lines are the lines that git writes.
func (r *repository) lines(ctx context.Context, args ...string) ([]string, error) {
	text, err := r.git(ctx, args...)
	if err != nil {
		return nil, unreadable("list the commits", err)
	}
	return strings.Fields(text), nil
}

// AtHead is the commit of the checkout, and which clusters have the inputs there that the working
// tree has.
func AtHead(ctx context.Context, root string, clusters []*config.Cluster) (commit string, same map[string]bool, err error) {
	s, err := searchSince(ctx, Options{Root: root, Ref: head})
	if err != nil {
		return "", nil, err
	}
	same = map[string]bool{}
	for _, c := range clusters {
		reasons, err := s.ofCluster(c, clusters)
		if err != nil {
			return "", nil, err
		}
		same[c.Name] = len(reasons) == 0
	}
	return s.repo.commit, same, nil
}

func (r *repository) clusterPath(c *config.Cluster) (string, error) {
	file, err := filepath.Abs(c.File)
	if err != nil {
		return "", unreadable("look for "+c.File, err)
	}
	return r.path(file)
}
