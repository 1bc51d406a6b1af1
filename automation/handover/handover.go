// Package handover commits files to the Git repository that a cluster follows.
//
// It works in a temporary clone, pushes one commit or none, and never by
// force. Where the branch takes no pushes, it proposes: it pushes a branch of
// its own, from which people open a pull request.
package handover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// Repository is where to push, and as whom.
type Repository struct {
	// URL as git takes it, without credentials.
	URL string
	// Branch that the cluster follows.
	Branch string
	// Credentials; nil for the user's own git configuration.
	Credentials *Credentials
	// Env is put over this process's environment for git.
	Env map[string]string
}

// Credentials for a repository: Username and Password over HTTP, or PrivateKey
// and KnownHosts over SSH.
type Credentials struct {
	Username, Password     string
	PrivateKey, KnownHosts string
}

// Change is what the branch should hold.
type Change struct {
	// Cluster that the change is for. It signs the commits.
	Cluster string
	// Files with their content, by their path in the repository.
	Files map[string][]byte
	// Lists are the kustomization files that must list something.
	Lists []List
	// Message of the commit.
	Message string
	// Proposal is the branch to propose the change on. Default
	// tombolo/<cluster>-flux, and only when the branch itself takes no push.
	Proposal string
}

// Outcome is where the change is now.
type Outcome struct {
	// Commit that holds the change.
	Commit string
	// Branch that the commit is on.
	Branch string
	// Changed says that the commit was made by this call.
	Changed bool
	// Proposed says that the change takes effect when Branch is merged.
	Proposed bool
	// Refusal is what the server said to a push to the branch itself.
	Refusal string
}

// Error says why nothing was pushed, and what to do.
type Error struct {
	What, Remedy string
	// Err is the cause, if it is one to compare with; What holds its text.
	Err error
}

func (e *Error) Error() string {
	if e.Remedy == "" {
		return e.What
	}
	return e.What + "; " + e.Remedy
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// maxRaces is how often a push is tried that others get ahead of.
const maxRaces = 3

// Push brings the change to the repository. Without a difference it makes no
// commit. Errors hold no secret.
func Push(ctx context.Context, r Repository, c Change) (outcome Outcome, err error) {
	dir, err := os.MkdirTemp("", "tombolo-push-")
	if err != nil {
		return Outcome{}, fmt.Errorf("make a directory for the clone: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p := &pusher{repository: r, change: c, git: newGit(dir, r)}
	if err := p.git.prepare(ctx, r.Credentials); err != nil {
		return Outcome{}, err
	}
	return p.push(ctx)
}

// pusher is one Push.
type pusher struct {
	repository Repository
	change     Change
	git        *git
}

func (p *pusher) push(ctx context.Context) (Outcome, error) {
	if p.change.Proposal == p.repository.Branch {
		return Outcome{}, &Error{
			What:   fmt.Sprintf("branch %s is the one that the cluster follows", p.change.Proposal),
			Remedy: "name another, or none to push to it",
		}
	}
	if p.change.Proposal != "" {
		return p.retry(ctx, func() (Outcome, error) { return p.propose(ctx) })
	}
	outcome, err := p.retry(ctx, func() (Outcome, error) { return p.direct(ctx) })
	refused := new(refusal)
	if !errors.As(err, &refused) {
		return outcome, err
	}
	p.change.Proposal = "tombolo/" + p.change.Cluster + "-flux"
	outcome, err = p.retry(ctx, func() (Outcome, error) { return p.propose(ctx) })
	outcome.Refusal = refused.says
	return outcome, err
}

// retry works again on what is there now, when somebody else was quicker.
func (p *pusher) retry(ctx context.Context, work func() (Outcome, error)) (Outcome, error) {
	for n := 1; ; n++ {
		outcome, err := work()
		var lost *race
		if !errors.As(err, &lost) || ctx.Err() != nil {
			return outcome, err
		}
		if n == maxRaces {
			return Outcome{}, &Error{
				What:   fmt.Sprintf("push to %s: somebody else was quicker, %d times: %s", p.repository.URL, n, lost.says),
				Remedy: "run the command again",
			}
		}
	}
}

// direct commits to the branch that the cluster follows.
func (p *pusher) direct(ctx context.Context) (Outcome, error) {
	base, err := p.base(ctx)
	if err != nil {
		return Outcome{}, err
	}
	tree, err := p.writeTree(ctx, base.commit)
	if err != nil {
		return Outcome{}, err
	}
	if tree == base.tree {
		return Outcome{Commit: base.commit, Branch: p.repository.Branch}, nil
	}
	commit, err := p.commit(ctx, tree, base.commit)
	if err != nil {
		return Outcome{}, err
	}
	if err := p.git.push(ctx, commit, p.repository.Branch); err != nil {
		return Outcome{}, err
	}
	return Outcome{Commit: commit, Branch: p.repository.Branch, Changed: true}, nil
}

// tip is the head of a branch; the zero value when there is none.
type tip struct {
	commit, tree string
	// ahead says that the base is part of it.
	ahead bool
}

// base is the branch that the cluster follows, fetched.
func (p *pusher) base(ctx context.Context) (tip, error) {
	heads, err := p.git.heads(ctx)
	if err != nil {
		return tip{}, err
	}
	branch := p.repository.Branch
	if len(heads) == 0 {
		return tip{}, nil
	}
	if !slices.Contains(heads, branch) {
		return tip{}, &Error{
			What:   fmt.Sprintf("%s has no branch %s; it has %s", p.repository.URL, branch, strings.Join(heads, ", ")),
			Remedy: "create the branch, or correct gitops.branch in the cluster file",
		}
	}
	fetched := []string{branch}
	depth := "--depth=1"
	if proposal := p.change.Proposal; proposal != "" && slices.Contains(heads, proposal) {
		// Whose commits the proposal has is told by its history.
		fetched, depth = append(fetched, proposal), ""
	}
	if err := p.git.fetch(ctx, depth, fetched); err != nil {
		return tip{}, err
	}
	return p.git.tip(ctx, branch)
}

// writeTree puts the change over a commit's content and stores it as a tree.
func (p *pusher) writeTree(ctx context.Context, commit string) (string, error) {
	if commit != "" {
		if _, err := p.git.run(ctx, "checkout", "--quiet", "--force", "--detach", commit); err != nil {
			return "", err
		}
	}
	written, err := p.change.write(p.git.tree)
	if err != nil {
		return "", err
	}
	args := []string{"add", "--force", "--"}
	if _, err := p.git.run(ctx, append(args, written...)...); err != nil {
		return "", err
	}
	return p.git.run(ctx, "write-tree")
}

func (p *pusher) commit(ctx context.Context, tree string, parents ...string) (string, error) {
	args := []string{"commit-tree", tree, "-m", p.change.Message, "-m", p.signature()}
	if sign, err := p.git.run(ctx, "config", "--type=bool", "commit.gpgsign"); err == nil && sign == "true" {
		args = append(args, "-S")
	}
	for _, parent := range parents {
		if parent != "" {
			args = append(args, "-p", parent)
		}
	}
	return p.git.run(ctx, args...)
}

// write puts the files and the lists below dir, and returns their paths. It
// follows no link out of it.
func (c Change) write(dir string) ([]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only a way in
	var written []string
	for name, content := range c.Files {
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		if err := root.WriteFile(name, content, 0o644); err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		written = append(written, name)
	}
	for _, list := range c.Lists {
		name, err := list.write(root)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", cmp.Or(name, list.Dir), err)
		}
		if name != "" {
			written = append(written, name)
		}
	}
	slices.Sort(written)
	return written, nil
}
