package handover

import (
	"context"
	"fmt"
	"os"
	"slices"

	"tombolo/automation/fault"
)

// Reach says whether the repository can be read with its credentials, and has
// its branch. Without credentials the user's own git is asked for them.
func Reach(ctx context.Context, r Repository) error {
	dir, err := os.MkdirTemp("", "tombolo-git-")
	if err != nil {
		return fmt.Errorf("make directory to read %s: %w", r.URL, err)
	}
	defer os.RemoveAll(dir)
	g := newGit(dir, r)
	if err := g.prepare(ctx, r.Credentials); err != nil {
		return err
	}
	heads, err := g.heads(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(heads, r.Branch) {
		return &fault.Error{
			What: fmt.Sprintf("%s has no branch %s", r.URL, r.Branch), Remedy: "push one, or correct gitops.branch in the cluster file",
		}
	}
	return nil
}
