package comment

import (
	"context"
	"fmt"
	"net/http"

	"tombolo/cmd/tombolo/cli/host"
)

// azure posts on a pull request at Azure Repos, where a comment begins a thread. The
// thread has no status: an active one would keep the request from being completed where
// a policy wants all comments resolved, and a closed one is folded up.
type azure struct {
	host.Request
	// byName says that the author is given by name, and not by id.
	byName bool
}

func (a azure) threads() string {
	return fmt.Sprintf("/%s/pullRequests/%d/threads", a.Repository, a.Number)
}

// comments are the first ones of the threads. The API has no pages of threads.
func (a azure) comments(ctx context.Context) ([]posted, error) {
	var threads struct {
		Value []struct {
			ID       int  `json:"id"`
			Deleted  bool `json:"isDeleted"`
			Comments []struct {
				ID      int    `json:"id"`
				Content string `json:"content"`
				Deleted bool   `json:"isDeleted"`
				Author  struct {
					ID   string `json:"id"`
					Name string `json:"uniqueName"`
				} `json:"author"`
			} `json:"comments"`
		} `json:"value"`
	}
	if _, err := a.Call(ctx, http.MethodGet, a.threads(), nil, &threads); err != nil {
		return nil, err
	}
	var all []posted
	for _, t := range threads.Value {
		if t.Deleted || len(t.Comments) == 0 || t.Comments[0].Deleted {
			continue
		}
		first := t.Comments[0]
		by := first.Author.ID
		if a.byName {
			by = first.Author.Name
		}
		all = append(all, posted{id: fmt.Sprintf("%d/comments/%d", t.ID, first.ID), author: by, body: first.Content})
	}
	return all, nil
}

func (a azure) create(ctx context.Context, body string) error {
	comment := map[string]any{"parentCommentId": 0, "commentType": "text", "content": body}
	_, err := a.Call(ctx, http.MethodPost, a.threads(), map[string]any{"comments": []any{comment}}, nil)
	return err
}

func (a azure) update(ctx context.Context, id, body string) error {
	_, err := a.Call(ctx, http.MethodPatch, a.threads()+"/"+id, map[string]string{"content": body}, nil)
	return err
}

func (a azure) remove(ctx context.Context, id string) error {
	_, err := a.Call(ctx, http.MethodDelete, a.threads()+"/"+id, nil, nil)
	return err
}
