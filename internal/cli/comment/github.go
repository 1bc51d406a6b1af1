package comment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// actionsLogin is whose the comments of a job's own token are, which may not ask
// who it is.
const actionsLogin = "github-actions[bot]"

// github posts on a pull request: to the API its comments are an issue's.
type github struct {
	api
	repository string
	number     int
	login      string
}

func (g *github) call(ctx context.Context, method, url string, send, receive any) (http.Header, error) {
	g.authorize = func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+g.token)
		r.Header.Set("Accept", "application/vnd.github+json")
		r.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	}
	return g.api.call(ctx, method, url, send, receive)
}

func (g *github) author(ctx context.Context) (string, error) {
	if g.login != "" {
		return g.login, nil
	}
	var user struct {
		Login string `json:"login"`
	}
	_, err := g.call(ctx, http.MethodGet, g.base+"/user", nil, &user)
	var status *statusError
	if errors.As(err, &status) && status.code == http.StatusForbidden {
		return actionsLogin, nil
	}
	return user.Login, err
}

func (g *github) comments(ctx context.Context) ([]posted, error) {
	var all []posted
	next := fmt.Sprintf("%s/repos/%s/issues/%d/comments?per_page=100", g.base, g.repository, g.number)
	for next != "" {
		var page []struct {
			ID   int64  `json:"id"`
			Body string `json:"body"`
			User struct {
				Login string `json:"login"`
			} `json:"user"`
		}
		header, err := g.call(ctx, http.MethodGet, next, nil, &page)
		if err != nil {
			return nil, err
		}
		for _, c := range page {
			all = append(all, posted{id: strconv.FormatInt(c.ID, 10), author: c.User.Login, body: c.Body})
		}
		if next, err = g.following(header); err != nil {
			return nil, err
		}
	}
	return all, nil
}

var nextLink = regexp.MustCompile(`<([^>]+)>;\s*rel="next"`)

// following is the next page; "" after the last. The token goes to no other host.
func (g *github) following(header http.Header) (string, error) {
	found := nextLink.FindStringSubmatch(header.Get("Link"))
	if found == nil {
		return "", nil
	}
	base, err := url.Parse(g.base)
	if err != nil {
		return "", fmt.Errorf("read the URL of the API: %w", err)
	}
	next, err := url.Parse(found[1])
	if err != nil || next.Host != base.Host || next.Scheme != base.Scheme {
		return "", fmt.Errorf("the next page of comments is at %s, which is not below %s", strings.TrimSpace(found[1]), g.base)
	}
	return found[1], nil
}

func (g *github) create(ctx context.Context, body string) error {
	url := fmt.Sprintf("%s/repos/%s/issues/%d/comments", g.base, g.repository, g.number)
	_, err := g.call(ctx, http.MethodPost, url, map[string]string{"body": body}, nil)
	return err
}

func (g *github) one(id string) string {
	return fmt.Sprintf("%s/repos/%s/issues/comments/%s", g.base, g.repository, id)
}

func (g *github) update(ctx context.Context, id, body string) error {
	_, err := g.call(ctx, http.MethodPatch, g.one(id), map[string]string{"body": body}, nil)
	return err
}

func (g *github) remove(ctx context.Context, id string) error {
	_, err := g.call(ctx, http.MethodDelete, g.one(id), nil, nil)
	return err
}
