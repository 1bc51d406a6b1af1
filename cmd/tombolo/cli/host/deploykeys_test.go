package host

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"tombolo/cmd/tombolo/cli/clitest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// keyHost plays the deploy keys of one repository in pages of one key, as strict as the hosts are
// about the form of a request.
type keyHost struct {
	t *testing.T
	// path of the keys, and the header and the words of each kind of host.
	path, header, token string
	reads               string
	keys                []map[string]any
	posts               int
}

func (h *keyHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	assert.Check(h.t, is.Equal(r.URL.EscapedPath(), h.path))
	if r.Header.Get(h.header) != h.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.Method == http.MethodGet {
		page := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &page)
		if page+1 < len(h.keys) {
			w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=%d>; rel="next"`, r.Host, h.path, page+1))
		}
		_ = json.NewEncoder(w).Encode(h.keys[min(page, len(h.keys)):min(page+1, len(h.keys))])
		return
	}
	h.posts++
	text, err := io.ReadAll(r.Body)
	assert.Check(h.t, err)
	var sent map[string]any
	assert.Check(h.t, json.Unmarshal(text, &sent))
	assert.Check(h.t, is.Equal(r.Method, http.MethodPost))
	assert.Check(h.t, is.Equal(r.Header.Get("Content-Type"), "application/json"))
	want := map[string]any{"title": "tombolo demo", "key": sent["key"], h.reads: h.reads == "read_only"}
	assert.Check(h.t, is.DeepEqual(sent, want))
	h.keys = append(h.keys, sent)
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(text)
}

// TestDeployKeys: each host is asked once for a key that reads alone, whatever page it would be on,
// and one that writes is nobody's wish.
func TestDeployKeys(t *testing.T) {
	const key = "ssh-ed25519 AAAAC3Nza"
	for address, h := range map[string]*keyHost{
		"ssh://git@ssh.github.com:443/acme/platform.git": {path: "/repos/acme/platform/keys", header: "Authorization", token: "Bearer t0ken", reads: "read_only"},
		"git@gitlab.com:acme/Teams/platform.git":         {path: "/projects/acme%2FTeams%2Fplatform/deploy_keys", header: "Private-Token", token: "t0ken", reads: "can_push"},
	} {
		h.t = t
		h.keys = []map[string]any{{"title": "of others", "key": "ssh-ed25519 BBBB of others", h.reads: true}}
		server := clitest.Serve(t, h)
		token := "t0ken"
		asked := Asked{Lookup: func(name string) (string, bool) { return token, strings.HasSuffix(name, "_TOKEN") }, URL: server.URL}
		keys, err := asked.DeployKeys(address)
		assert.NilError(t, err)
		for _, want := range []bool{true, false} {
			made, err := keys.Ensure(t.Context(), "tombolo demo", key)
			assert.Check(t, err == nil && made == want, "%s: %v, %v", address, made, err)
		}
		assert.Check(t, is.Equal(h.posts, 1))

		h.keys[1][h.reads] = h.reads == "can_push" // it writes
		h.keys[1]["key"] = key + " comment"
		_, err = keys.Ensure(t.Context(), "tombolo demo", key)
		assert.Check(t, is.ErrorContains(err, `the host has the key as "tombolo demo", and lets it write; delete it there`))
		token = "guess"
		keys, err = asked.DeployKeys(address)
		assert.NilError(t, err)
		_, err = keys.Ensure(t.Context(), "tombolo demo", key)
		assert.Check(t, is.ErrorContains(err, "list the deploy keys: GET "))
		assert.Check(t, is.Equal(h.posts, 1))
	}
}

// TestDeployKeysGoToTheirHost: a token goes to the host of the repository that it is for.
func TestDeployKeysGoToTheirHost(t *testing.T) {
	for _, test := range []struct {
		address string
		kind    Kind
		env     string
		want    string // the API, or the error
	}{
		{"ssh://git@github.com/acme/platform.git", Auto, "GITHUB_TOKEN=x", "https://api.github.com"},
		{"ssh://acme@acme.ghe.com/acme/platform.git", Auto, "GITHUB_TOKEN=x", "https://api.acme.ghe.com"},
		{"ssh://git@gitlab.com/acme/platform.git", Auto, "GITLAB_TOKEN=x", "https://gitlab.com/api/v4"},
		{"ssh://git@git.example.com:2222/acme/platform.git", OnGitHub, "GITHUB_TOKEN=x", "https://git.example.com/api/v3"},
		{"ssh://git@git.example.com/acme/platform.git", Auto, "GITLAB_TOKEN=x GITLAB_CI=true CI_SERVER_HOST=git.example.com", "https://git.example.com/api/v4"},
		{"ssh://git@git.example.com/acme/platform.git", Auto, "GITHUB_TOKEN=x GITHUB_ACTIONS=true GITHUB_SERVER_URL=https://git.example.com", "https://git.example.com/api/v3"},
		{"ssh://git@evil.example.com/acme/platform.git", Auto, "GITHUB_TOKEN=x GITHUB_ACTIONS=true GITHUB_SERVER_URL=https://github.com", "the kind of the Git host evil.example.com is not known; give --host github or --host gitlab"},
		{"ssh://git@evil.example.com/acme/platform.git", Auto, "GITLAB_TOKEN=x GITLAB_CI=true CI_SERVER_HOST=gitlab.com", "the kind of the Git host evil.example.com is not known; give --host github or --host gitlab"},
		{"git@ssh.dev.azure.com:v3/org/project/repo", Auto, "", "Azure DevOps has no deploy keys; add the public key to an account that may only read, in its user settings"},
		{"ssh://git@github.com/acme/platform.git", Auto, "", "GITHUB_TOKEN is not set; set it to a token that may write the deploy keys of acme/platform"},
		{"ssh://git@github.com/platform.git", Auto, "GITHUB_TOKEN=x", `the repository in gitops.url is "platform"; GitHub's are like acme/platform`},
	} {
		env := map[string]string{}
		for _, kv := range strings.Fields(test.env) {
			name, value, _ := strings.Cut(kv, "=")
			env[name] = value
		}
		keys, err := Asked{Kind: test.kind, Lookup: clitest.Env(env)}.DeployKeys(test.address)
		if strings.HasPrefix(test.want, "https://") {
			assert.Check(t, err == nil && keys.Base == test.want, "%s: %s, %v", test.address, keys.Base, err)
			continue
		}
		assert.Check(t, is.Error(err, test.want), test.address)
	}
}
