package handover

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tombolo/automation/fault"
	"tombolo/internal/githubapp"
	"tombolo/internal/proxies"
)

// tokenTimeout bounds the question for a token.
const tokenTimeout = 30 * time.Second

// withToken has the password that a GitHub App gets; other credentials are as they were.
func (g *git) withToken(ctx context.Context, c Credentials) (Credentials, error) {
	if c.App == nil {
		return c, nil
	}
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	client := &http.Client{
		Transport:     &http.Transport{Proxy: func(r *http.Request) (*url.URL, error) { return g.proxyFor(ctx, r.URL) }},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // what is signed is for one host
	}
	defer client.CloseIdleConnections()
	token, err := c.App.Token(ctx, client)
	if err != nil {
		return c, &fault.Error{
			What:   fmt.Sprintf("get a token of the GitHub App %d: %v", c.App.ID, err),
			Remedy: "check appId, installationId and privateKey in gitops.auth, or use the credentials of your own git: add --own-credentials",
			Err:    err,
		}
	}
	return Credentials{Username: githubapp.User, Password: token}, nil
}

// proxyFor is the proxy by which git reaches an address: that of its settings, or else of the
// environment.
func (g *git) proxyFor(ctx context.Context, to *url.URL) (*url.URL, error) {
	if address, err := g.run(ctx, "config", "--get-urlmatch", "http.proxy", to.String()); err == nil && address != "" {
		return url.Parse(address)
	}
	return proxies.Of(func(name string) string {
		for _, kv := range g.env {
			if value, ok := strings.CutPrefix(kv, name+"="); ok {
				return value
			}
		}
		return ""
	})(to)
}
