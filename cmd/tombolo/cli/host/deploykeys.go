package host

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/internal/gitaddress"
)

// DeployKeys are the SSH keys by which machines read one repository at GitHub or GitLab.
type DeployKeys struct {
	Client
	path string // of the keys, in the API
	// gitLab says that the host is GitLab.
	gitLab bool
}

// DeployKeys finds those of the repository with an address, such as
// ssh://git@github.com/acme/platform.git. Without Kind, the address says it, or the environment
// of a job at the same host. Without URL, the API is that of the address's host.
func (a Asked) DeployKeys(address string) (DeployKeys, error) {
	host := gitaddress.Host(address)
	kind, err := a.kindOf(host)
	if err != nil {
		return DeployKeys{}, err
	}
	u, err := url.Parse(gitaddress.URL(address))
	if err != nil {
		return DeployKeys{}, fmt.Errorf("read the address of the repository: %w", err)
	}
	repository := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	variable := map[Kind]string{OnGitHub: "GITHUB_TOKEN", OnGitLab: "GITLAB_TOKEN"}[kind]
	token := a.env(variable)
	switch {
	case token == "":
		return DeployKeys{}, fault.NewPrecondition(variable+" is not set", "set it to a token that may write the deploy keys of "+repository, nil)
	case kind == OnGitLab:
		return DeployKeys{Client: GitLab(cmp.Or(a.URL, "https://"+host+"/api/v4"), token), path: "/projects/" + url.PathEscape(repository) + "/deploy_keys", gitLab: true}, nil
	case !repositoryPattern.MatchString(repository):
		return DeployKeys{}, fault.NewUsage(fmt.Sprintf("the repository in gitops.url is %q", repository), "GitHub's are like acme/platform")
	}
	return DeployKeys{Client: GitHub(cmp.Or(a.URL, gitHubAPI(host)), token), path: "/repos/" + repository + "/keys"}, nil
}

// kindOf is the kind of a host.
func (a Asked) kindOf(host string) (Kind, error) {
	switch {
	case host == "dev.azure.com" || a.Kind == OnAzure:
		return "", fault.NewUsage("Azure DevOps has no deploy keys",
			"add the public key to an account that may only read, in its user settings")
	case a.Kind != Auto && a.Kind != "":
		return a.Kind, nil
	case host == "github.com" || strings.HasSuffix(host, ".ghe.com"):
		return OnGitHub, nil
	case host == "gitlab.com":
		return OnGitLab, nil
	// The job's token is for the job's own host, and a cluster file must not send it to another.
	case a.env("GITHUB_ACTIONS") != "" && a.env("GITHUB_SERVER_URL") == "https://"+host:
		return OnGitHub, nil
	case a.env("GITLAB_CI") != "" && a.env("CI_SERVER_HOST") == host:
		return OnGitLab, nil
	}
	return "", fault.NewUsage(fmt.Sprintf("the kind of the Git host %s is not known", host), "give --host github or --host gitlab")
}

// gitHubAPI is the address of a GitHub's API; "" for github.com's.
func gitHubAPI(host string) string {
	switch {
	case host == "github.com":
		return ""
	case strings.HasSuffix(host, ".ghe.com"):
		return "https://api." + host
	}
	return "https://" + host + "/api/v3"
}

// deployKey is a key in the APIs: GitHub says read_only of it, and GitLab can_push.
// https://docs.github.com/en/rest/deploy-keys/deploy-keys and https://docs.gitlab.com/api/deploy_keys/
type deployKey struct {
	Title    string `json:"title"`
	Key      string `json:"key"`
	ReadOnly *bool  `json:"read_only,omitempty"`
	CanPush  *bool  `json:"can_push,omitempty"`
}

// mostKeys is what one page of either API has at most.
const mostKeys = 100

// Ensure has the host take a public key, in the form of authorized_keys, for reading alone. made
// is false where it has the key already. A key that may write is an error: it is not what was
// asked for, and others may use it.
func (k DeployKeys) Ensure(ctx context.Context, title, public string) (made bool, err error) {
	keys, err := List[deployKey](ctx, k.Client, fmt.Sprintf("%s?per_page=%d", k.path, mostKeys))
	if err != nil {
		return false, fmt.Errorf("list the deploy keys: %w", err)
	}
	for _, key := range keys {
		if sameKey(key.Key, public) {
			return false, key.readsOnly()
		}
	}
	key := deployKey{Title: title, Key: public}
	if k.gitLab {
		key.CanPush = new(false)
	} else {
		key.ReadOnly = new(true)
	}
	if _, err := k.Call(ctx, http.MethodPost, k.path, key, nil); err != nil {
		return false, fmt.Errorf("add the deploy key: %w", err)
	}
	return true, nil
}

func (key deployKey) readsOnly() error {
	if key.ReadOnly != nil && !*key.ReadOnly || key.CanPush != nil && *key.CanPush {
		return fault.NewPrecondition(fmt.Sprintf("the host has the key as %q, and lets it write", key.Title),
			"delete it there, and run the command again", nil)
	}
	return nil
}

// sameKey compares kind and key, and not the comment after them.
func sameKey(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	return len(x) >= 2 && len(y) >= 2 && x[0] == y[0] && x[1] == y[1]
}
