package handover

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tombolo/automation/fault"
)

// propose commits to the branch of the proposal: the content of the branch that
// the cluster follows, and the change. An earlier proposal is continued.
func (p *pusher) propose(ctx context.Context) (Outcome, error) {
	branch := p.change.Proposal
	base, err := p.base(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if base.commit == "" {
		return Outcome{}, &fault.Error{
			What:   fmt.Sprintf("%s is empty, and a pull request needs a branch to go into", p.repository.URL),
			Remedy: fmt.Sprintf("push a first commit to %s", p.repository.Branch),
		}
	}
	tree, err := p.writeTree(ctx, base.commit)
	if err != nil {
		return Outcome{}, err
	}
	if tree == base.tree {
		return Outcome{Commit: base.commit, Branch: p.repository.Branch}, nil
	}
	earlier, err := p.earlier(ctx, base)
	if err != nil {
		return Outcome{}, err
	}
	parents := []string{earlier.commit, base.commit}
	if earlier.ahead {
		// It may propose something for other clusters as well.
		if tree, err = p.writeTree(ctx, earlier.commit); err != nil {
			return Outcome{}, err
		}
		if tree == earlier.tree {
			return Outcome{Commit: earlier.commit, Branch: branch, Proposed: true}, nil
		}
		parents = parents[:1]
	}
	commit, err := p.commit(ctx, tree, parents...)
	if err != nil {
		return Outcome{}, err
	}
	if err := p.git.push(ctx, commit, branch); err != nil {
		return Outcome{}, p.unproposed(err)
	}
	return Outcome{Commit: commit, Branch: branch, Changed: true, Proposed: true}, nil
}

// unproposed says what to do where not even a proposal may be pushed.
func (p *pusher) unproposed(err error) error {
	refused := new(refusal)
	if !errors.As(err, &refused) {
		return err
	}
	return &fault.Error{
		What:   fmt.Sprintf("%s refuses a push to %s and to %s: %s", p.repository.URL, p.repository.Branch, p.change.Proposal, refused.says),
		Remedy: "name a branch that you may push to with --branch, or ask for the right to push one",
	}
}

// earlier is the proposal that is there already. Commits of others on it are
// theirs to decide about; those for other clusters stay, as long as there is
// nothing to merge.
func (p *pusher) earlier(ctx context.Context, base tip) (tip, error) {
	earlier, err := p.git.tip(ctx, p.change.Proposal)
	if err != nil || earlier.commit == "" {
		return tip{}, err
	}
	_, err = p.git.run(ctx, "merge-base", "--is-ancestor", base.commit, earlier.commit)
	earlier.ahead = err == nil
	ours := "^" + p.signature() + "$"
	if earlier.ahead {
		ours = "^" + signed
	}
	foreign, err := p.git.run(ctx, "log", "--no-merges", "--format=%h by %an", "--invert-grep", "--grep="+ours, base.commit+".."+earlier.commit)
	if err != nil || foreign == "" {
		return earlier, err
	}
	first, _, _ := strings.Cut(foreign, "\n")
	return tip{}, &fault.Error{
		What:   fmt.Sprintf("branch %s of %s has commits that are not of `tombolo push %s`, such as %s", p.change.Proposal, p.repository.URL, p.change.Cluster, first),
		Remedy: "merge or delete the branch, or name another with --branch",
	}
}
