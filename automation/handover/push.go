package handover

import (
	"context"
	"errors"
	"fmt"
	"os"

	"tombolo/automation/fault"
)

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

func (p *pusher) push(ctx context.Context) (Outcome, error) {
	if p.change.Proposal == p.repository.Branch {
		return Outcome{}, &fault.Error{
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
	p.change.Proposal = "tombolo/" + p.change.Cluster + "-" + p.change.Engine
	outcome, err = p.retry(ctx, func() (Outcome, error) { return p.propose(ctx) })
	outcome.Refusal = refused.says
	return outcome, err
}

// retry works again on what is there now, when the branch has changed meanwhile.
func (p *pusher) retry(ctx context.Context, work func() (Outcome, error)) (Outcome, error) {
	for n := 1; ; n++ {
		outcome, err := work()
		var lost *race
		if !errors.As(err, &lost) || ctx.Err() != nil {
			return outcome, err
		}
		if n == maxRaces {
			return Outcome{}, &fault.Error{
				What:   fmt.Sprintf("push to %s: the branch changed meanwhile, %d times: %s", p.repository.URL, n, lost.says),
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
