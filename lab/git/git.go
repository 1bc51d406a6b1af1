// Package git serves one bare Git repository over HTTP, by git's own
// http-backend, and seeds it from a directory of the checkout.
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Branch that the repository's content is on.
const Branch = "main"

// seedRef remembers the last commit that Seed made, so that it never moves the
// branch away from a commit of the user's.
const seedRef = "refs/lab/seed"

// Repository is a bare repository.
type Repository struct {
	dir  string // the repository itself, …/platform.git
	home string // HOME for git: the user's settings do not reach the lab
}

// Open returns the repository at dir, a path that ends in .git. home is the
// directory that git may take for the user's.
func Open(dir, home string) *Repository { return &Repository{dir: dir, home: home} }

// Seeding is what Seed did.
type Seeding struct {
	// Commit is the branch's head.
	Commit string
	// Changed says that Seed made that commit. Before is the head before it, "" for none.
	Changed bool
	Before  string
	// Note says why the branch was left alone although the directory changed.
	Note string
}

// Seed makes the repository if it does not exist, and commits the content of
// tree to the branch when it differs. A branch with commits of somebody else
// on top is left as it is, and the Note says so.
func (r *Repository) Seed(ctx context.Context, tree string) (Seeding, error) {
	return r.seedFrom(ctx, tree, "--force")
}

// SeedProject is Seed for a directory that Git has, or will have: what its .gitignore names stays out,
// as does what the lab and its tools keep there. The branch has the directory's own commits, so that who
// works there can push to it; what is not committed is a commit of Seed's on top.
func (r *Repository) SeedProject(ctx context.Context, dir string) (Seeding, error) {
	return r.seedFrom(ctx, dir)
}

// projectRef is the commit that was checked out in the directory of SeedProject.
const projectRef = "refs/lab/project"

// project brings the commits of a directory that is the root of a repository, and returns the one that is
// checked out; "" where Git has none to give.
func (r *Repository) project(ctx context.Context, dir string) string {
	below, err := r.git(ctx, nil, "-C", dir, "rev-parse", "--show-prefix")
	if err != nil || below != "" {
		return ""
	}
	if _, err := r.git(ctx, nil, "--git-dir="+r.dir, "fetch", "--quiet", "--no-tags", dir, "+HEAD:"+projectRef); err != nil {
		return "" // no commit yet, or a clone that is shallow
	}
	return r.resolve(ctx, projectRef)
}

// yield takes Seed's commit off the project's before somebody pushes: what is pushed begins at the
// project's own commits.
func (r *Repository) yield(ctx context.Context) {
	head, own := r.head(ctx), r.resolve(ctx, projectRef)
	if own != "" && head != own && head == r.resolve(ctx, seedRef) {
		_, _ = r.git(ctx, nil, "--git-dir="+r.dir, "update-ref", "refs/heads/"+Branch, own) // the push is refused then
	}
}

// Also has a branch follow Branch, whatever is pushed to either.
func (r *Repository) Also(ctx context.Context, branch string) error {
	if branch == Branch {
		return nil
	}
	if _, err := r.git(ctx, nil, "--git-dir="+r.dir, "symbolic-ref", "refs/heads/"+branch, "refs/heads/"+Branch); err != nil {
		return fmt.Errorf("make branch %s in the lab's Git repository: %w", branch, err)
	}
	return nil
}

func (r *Repository) seedFrom(ctx context.Context, tree string, added ...string) (Seeding, error) {
	s, err := r.seed(ctx, tree, added)
	if err != nil {
		return Seeding{}, fmt.Errorf("seed the lab's Git repository from %s: %w", tree, err)
	}
	return s, nil
}

func (r *Repository) seed(ctx context.Context, tree string, added []string) (Seeding, error) {
	if _, err := os.Stat(tree); err != nil {
		return Seeding{}, err
	}
	if err := r.create(ctx); err != nil {
		return Seeding{}, err
	}
	id, err := r.writeTree(ctx, tree, added)
	if err != nil {
		return Seeding{}, err
	}
	own := ""
	if len(added) == 0 {
		own = r.project(ctx, tree)
	}
	head, seeded := r.head(ctx), r.resolve(ctx, seedRef)
	ours := head == "" || head == seeded || own != "" && r.within(ctx, head, own)
	switch {
	case ours && r.resolve(ctx, own+"^{tree}") == id:
		return r.move(ctx, head, own)
	case r.resolve(ctx, head+"^{tree}") == id, r.resolve(ctx, seeded+"^{tree}") == id:
		return Seeding{Commit: head}, nil
	case !ours:
		return Seeding{Commit: head, Note: "the lab's Git repository has commits of its own, so the changes in " +
			tree + " were not added; push them to it, or run `tombolo lab down` to start over"}, nil
	}
	made, err := r.commit(ctx, id, cmp.Or(own, head))
	if err != nil {
		return Seeding{}, err
	}
	return r.move(ctx, head, made)
}

// create makes the bare repository, unless it exists.
func (r *Repository) create(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(r.dir, "HEAD")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(r.home, 0o755); err != nil {
		return err
	}
	if _, err := r.git(ctx, nil, "init", "--quiet", "--bare", "--initial-branch="+Branch, r.dir); err != nil {
		return err
	}
	// What the lab and its tools keep in a project is no part of it.
	if err := os.WriteFile(filepath.Join(r.dir, "info", "exclude"), []byte("/.lab\n/.tools\n"), 0o644); err != nil {
		return err
	}
	for _, setting := range [][2]string{
		{"http.receivepack", "true"}, // the user may push, to see the controllers follow
		{"transfer.hideRefs", "refs/lab"},
		{"gc.auto", "0"},
	} {
		if _, err := r.git(ctx, nil, "-C", r.dir, "config", setting[0], setting[1]); err != nil {
			return err
		}
	}
	return nil
}

// writeTree stores the content of a directory and returns its tree's id. The
// index is a fresh one each time, so that nothing of an earlier run remains. added are arguments
// of git add, before the directory.
func (r *Repository) writeTree(ctx context.Context, tree string, added []string) (string, error) {
	scratch, err := os.MkdirTemp(r.dir, "seed-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	env := []string{"GIT_DIR=" + r.dir, "GIT_WORK_TREE=" + tree, "GIT_INDEX_FILE=" + filepath.Join(scratch, "index")}
	args := append([]string{"-C", tree, "-c", "core.bare=false", "add", "--all"}, added...)
	if _, err := r.git(ctx, env, append(args, ".")...); err != nil {
		return "", err
	}
	return r.git(ctx, env, "-C", tree, "-c", "core.bare=false", "write-tree")
}

// commit makes a commit of a tree, on top of parent if there is one.
func (r *Repository) commit(ctx context.Context, tree, parent string) (string, error) {
	if parent == "" {
		return r.git(ctx, nil, "--git-dir="+r.dir, "commit-tree", tree, "-m", "Seed the platform tree")
	}
	return r.git(ctx, nil, "--git-dir="+r.dir, "commit-tree", tree, "-m", "Follow the platform tree", "-p", parent)
}

// move moves the branch from head, which is Seed's or an earlier one of the project's, to a commit.
func (r *Repository) move(ctx context.Context, head, commit string) (Seeding, error) {
	// The seed ref goes first: if the second update is lost, the next Seed
	// finds the branch empty or refuses to move it; it never overwrites.
	for _, ref := range []string{seedRef, "refs/heads/" + Branch} {
		if _, err := r.git(ctx, nil, "--git-dir="+r.dir, "update-ref", ref, commit); err != nil {
			return Seeding{}, err
		}
	}
	return Seeding{Commit: commit, Changed: commit != head, Before: head}, nil
}

// within says that a commit is another one, or one of those before it.
func (r *Repository) within(ctx context.Context, commit, other string) bool {
	_, err := r.git(ctx, nil, "--git-dir="+r.dir, "merge-base", "--is-ancestor", commit, other)
	return err == nil
}

// resolve returns the id of a revision, or "" when there is none.
func (r *Repository) resolve(ctx context.Context, revision string) string {
	id, err := r.git(ctx, nil, "--git-dir="+r.dir, "rev-parse", "--quiet", "--verify", revision)
	if err != nil {
		return ""
	}
	return id
}

// git runs git with the lab's identity and none of the user's settings.
func (r *Repository) git(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(r.environment(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("git is missing; install it")
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

func (r *Repository) environment() []string {
	const name, email = "Tombolo lab", "lab@git.lab.test"
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.home,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email,
	}
}
