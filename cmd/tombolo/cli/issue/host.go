package issue

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/host"
)

// Host keeps issues.
type Host interface {
	// Find returns the open issue with a marker in its text, or as its tag, that the
	// token's account has opened, or nil: anybody can write a marker.
	Find(ctx context.Context, marker string) (*Issue, error)
	// Open opens an issue.
	Open(ctx context.Context, title, body string) (Issue, error)
	// Update gives an issue another text.
	Update(ctx context.Context, i Issue, body string) error
	// Close closes an issue.
	Close(ctx context.Context, i Issue) error
	// Says says whether an issue has a text, as the host keeps texts.
	Says(i Issue, body string) bool
}

// Issue is one issue of a host's.
type Issue struct {
	Number    int
	URL, Body string
}

// maxPages is how many pages of open issues are looked through, a hundred on each.
const maxPages = 50

// verbatim is a host that keeps texts as they are, but for the ends.
type verbatim struct{}

func (verbatim) Says(i Issue, body string) bool {
	return strings.TrimSpace(i.Body) == strings.TrimSpace(body)
}

// hostOf is the host whose pipeline this is.
func (o *Options) hostOf(lookup func(string) (string, bool)) (Host, error) {
	get := func(name string) string { value, _ := lookup(name); return value }
	authorization := host.AzureAuthorization(get)
	switch {
	case get("GITHUB_REPOSITORY") != "" && get("GITHUB_TOKEN") != "":
		return &gitHub{Client: host.GitHub(get("GITHUB_API_URL"), get("GITHUB_TOKEN")), path: "/repos/" + get("GITHUB_REPOSITORY")}, nil
	case get("CI_API_V4_URL") != "" && get("CI_PROJECT_ID") != "" && get("GITLAB_TOKEN") != "":
		return &gitLab{Client: host.GitLab(get("CI_API_V4_URL"), get("GITLAB_TOKEN")), path: "/projects/" + get("CI_PROJECT_ID")}, nil
	case get("SYSTEM_COLLECTIONURI") != "" && get("SYSTEM_TEAMPROJECT") != "" && authorization != "":
		return newAzure(host.Azure(get("SYSTEM_COLLECTIONURI"), authorization), get("SYSTEM_TEAMPROJECT"), o.Type, o.Key), nil
	}
	return nil, fault.NewPrecondition("no host for issues is known",
		"run it in GitHub Actions with GITHUB_TOKEN, in GitLab CI with GITLAB_TOKEN, or in Azure Pipelines with SYSTEM_ACCESSTOKEN", nil)
}

// gitHub is a repository at GitHub.
type gitHub struct {
	verbatim
	host.Client
	// path of the repository in the API.
	path string
}

type gitHubIssue struct {
	Number int    `json:"number"`
	URL    string `json:"html_url"`
	Body   string `json:"body"`
	User   struct {
		Login string `json:"login"`
	} `json:"user"`
	// PullRequest is set when it is a pull request: the list has both.
	PullRequest *struct{} `json:"pull_request"`
}

func (h *gitHub) Find(ctx context.Context, marker string) (*Issue, error) {
	login, err := h.GitHubLogin(ctx)
	if err != nil {
		return nil, err
	}
	for page := 1; page <= maxPages; page++ {
		var issues []gitHubIssue
		if _, err := h.Call(ctx, http.MethodGet, h.path+fmt.Sprintf("/issues?state=open&sort=created&direction=asc&per_page=100&page=%d", page), nil, &issues); err != nil {
			return nil, err
		}
		for _, i := range issues {
			if i.PullRequest == nil && strings.EqualFold(i.User.Login, login) && strings.Contains(i.Body, marker) {
				return &Issue{Number: i.Number, URL: i.URL, Body: i.Body}, nil
			}
		}
		if len(issues) == 0 {
			return nil, nil // there is none
		}
	}
	return nil, fmt.Errorf("it is not among the oldest %d open issues: close some", 100*maxPages)
}

func (h *gitHub) Open(ctx context.Context, title, body string) (Issue, error) {
	var made gitHubIssue
	_, err := h.Call(ctx, http.MethodPost, h.path+"/issues", map[string]string{"title": title, "body": body}, &made)
	return Issue{Number: made.Number, URL: made.URL, Body: made.Body}, err
}

func (h *gitHub) Update(ctx context.Context, i Issue, body string) error {
	_, err := h.Call(ctx, http.MethodPatch, h.path+fmt.Sprintf("/issues/%d", i.Number), map[string]string{"body": body}, nil)
	return err
}

func (h *gitHub) Close(ctx context.Context, i Issue) error {
	_, err := h.Call(ctx, http.MethodPatch, h.path+fmt.Sprintf("/issues/%d", i.Number), map[string]string{"state": "closed"}, nil)
	return err
}

// gitLab is a project at GitLab.
type gitLab struct {
	verbatim
	host.Client
	// path of the project in the API.
	path string
}

type gitLabIssue struct {
	Number int    `json:"iid"`
	URL    string `json:"web_url"`
	Body   string `json:"description"`
	Author struct {
		Username string `json:"username"`
	} `json:"author"`
}

func (h *gitLab) Find(ctx context.Context, marker string) (*Issue, error) {
	username, err := h.GitLabUsername(ctx)
	if err != nil {
		return nil, err
	}
	for page := 1; page <= maxPages; page++ {
		query := url.Values{
			"state": {"opened"}, "order_by": {"created_at"}, "sort": {"asc"},
			"per_page": {"100"}, "page": {fmt.Sprint(page)},
		}
		var issues []gitLabIssue
		if _, err := h.Call(ctx, http.MethodGet, h.path+"/issues?"+query.Encode(), nil, &issues); err != nil {
			return nil, err
		}
		for _, i := range issues {
			if i.Author.Username == username && strings.Contains(i.Body, marker) {
				return &Issue{Number: i.Number, URL: i.URL, Body: i.Body}, nil
			}
		}
		if len(issues) == 0 {
			return nil, nil // there is none
		}
	}
	return nil, fmt.Errorf("it is not among the oldest %d open issues: close some", 100*maxPages)
}

func (h *gitLab) Open(ctx context.Context, title, body string) (Issue, error) {
	var made gitLabIssue
	_, err := h.Call(ctx, http.MethodPost, h.path+"/issues", map[string]string{"title": title, "description": body}, &made)
	return Issue{Number: made.Number, URL: made.URL, Body: made.Body}, err
}

func (h *gitLab) Update(ctx context.Context, i Issue, body string) error {
	_, err := h.Call(ctx, http.MethodPut, h.path+fmt.Sprintf("/issues/%d", i.Number), map[string]string{"description": body}, nil)
	return err
}

func (h *gitLab) Close(ctx context.Context, i Issue) error {
	_, err := h.Call(ctx, http.MethodPut, h.path+fmt.Sprintf("/issues/%d", i.Number), map[string]string{"state_event": "close"}, nil)
	return err
}
