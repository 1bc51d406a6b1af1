package host

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tombolo/cmd/tombolo/cli/fault"
)

// Reviewed finds the request whose reviews a job is about: its own request, or in a job
// for a push the merged one that its commit came by. It has the number 0 when the commit
// came by none. may is that of Request.
func (a Asked) Reviewed(ctx context.Context, may string) (Request, error) {
	commit, pushed := a.pushed()
	if a.Number > 0 || !pushed {
		return a.Request(may)
	}
	r, err := a.anyRequest(may)
	if err != nil {
		return Request{}, err
	}
	return r, r.ofCommit(ctx, commit)
}

// pushed is the commit of a job for a push, or that somebody has started by hand.
func (a Asked) pushed() (commit string, ok bool) {
	switch a.env("GITHUB_EVENT_NAME") + a.env("CI_PIPELINE_SOURCE") + a.env("BUILD_REASON") {
	case "push", "workflow_dispatch", "web", "IndividualCI", "BatchedCI", "Manual":
		commit = a.env("GITHUB_SHA") + a.env("CI_COMMIT_SHA") + a.env("BUILD_SOURCEVERSION")
	}
	return commit, commit != ""
}

// Brought are the merged requests that have brought commits of the branch, by their numbers. line
// are the commits of the branch, the newest first. It fails where a commit came by none. may is
// that of Request.
func (a Asked) Brought(ctx context.Context, may string, commits, line []string) ([]Request, error) {
	of, err := a.anyRequest(may)
	if err != nil {
		return nil, err
	}
	found := map[int]bool{}
	for _, commit := range commits {
		numbers, err := of.broughtBy(ctx, commit, line[:max(0, slices.Index(line, commit))])
		if err != nil {
			return nil, err
		}
		if len(numbers) == 0 {
			return nil, fault.NewPrecondition("look for the request of commit "+commit+": no request has brought it", "have people look at it, and pass the number of approvals", nil)
		}
		for _, number := range numbers {
			found[number] = true
		}
	}
	var out []Request
	for _, number := range slices.Sorted(maps.Keys(found)) {
		of.Number = number
		out = append(out, of)
	}
	return out, nil
}

// anyRequest is a request of the job's repository without its number.
func (a Asked) anyRequest(may string) (Request, error) {
	if kind, err := a.kind(); err == nil && kind == OnGitLab && a.Repository == "" {
		a.Repository = a.env("CI_PROJECT_ID") // of a merge request there is none
	}
	a.Number = 1 // asked for later
	r, err := a.Request(may)
	r.Number, r.Fork = 0, false
	return r, err
}

// ofCommit sets the number of the merged request that brought a commit.
func (r *Request) ofCommit(ctx context.Context, commit string) error {
	numbers, err := r.broughtBy(ctx, commit, nil)
	if err != nil {
		return err
	}
	if len(numbers) > 1 {
		return fault.NewPrecondition("commit "+commit+" came by more than one request", "pass the number of approvals", nil)
	}
	if len(numbers) == 1 {
		r.Number = numbers[0]
	}
	return nil
}

// merged is a request that a commit is in: Merged is the commit that the host made of it, Squash
// that of all its commits at GitLab, and Head the last one of its branch.
type merged struct {
	Number   int    `json:"number"`
	IID      int    `json:"iid"`
	MergedAt string `json:"merged_at"`
	Merged   string `json:"merge_commit_sha"`
	Squash   string `json:"squash_commit_sha"`
	Head     string `json:"sha"`
}

// broughtBy are the numbers of the merged requests that brought a commit: it is the one that they
// are known by, or that one is among the later ones of the branch, as after a rebase. Sources:
// GitHub's REST API, "List pull requests associated with a commit"; GitLab's API, "List all
// merge requests associated with a commit".
func (r *Request) broughtBy(ctx context.Context, commit string, later []string) ([]int, error) {
	if r.Kind == OnAzure {
		return r.azureBroughtBy(ctx, commit, later)
	}
	path := fmt.Sprintf("/repos/%s/commits/%s/pulls?per_page=100", r.Repository, commit)
	if r.Kind == OnGitLab {
		path = fmt.Sprintf("/projects/%s/repository/commits/%s/merge_requests?per_page=100", r.Repository, commit)
	}
	all, err := List[merged](ctx, r.Client, path)
	var numbers []int
	for _, request := range all {
		if request.MergedAt != "" && isOf(commit, later, request.Merged, request.Squash, request.Head) {
			numbers = append(numbers, request.Number+request.IID)
		}
	}
	return numbers, err
}

// isOf says that a request that is known by one of the commits has brought another one.
func isOf(commit string, later []string, known ...string) bool {
	return slices.ContainsFunc(known, func(k string) bool { return k != "" && (k == commit || slices.Contains(later, k)) })
}
