package comment

import (
	"context"
	"fmt"
	"net/http"

	"tombolo/cmd/tombolo/cli/host"
)

// notes posts on a pull request at GitHub, to whose API its comments are an issue's, or on a merge
// request at GitLab, where a comment is a note.
type notes struct {
	host.Request
	// all is the path of the comments, query what lists the oldest first, one the path before the
	// id of a comment, and rewrite the method that changes it.
	all, query, one, rewrite string
}

func newNotes(r host.Request) notes {
	if r.Kind == host.OnGitLab {
		all := fmt.Sprintf("/projects/%s/merge_requests/%d/notes", r.Repository, r.Number)
		return notes{r, all, "?sort=asc&order_by=created_at&per_page=100", all + "/", http.MethodPut}
	}
	issues := fmt.Sprintf("/repos/%s/issues/", r.Repository)
	return notes{r, fmt.Sprintf("%s%d/comments", issues, r.Number), "?per_page=100", issues + "comments/", http.MethodPatch}
}

func (n notes) comments(ctx context.Context) ([]posted, error) {
	type person struct {
		Login    string `json:"login"`
		Username string `json:"username"`
	}
	found, err := host.List[struct {
		ID     int64  `json:"id"`
		Body   string `json:"body"`
		User   person `json:"user"`   // at GitHub
		Author person `json:"author"` // at GitLab
	}](ctx, n.Client, n.all+n.query)
	var all []posted
	for _, c := range found {
		by := c.User.Login
		if n.Kind == host.OnGitLab {
			by = c.Author.Username
		}
		all = append(all, posted{id: fmt.Sprint(c.ID), author: by, body: c.Body})
	}
	return all, err
}

func (n notes) create(ctx context.Context, body string) error {
	_, err := n.Call(ctx, http.MethodPost, n.all, map[string]string{"body": body}, nil)
	return err
}

func (n notes) update(ctx context.Context, id, body string) error {
	_, err := n.Call(ctx, n.rewrite, n.one+id, map[string]string{"body": body}, nil)
	return err
}

func (n notes) remove(ctx context.Context, id string) error {
	_, err := n.Call(ctx, http.MethodDelete, n.one+id, nil, nil)
	return err
}
