package handover

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tombolo/automation/fault"
)

// pusher is one Push.
type pusher struct {
	repository Repository
	change     Change
	git        *git
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
		return tip{}, &fault.Error{
			What:   fmt.Sprintf("%s has no branch %s; it has %s", p.repository.URL, branch, strings.Join(heads, ", ")),
			Remedy: "create the branch, or correct gitops.branch in the cluster file",
		}
	}
	fetched := []string{branch}
	depth := "--depth=1"
	if proposal := p.change.Proposal; proposal != "" && slices.Contains(heads, proposal) {
		// The history tells whose commits the proposal has.
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

// signed begins the line of a message that tells our commits.
const signed = "Tombolo-Cluster: "

// signature is that line for the cluster.
func (p *pusher) signature() string { return signed + p.change.Cluster }
