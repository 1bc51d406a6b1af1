package comment

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"tombolo/cmd/tombolo/cli/host"
)

// github posts on a pull request: to the API its comments are an issue's.
type github struct {
	host.Request
	login string
}

func (g *github) author(ctx context.Context) (string, error) {
	if g.login != "" {
		return g.login, nil
	}
	return g.GitHubLogin(ctx)
}

func (g *github) all() string {
	return fmt.Sprintf("/repos/%s/issues/%d/comments", g.Repository, g.Number)
}

func (g *github) one(id string) string {
	return fmt.Sprintf("/repos/%s/issues/comments/%s", g.Repository, id)
}

func (g *github) comments(ctx context.Context) ([]posted, error) {
	var all []posted
	for next := g.all() + "?per_page=100"; next != ""; {
		var page []struct {
			ID   int64  `json:"id"`
			Body string `json:"body"`
			User struct {
				Login string `json:"login"`
			} `json:"user"`
		}
		header, err := g.Call(ctx, http.MethodGet, next, nil, &page)
		if err != nil {
			return nil, err
		}
		for _, c := range page {
			all = append(all, posted{id: strconv.FormatInt(c.ID, 10), author: c.User.Login, body: c.Body})
		}
		next = host.Next(header)
	}
	return all, nil
}

func (g *github) create(ctx context.Context, body string) error {
	_, err := g.Call(ctx, http.MethodPost, g.all(), map[string]string{"body": body}, nil)
	return err
}

func (g *github) update(ctx context.Context, id, body string) error {
	_, err := g.Call(ctx, http.MethodPatch, g.one(id), map[string]string{"body": body}, nil)
	return err
}

func (g *github) remove(ctx context.Context, id string) error {
	_, err := g.Call(ctx, http.MethodDelete, g.one(id), nil, nil)
	return err
}
