package host

import (
	"context"
	"fmt"
	"net/http"

	"tombolo/internal/cli/fault"
)

// Reviewed finds the request whose reviews a job is about: its own request, or in a job
// for a push the merged one that its commit came by. It has the number 0 when the commit
// came by none. may is that of Request.
func (a Asked) Reviewed(ctx context.Context, may string) (Request, error) {
	commit, pushed := a.pushed()
	if a.Number > 0 || !pushed {
		return a.Request(may)
	}
	if kind, err := a.kind(); err == nil && kind == OnGitLab && a.Repository == "" {
		a.Repository = a.env("CI_PROJECT_ID") // of a merge request there is none
	}
	a.Number = 1 // asked for below
	r, err := a.Request(may)
	if err != nil {
		return Request{}, err
	}
	r.Number, r.Fork = 0, false
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

// ofCommit sets the number of the merged request that brought a commit. Sources:
// GitHub's REST API, "List pull requests associated with a commit"; GitLab's API,
// "List all merge requests associated with a commit".
func (r *Request) ofCommit(ctx context.Context, commit string) error {
	if r.Kind == OnAzure {
		return r.azureOfCommit(ctx, commit)
	}
	path := fmt.Sprintf("/repos/%s/commits/%s/pulls", r.Repository, commit)
	if r.Kind == OnGitLab {
		path = fmt.Sprintf("/projects/%s/repository/commits/%s/merge_requests", r.Repository, commit)
	}
	var all []struct {
		Number   int    `json:"number"`
		IID      int    `json:"iid"`
		MergedAt string `json:"merged_at"`
		// Merged is the commit that GitHub made of the request, and GitLab too.
		Merged string `json:"merge_commit_sha"`
		Squash string `json:"squash_commit_sha"`
		Head   string `json:"sha"`
	}
	if _, err := r.Call(ctx, http.MethodGet, path, nil, &all); err != nil {
		return err
	}
	for _, request := range all {
		if request.MergedAt == "" || commit != request.Merged && commit != request.Squash && commit != request.Head {
			continue
		}
		if err := r.cameBy(request.Number+request.IID, commit); err != nil {
			return err
		}
	}
	return nil
}

// cameBy sets the number of the request that brought a commit, once.
func (r *Request) cameBy(number int, commit string) error {
	if r.Number > 0 {
		return fault.NewPrecondition("commit "+commit+" came by more than one request", "pass the number of approvals", nil)
	}
	r.Number = number
	return nil
}
