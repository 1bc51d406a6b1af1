package automation

import (
	"context"
	"fmt"
	"regexp"

	"tombolo/automation/fault"
	"tombolo/config"
	"tombolo/stacks"
)

// AppliedTag is the tag of bootstrap's stack with the commit of which a plan was applied last.
// Whoever can write it can write the state: a deployment or a tag at the Git host can be made by
// whoever may push a branch.
const AppliedTag = "tombolo:applied"

// commitPattern is the id of a commit, by SHA-1 or SHA-256.
var commitPattern = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Applied is the commit of which a plan was applied last to the cluster; "" where none is
// recorded, as of a cluster that is not made yet.
func (d *Driver) Applied(ctx context.Context, c *config.Cluster) (string, error) {
	stack := stacks.Name(c.Name, stacks.Bootstrap)
	if st, err := d.backend.State(ctx, stack); err != nil || st == nil {
		return "", err // the CLI has no tags of a stack that is not there
	}
	commit, err := d.backend.Tag(ctx, stack, AppliedTag)
	if err == nil && commit != "" && !commitPattern.MatchString(commit) {
		err = fmt.Errorf("%q is no commit", commit)
	}
	if err != nil {
		return "", &fault.Error{
			What: fmt.Sprintf("read the commit that was applied to %s: %v", c.Name, err), Remedy: "look at the tags of stack " + stack + ", or pass the number of approvals", Err: err,
		}
	}
	return commit, nil
}

// RecordApplied records a commit of which a plan was applied to the cluster.
func (d *Driver) RecordApplied(ctx context.Context, c *config.Cluster, commit string) error {
	if was, err := d.Applied(ctx, c); err == nil && was == commit {
		return nil
	}
	return d.backend.SetTag(ctx, stacks.Name(c.Name, stacks.Bootstrap), AppliedTag, commit)
}
