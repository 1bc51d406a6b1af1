package inputs

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/automation/fault"
	"tombolo/automation/gitcmd"
)

// repository is the Git repository that the project is in. Paths in it have
// slashes and are relative to its top.
type repository struct {
	// top and root are the repository's and the project's directory, without
	// symbolic links.
	top, root string
	// ref is the name that was asked for, and commit what it stands for.
	ref, commit string
	// run starts git.
	run gitcmd.Git
	// known are the files in the working tree that Git does not ignore.
	known map[string]bool
}

// How a file differs from what it was.
type how string

// The ways in which a file differs.
const (
	added   how = "added"
	edited  how = "changed"
	removed how = "removed"
)

// diff maps the path of each file that differs to how it does. A file that was
// renamed is one that was removed and one that was added.
type diff map[string]how

func openRepository(ctx context.Context, root, ref string) (*repository, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, unreadable("look for the project", err)
	}
	run, err := gitcmd.Open(ctx, real)
	if err != nil {
		return nil, notCompared(err, &fault.Error{
			What:   fmt.Sprintf("--changed-since %s: %s cannot be read as a Git repository: %v", ref, root, err),
			Remedy: "run it in a checkout, or name the clusters",
		})
	}
	r := &repository{root: real, top: run.Dir, ref: ref, run: run}
	commit, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return nil, notCompared(err, &fault.Error{
			What:   fmt.Sprintf("--changed-since %s: the repository has no such commit", ref),
			Remedy: "name a branch, a tag or a commit that is in this checkout; a shallow one is completed by `git fetch --unshallow`",
			Class:  fault.Usage,
		})
	}
	r.commit = strings.TrimSpace(commit)
	return r, nil
}

// notCompared is refusal where git itself refused, and else the error.
func notCompared(err error, refusal *fault.Error) error {
	if said := new(gitcmd.Refusal); !errors.As(err, &said) {
		return err
	}
	refusal.Err = err
	return refusal
}

// diff compares the working tree with the commit. Files that were not added to
// Git yet are new.
func (r *repository) diff(ctx context.Context) (diff, error) {
	listed, err := r.git(ctx, "ls-files", "-z", "-t", "--full-name", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, unreadable("list the files", err)
	}
	out := diff{}
	r.known = map[string]bool{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		tag, file, _ := strings.Cut(entry, " ")
		r.known[file] = true
		if tag == "?" {
			out[file] = added
		}
	}
	differing, err := r.git(ctx, "diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", r.commit, "--")
	if err != nil {
		return nil, unreadable("compare with "+r.ref, err)
	}
	fields := strings.Split(strings.TrimSuffix(differing, "\x00"), "\x00")
	for pair := range slices.Chunk(fields, 2) {
		if len(pair) < 2 {
			break // nothing differs
		}
		status, file := pair[0], pair[1]
		switch {
		case status == "A":
			out[file] = added
		case status == "D" && out[file] != added:
			out[file] = removed
		default:
			out[file] = edited
		}
	}
	return out, nil
}

// listed says whether the commit has the file.
func (r *repository) listed(ctx context.Context, file string) (bool, error) {
	out, err := r.git(ctx, "ls-tree", "--full-tree", "--name-only", "-z", r.commit, "--", file)
	return out != "", err
}

// show is the content of a file at the commit; "" when it was not there.
func (r *repository) show(ctx context.Context, file string) (string, error) {
	if listed, err := r.listed(ctx, file); err != nil || !listed {
		return "", err
	}
	return r.git(ctx, "cat-file", "blob", r.commit+":"+file)
}

// path is where a file is in the repository; file is absolute, or relative to
// the project's directory. It is a *fault.Error when the file is elsewhere.
func (r *repository) path(file string) (string, error) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.root, file)
	}
	// The directory may be reached by a symbolic link; a file that is one is
	// what Git has.
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return "", unreadable("look for "+file, err)
	}
	rel, err := filepath.Rel(r.top, filepath.Join(dir, filepath.Base(file)))
	if err != nil || !filepath.IsLocal(rel) {
		return "", &fault.Error{
			What:   fmt.Sprintf("--changed-since %s: %s is outside of the repository %s", r.ref, file, r.top),
			Remedy: "compare in the repository that it is in, or name the clusters",
		}
	}
	return filepath.ToSlash(rel), nil
}

// below is the path in the repository of a path in the project's directory.
func (r *repository) below(file string) string {
	rel, err := filepath.Rel(r.top, r.root)
	if err != nil {
		return file
	}
	return path.Join(filepath.ToSlash(rel), file)
}

// display is a path as people know it: below the project's directory.
func (r *repository) display(file string) string {
	rel, err := filepath.Rel(r.root, filepath.Join(r.top, filepath.FromSlash(file)))
	if err != nil {
		return file
	}
	return filepath.ToSlash(rel)
}

// git runs git in the repository and returns what it wrote.
func (r *repository) git(ctx context.Context, args ...string) (string, error) {
	return r.run.Read(ctx, args...)
}

func unreadable(what string, err error) error {
	return &fault.Error{What: fmt.Sprintf("--changed-since: %s: %v", what, err), Err: err}
}
