package comment

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"tombolo/cmd/tombolo/cli/host"
)

// gitlab posts on a merge request, where a comment is a note.
type gitlab struct {
	host.Request
	username string
}

func (g *gitlab) author(ctx context.Context) (string, error) {
	if g.username != "" {
		return g.username, nil
	}
	return g.GitLabUsername(ctx)
}

func (g *gitlab) notes() string {
	return fmt.Sprintf("/projects/%s/merge_requests/%d/notes", g.Repository, g.Number)
}

func (g *gitlab) comments(ctx context.Context) ([]posted, error) {
	var all []posted
	for page := "1"; page != ""; {
		var notes []struct {
			ID     int64  `json:"id"`
			Body   string `json:"body"`
			Author struct {
				Username string `json:"username"`
			} `json:"author"`
		}
		header, err := g.Call(ctx, http.MethodGet, g.notes()+"?sort=asc&order_by=created_at&per_page=100&page="+page, nil, &notes)
		if err != nil {
			return nil, err
		}
		for _, n := range notes {
			all = append(all, posted{id: strconv.FormatInt(n.ID, 10), author: n.Author.Username, body: n.Body})
		}
		page = header.Get("X-Next-Page")
	}
	return all, nil
}

func (g *gitlab) create(ctx context.Context, body string) error {
	_, err := g.Call(ctx, http.MethodPost, g.notes(), map[string]string{"body": body}, nil)
	return err
}

func (g *gitlab) update(ctx context.Context, id, body string) error {
	_, err := g.Call(ctx, http.MethodPut, g.notes()+"/"+id, map[string]string{"body": body}, nil)
	return err
}

func (g *gitlab) remove(ctx context.Context, id string) error {
	_, err := g.Call(ctx, http.MethodDelete, g.notes()+"/"+id, nil, nil)
	return err
}
