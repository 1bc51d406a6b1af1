package host

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
)

// Approvals are the people who approve the request as it is now, sorted by name,
// without its author, those who have committed something of it, and robots. Each of them may write to the repository:
// at GitHub, whose last review approves the newest commit; at GitLab, whom it counts
// (whether a push takes approvals away is the project's setting) and who is a
// Developer at least; at Azure DevOps, who has voted for it since the last push.
func (r Request) Approvals(ctx context.Context) ([]string, error) {
	switch r.Kind {
	case OnGitLab:
		return r.gitLabApprovals(ctx)
	case OnAzure:
		return r.azureApprovals(ctx)
	}
	return r.gitHubApprovals(ctx)
}

// account is a user, as GitHub and GitLab have it.
type account struct {
	ID       int    `json:"id"`
	Login    string `json:"login"`
	Username string `json:"username"`
	// Type is "Bot" at GitHub, and Bot set at GitLab, for a robot.
	Type string `json:"type"`
	Bot  bool   `json:"bot"`
}

// review is a review of a pull request.
type review struct {
	User   account `json:"user"`
	State  string  `json:"state"`
	Commit string  `json:"commit_id"`
}

func (r Request) gitHubApprovals(ctx context.Context) ([]string, error) {
	path := fmt.Sprintf("/repos/%s/pulls/%d", r.Repository, r.Number)
	var request struct {
		User account `json:"user"`
		gitHubCommits
	}
	if _, err := r.Call(ctx, http.MethodGet, path, nil, &request); err != nil {
		return nil, err
	}
	approve := map[account]bool{}
	reviews, err := List[review](ctx, r.Client, path+"/reviews?per_page=100") // the oldest first
	if err != nil {
		return nil, err
	}
	for _, v := range reviews {
		switch v.State {
		case "APPROVED":
			approve[v.User] = v.Commit == request.Head.SHA
		case "CHANGES_REQUESTED", "DISMISSED":
			approve[v.User] = false
		}
	}
	maps.DeleteFunc(approve, func(_ account, does bool) bool { return !does })
	if len(approve) == 0 {
		return nil, nil
	}
	committed, err := r.gitHubCommitters(ctx, path, request.gitHubCommits)
	if err != nil {
		return nil, err
	}
	var names []string
	for by := range approve {
		if by.ID == request.User.ID || by.Type == "Bot" || committed[idOf(by.ID)] {
			continue
		}
		writes, err := r.gitHubWriter(ctx, by)
		if err != nil {
			return nil, err
		}
		if writes {
			names = append(names, by.Login)
		}
	}
	slices.Sort(names)
	return names, nil
}

// gitHubWriter asks for the user's permission: members of the organization and
// collaborators may be ones who only read. Source: GitHub's REST API, "Get
// repository permissions for a user", where maintainers have "write" and triagers
// "read".
func (r Request) gitHubWriter(ctx context.Context, by account) (bool, error) {
	var has struct {
		Permission string `json:"permission"`
	}
	_, err := r.Call(ctx, http.MethodGet, fmt.Sprintf("/repos/%s/collaborators/%s/permission", r.Repository, url.PathEscape(by.Login)), nil, &has)
	if Missing(err) {
		return false, nil
	}
	return has.Permission == "admin" || has.Permission == "write", err
}

func (r Request) gitLabApprovals(ctx context.Context) ([]string, error) {
	path := fmt.Sprintf("/projects/%s/merge_requests/%d", r.Repository, r.Number)
	var request struct {
		Author account `json:"author"`
		gitLabCommits
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
	if len(said.By) == 0 {
		return nil, nil
	}
	pushed, committed, err := r.gitLabCommitters(ctx, path, request.gitLabCommits)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, by := range said.By {
		if by.User.ID == request.Author.ID || pushed[idOf(by.User.ID)] {
			continue
		}
		writes, err := r.gitLabWriter(ctx, by.User, committed)
		if err != nil {
			return nil, err
		}
		if writes {
			names = append(names, by.User.Username)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// developer is the least access level that may push. Source: GitLab's API, "Roles".
const developer = 30

// gitLabWriter asks for the user's access level, with that of groups, and whether it
// is a person: an access token of the project is a user, too. committed has the names in the
// request's commits.
func (r Request) gitLabWriter(ctx context.Context, by account, committed map[string]bool) (bool, error) {
	var member struct {
		Level int `json:"access_level"`
	}
	_, err := r.Call(ctx, http.MethodGet, fmt.Sprintf("/projects/%s/members/all/%d", r.Repository, by.ID), nil, &member)
	if Missing(err) {
		return false, nil
	}
	if err != nil || member.Level < developer {
		return false, err
	}
	var user struct {
		account
		Name  string `json:"name"`
		Email string `json:"public_email"`
	}
	_, err = r.Call(ctx, http.MethodGet, fmt.Sprintf("/users/%d", by.ID), nil, &user)
	return !user.Bot && !has(committed, user.Name, user.Email, by.Username), err
}
