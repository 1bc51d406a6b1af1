package issue

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
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

// hostOf is the host whose pipeline this is.
func (o *Options) hostOf(lookup func(string) (string, bool)) (Host, error) {
	get := func(name string) string { value, _ := lookup(name); return value }
	authorization := host.AzureAuthorization(get)
	switch {
	case get("GITHUB_REPOSITORY") != "" && get("GITHUB_TOKEN") != "":
		return gitHub(host.GitHub(get("GITHUB_API_URL"), get("GITHUB_TOKEN")), get("GITHUB_REPOSITORY")), nil
	case get("CI_API_V4_URL") != "" && get("CI_PROJECT_ID") != "" && get("GITLAB_TOKEN") != "":
		return gitLab(host.GitLab(get("CI_API_V4_URL"), get("GITLAB_TOKEN")), get("CI_PROJECT_ID")), nil
	case get("SYSTEM_COLLECTIONURI") != "" && get("SYSTEM_TEAMPROJECT") != "" && authorization != "":
		return newAzure(host.Azure(get("SYSTEM_COLLECTIONURI"), authorization), get("SYSTEM_TEAMPROJECT"), o.Type, o.Key), nil
	}
	return nil, fault.NewPrecondition("no host for issues is known",
		"run it in GitHub Actions with GITHUB_TOKEN, in GitLab CI with GITLAB_TOKEN, or in Azure Pipelines with SYSTEM_ACCESSTOKEN", nil)
}

// tracker keeps the issues of a repository at GitHub, or of a project at GitLab.
type tracker struct {
	host.Client
	kind host.Kind
	// path of the issues in the API, and open the query for those that are open, the oldest first.
	path, open string
	// text is the key of an issue's text, change the method of a change, and closes the one that closes.
	text, change string
	closes       map[string]string
}

func gitHub(client host.Client, repository string) tracker {
	return tracker{
		client, host.OnGitHub, "/repos/" + repository + "/issues", "?state=open&sort=created&direction=asc",
		"body", http.MethodPatch,
		map[string]string{"state": "closed"},
	}
}

func gitLab(client host.Client, project string) tracker {
	return tracker{
		client, host.OnGitLab, "/projects/" + project + "/issues", "?state=opened&order_by=created_at&sort=asc",
		"description", http.MethodPut,
		map[string]string{"state_event": "close"},
	}
}

// kept is an issue as GitHub and GitLab have it.
type kept struct {
	Number      int    `json:"number"`
	IID         int    `json:"iid"`
	HTMLURL     string `json:"html_url"`
	WebURL      string `json:"web_url"`
	Body        string `json:"body"`
	Description string `json:"description"`
	User        struct {
		Login string `json:"login"`
	} `json:"user"`
	Author struct {
		Username string `json:"username"`
	} `json:"author"`
	// PullRequest is set when it is a pull request: GitHub's list has both.
	PullRequest *struct{} `json:"pull_request"`
}

func (k kept) issue() Issue {
	return Issue{Number: cmp.Or(k.Number, k.IID), URL: cmp.Or(k.HTMLURL, k.WebURL), Body: k.Body + k.Description}
}

func (h tracker) Find(ctx context.Context, marker string) (*Issue, error) {
	account, err := h.Account(ctx, h.kind)
	if err != nil {
		return nil, err
	}
	for page := 1; page <= maxPages; page++ {
		var issues []kept
		if _, err := h.Call(ctx, http.MethodGet, fmt.Sprintf("%s%s&per_page=100&page=%d", h.path, h.open, page), nil, &issues); err != nil {
			return nil, err
		}
		for _, i := range issues {
			if i.PullRequest == nil && strings.EqualFold(i.User.Login+i.Author.Username, account) && strings.Contains(i.Body+i.Description, marker) {
				found := i.issue()
				return &found, nil
			}
		}
		if len(issues) == 0 {
			return nil, nil // there is none
		}
	}
	return nil, fmt.Errorf("it is not among the oldest %d open issues: close some", 100*maxPages)
}

func (h tracker) Open(ctx context.Context, title, body string) (Issue, error) {
	var made kept
	_, err := h.Call(ctx, http.MethodPost, h.path, map[string]string{"title": title, h.text: body}, &made)
	return made.issue(), err
}

func (h tracker) Update(ctx context.Context, i Issue, body string) error {
	return h.write(ctx, i, map[string]string{h.text: body})
}

func (h tracker) Close(ctx context.Context, i Issue) error { return h.write(ctx, i, h.closes) }

func (h tracker) write(ctx context.Context, i Issue, change map[string]string) error {
	_, err := h.Call(ctx, h.change, fmt.Sprintf("%s/%d", h.path, i.Number), change, nil)
	return err
}

// Says compares texts as they are, but for the ends: both hosts keep them so.
func (h tracker) Says(i Issue, body string) bool {
	return strings.TrimSpace(i.Body) == strings.TrimSpace(body)
}
