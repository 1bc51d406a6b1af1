package host

import (
	"context"
	"net/http"
)

// actionsLogin is whose the texts of a job's own token are, which may not ask who it
// is.
const actionsLogin = "github-actions[bot]"

// GitHubLogin is the account that the token is of, by GitHub's name.
func (c Client) GitHubLogin(ctx context.Context) (string, error) {
	var user account
	_, err := c.Call(ctx, http.MethodGet, "/user", nil, &user)
	if Refused(err) {
		return actionsLogin, nil
	}
	return user.Login, err
}

// GitLabUsername is the account that the token is of, by GitLab's name.
func (c Client) GitLabUsername(ctx context.Context) (string, error) {
	var user account
	_, err := c.Call(ctx, http.MethodGet, "/user", nil, &user)
	return user.Username, err
}
