package host

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// Approvals are the people who approve the request as it is now, sorted by name,
// without its author. At GitHub these are people of the repository (owners,
// members, collaborators) whose last review approves the newest commit; at GitLab
// those whom it counts: whether a push takes approvals away is the project's
// setting.
func (r Request) Approvals(ctx context.Context) ([]string, error) {
	if r.Kind == OnGitLab {
		return r.gitLabApprovals(ctx)
	}
	return r.gitHubApprovals(ctx)
}

// account is a user, as both hosts have it.
type account struct {
	Login    string `json:"login"`
	Username string `json:"username"`
}

// review is a review of a pull request.
type review struct {
	User        account `json:"user"`
	State       string  `json:"state"`
	Commit      string  `json:"commit_id"`
	Association string  `json:"author_association"`
}

// trusted says whether the review is by a member of the repository: others may
// review what is public, too.
func (v review) trusted() bool {
	return slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, v.Association)
}

func (r Request) gitHubApprovals(ctx context.Context) ([]string, error) {
	path := fmt.Sprintf("/repos/%s/pulls/%d", r.Repository, r.Number)
	var request struct {
		User account `json:"user"`
		Head struct {
			SHA string `json:"sha"`
		} `json:"head"`
	}
	if _, err := r.Call(ctx, http.MethodGet, path, nil, &request); err != nil {
		return nil, err
	}
	approve := map[string]bool{}
	for next := path + "/reviews?per_page=100"; next != ""; {
		var page []review // the oldest first
		header, err := r.Call(ctx, http.MethodGet, next, nil, &page)
		if err != nil {
			return nil, err
		}
		for _, v := range page {
			switch v.State {
			case "APPROVED":
				approve[v.User.Login] = v.trusted() && v.Commit == request.Head.SHA
			case "CHANGES_REQUESTED", "DISMISSED":
				approve[v.User.Login] = false
			}
		}
		next = Next(header)
	}
	delete(approve, request.User.Login)
	maps.DeleteFunc(approve, func(_ string, does bool) bool { return !does })
	return slices.Sorted(maps.Keys(approve)), nil
}

func (r Request) gitLabApprovals(ctx context.Context) ([]string, error) {
	path := fmt.Sprintf("/projects/%s/merge_requests/%d", r.Repository, r.Number)
	var request struct {
		Author account `json:"author"`
	}
	if _, err := r.Call(ctx, http.MethodGet, path, nil, &request); err != nil {
		return nil, err
	}
	var said struct {
		By []struct {
			User account `json:"user"`
		} `json:"approved_by"`
	}
	if _, err := r.Call(ctx, http.MethodGet, path+"/approvals", nil, &said); err != nil {
		return nil, err
	}
	var names []string
	for _, by := range said.By {
		if by.User != request.Author {
			names = append(names, by.User.Username)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
