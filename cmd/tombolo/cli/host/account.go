package host

import (
	"context"
	"net/http"
)

// actionsLogin is whose the texts of a job's own token are, which may not ask who it
// is.
const actionsLogin = "github-actions[bot]"

// Account is whom the token is of: at GitHub and GitLab their name, at Azure DevOps their id.
func (c Client) Account(ctx context.Context, kind Kind) (string, error) {
	if kind == OnAzure {
		return c.azureUser(ctx)
	}
	var user account
	_, err := c.Call(ctx, http.MethodGet, "/user", nil, &user)
	switch {
	case kind == OnGitLab:
		return user.Username, err
	case Refused(err):
		return actionsLogin, nil
	}
	return user.Login, err
}
