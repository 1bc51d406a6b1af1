package issue

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tombolo/internal/cli/fault"
)

// Host keeps issues.
type Host interface {
	// Find returns the open issue with a marker in its text, or nil.
	Find(ctx context.Context, marker string) (*Issue, error)
	// Open opens an issue.
	Open(ctx context.Context, title, body string) (Issue, error)
	// Update gives an issue another text.
	Update(ctx context.Context, i Issue, body string) error
	// Close closes an issue.
	Close(ctx context.Context, i Issue) error
}

// Issue is one issue of a host's.
type Issue struct {
	Number    int
	URL, Body string
}

const (
	// answerTimeout is the longest wait for an answer.
	answerTimeout = 30 * time.Second
	// maxPages is how many pages of open issues are looked through, a hundred on
	// each.
	maxPages = 50
	// maxAnswer is how much of an answer is read, in bytes.
	maxAnswer = 16 << 20
)

// hostOf is the host whose pipeline this is.
func hostOf(lookup func(string) (string, bool)) (Host, error) {
	get := func(name string) string { value, _ := lookup(name); return value }
	switch {
	case get("GITHUB_REPOSITORY") != "" && get("GITHUB_TOKEN") != "":
		api := get("GITHUB_API_URL")
		if api == "" {
			api = "https://api.github.com"
		}
		return &gitHub{client{base: api + "/repos/" + get("GITHUB_REPOSITORY"), header: "Authorization", token: "Bearer " + get("GITHUB_TOKEN")}}, nil
	case get("CI_API_V4_URL") != "" && get("CI_PROJECT_ID") != "" && get("GITLAB_TOKEN") != "":
		return &gitLab{client{base: get("CI_API_V4_URL") + "/projects/" + get("CI_PROJECT_ID"), header: "PRIVATE-TOKEN", token: get("GITLAB_TOKEN")}}, nil
	}
	return nil, fault.NewPrecondition("no host for issues is known",
		"run it in GitHub Actions with GITHUB_TOKEN, or in GitLab CI with GITLAB_TOKEN", nil)
}

// client speaks JSON to a host.
type client struct{ base, header, token string }

// call sends a request below the base, and reads the answer into out, unless it
// is nil.
func (c client) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("writing the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return fmt.Errorf("making the request: %w", err)
	}
	request.Header.Set(c.header, c.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking the host: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		const enough = 300
		return fmt.Errorf("%s %s: %s: %.*s", method, request.URL.Path, response.Status, enough, text)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return nil
}

// gitHub is a repository at GitHub.
type gitHub struct{ client }

type gitHubIssue struct {
	Number int    `json:"number"`
	URL    string `json:"html_url"`
	Body   string `json:"body"`
	// PullRequest is set when it is a pull request: the list has both.
	PullRequest *struct{} `json:"pull_request"`
}

func (h *gitHub) Find(ctx context.Context, marker string) (*Issue, error) {
	for page := 1; page <= maxPages; page++ {
		var issues []gitHubIssue
		if err := h.call(ctx, http.MethodGet, fmt.Sprintf("/issues?state=open&sort=created&direction=asc&per_page=100&page=%d", page), nil, &issues); err != nil {
			return nil, err
		}
		for _, i := range issues {
			if i.PullRequest == nil && strings.Contains(i.Body, marker) {
				return &Issue{Number: i.Number, URL: i.URL, Body: i.Body}, nil
			}
		}
		if len(issues) == 0 {
			return nil, nil //nolint:nilnil // there is none, and nothing failed
		}
	}
	return nil, fmt.Errorf("it is not among the oldest %d open issues: close some", 100*maxPages)
}

func (h *gitHub) Open(ctx context.Context, title, body string) (Issue, error) {
	var made gitHubIssue
	err := h.call(ctx, http.MethodPost, "/issues", map[string]string{"title": title, "body": body}, &made)
	return Issue{Number: made.Number, URL: made.URL, Body: made.Body}, err
}

func (h *gitHub) Update(ctx context.Context, i Issue, body string) error {
	return h.call(ctx, http.MethodPatch, fmt.Sprintf("/issues/%d", i.Number), map[string]string{"body": body}, nil)
}

func (h *gitHub) Close(ctx context.Context, i Issue) error {
	return h.call(ctx, http.MethodPatch, fmt.Sprintf("/issues/%d", i.Number), map[string]string{"state": "closed"}, nil)
}

// gitLab is a project at GitLab.
type gitLab struct{ client }

type gitLabIssue struct {
	Number int    `json:"iid"`
	URL    string `json:"web_url"`
	Body   string `json:"description"`
}

func (h *gitLab) Find(ctx context.Context, marker string) (*Issue, error) {
	for page := 1; page <= maxPages; page++ {
		query := url.Values{
			"state": {"opened"}, "order_by": {"created_at"}, "sort": {"asc"},
			"per_page": {"100"}, "page": {fmt.Sprint(page)},
		}
		var issues []gitLabIssue
		if err := h.call(ctx, http.MethodGet, "/issues?"+query.Encode(), nil, &issues); err != nil {
			return nil, err
		}
		for _, i := range issues {
			if strings.Contains(i.Body, marker) {
				return &Issue{Number: i.Number, URL: i.URL, Body: i.Body}, nil
			}
		}
		if len(issues) == 0 {
			return nil, nil //nolint:nilnil // there is none, and nothing failed
		}
	}
	return nil, fmt.Errorf("it is not among the oldest %d open issues: close some", 100*maxPages)
}

func (h *gitLab) Open(ctx context.Context, title, body string) (Issue, error) {
	var made gitLabIssue
	err := h.call(ctx, http.MethodPost, "/issues", map[string]string{"title": title, "description": body}, &made)
	return Issue{Number: made.Number, URL: made.URL, Body: made.Body}, err
}

func (h *gitLab) Update(ctx context.Context, i Issue, body string) error {
	return h.call(ctx, http.MethodPut, fmt.Sprintf("/issues/%d", i.Number), map[string]string{"description": body}, nil)
}

func (h *gitLab) Close(ctx context.Context, i Issue) error {
	return h.call(ctx, http.MethodPut, fmt.Sprintf("/issues/%d", i.Number), map[string]string{"state_event": "close"}, nil)
}
