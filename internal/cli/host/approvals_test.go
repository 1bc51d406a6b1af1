package host

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// requestAt is a request at a host that answers by path.
func requestAt(t *testing.T, kind Kind, answers map[string]string) Request {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.RequestURI()]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if next := "/second" + r.URL.RequestURI(); answers[next] != "" {
			w.Header().Set("Link", fmt.Sprintf(`<http://%s%s>; rel="next"`, r.Host, next))
		}
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(server.Close)
	if kind == OnGitLab {
		return Request{Client: GitLab(server.URL, "t0ken"), Kind: kind, Repository: "9", Number: 7}
	}
	return Request{Client: GitHub(server.URL, "t0ken"), Kind: kind, Repository: "acme/clusters", Number: 7}
}

func TestApprovals(t *testing.T) {
	const pull = "/repos/acme/clusters/pulls/7"
	by := func(login, state, commit, association string) string {
		return fmt.Sprintf(`{"user":{"login":%q},"state":%q,"commit_id":%q,"author_association":%q}`, login, state, commit, association)
	}
	for name, r := range map[string]Request{
		"GitHub": requestAt(t, OnGitHub, map[string]string{
			pull: `{"user":{"login":"author"},"head":{"sha":"new"}}`,
			pull + "/reviews?per_page=100": "[" + by("bob", "APPROVED", "new", "MEMBER") + "," +
				by("of an older commit", "APPROVED", "old", "OWNER") + "," +
				by("a stranger", "APPROVED", "new", "NONE") + "," +
				by("author", "APPROVED", "new", "OWNER") + "," +
				by("of another mind", "APPROVED", "new", "OWNER") + "," +
				by("ada", "CHANGES_REQUESTED", "old", "COLLABORATOR") + "]",
			"/second" + pull + "/reviews?per_page=100": "[" + by("of another mind", "DISMISSED", "new", "OWNER") + "," +
				by("bob", "COMMENTED", "new", "MEMBER") + "," +
				by("ada", "APPROVED", "new", "COLLABORATOR") + "]",
		}),
		"GitLab": requestAt(t, OnGitLab, map[string]string{
			"/projects/9/merge_requests/7":           `{"author":{"username":"author"}}`,
			"/projects/9/merge_requests/7/approvals": `{"approved_by":[{"user":{"username":"bob"}},{"user":{"username":"author"}},{"user":{"username":"ada"}}]}`,
		}),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := r.Approvals(t.Context())
			assert.NilError(t, err)
			assert.Check(t, is.Equal(cmp.Diff([]string{"ada", "bob"}, got), ""))
		})
	}
	for _, kind := range []Kind{OnGitHub, OnGitLab} {
		if got, err := requestAt(t, kind, nil).Approvals(t.Context()); err == nil {
			t.Errorf("%s: a request that is not there is approved by %v", kind, got)
		}
	}
}
