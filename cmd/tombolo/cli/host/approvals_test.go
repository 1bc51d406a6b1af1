package host

import (
	"fmt"
	"net/http"
	"testing"

	"tombolo/cmd/tombolo/cli/clitest"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// requestAt is a request at a host that answers by path.
func requestAt(t *testing.T, kind Kind, answers map[string]string) Request {
	t.Helper()
	server := clitest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	if kind == OnGitLab {
		return Request{Client: GitLab(server.URL, "t0ken"), Kind: kind, Repository: "9", Number: 7}
	}
	return Request{Client: GitHub(server.URL, "t0ken"), Kind: kind, Repository: "acme/clusters", Number: 7}
}

func TestApprovals(t *testing.T) {
	const pull = "/repos/acme/clusters/pulls/7"
	by := func(login, state, commit string) string {
		return fmt.Sprintf(`{"user":{"id":%d,"login":%q},"state":%q,"commit_id":%q}`, len(login), login, state, commit)
	}
	may := func(permission string) string { return fmt.Sprintf(`{"permission":%q}`, permission) }
	const people = "/repos/acme/clusters/collaborators/"
	const request, members = "/projects/9/merge_requests/7", "/projects/9/members/all/"
	for name, r := range map[string]Request{
		"GitHub": requestAt(t, OnGitHub, map[string]string{
			pull:                           `{"user":{"id":6,"login":"author"},"commits":1,"head":{"sha":"new","ref":"x","repo":{"full_name":"acme/clusters"}}}`,
			pull + "/commits?per_page=100": `[{"sha":"new","author":{"id":6},"committer":{"id":6}}]`,
			// Who has pushed is on two pages.
			"/repos/acme/clusters/activity?per_page=100&ref=refs%2Fheads%2Fx":        `[{"before":"old","after":"new","actor":{"id":6}}]`,
			"/second/repos/acme/clusters/activity?per_page=100&ref=refs%2Fheads%2Fx": `[{"before":"00","after":"old","actor":{"id":6}}]`,
			pull + "/reviews?per_page=100": "[" + by("bobo", "APPROVED", "new") + "," +
				by("of an older commit", "APPROVED", "old") + "," +
				by("a stranger", "APPROVED", "new") + "," +
				by("one who reads", "APPROVED", "new") + "," +
				by("author", "APPROVED", "new") + "," +
				by("of another mind", "APPROVED", "new") + "," +
				`{"user":{"id":99,"login":"robot","type":"Bot"},"state":"APPROVED","commit_id":"new"},` +
				by("ada", "CHANGES_REQUESTED", "old") + "]",
			"/second" + pull + "/reviews?per_page=100": "[" + by("of another mind", "DISMISSED", "new") + "," +
				by("bobo", "COMMENTED", "new") + "," +
				by("ada", "APPROVED", "new") + "]",
			people + "ada/permission": may("admin"), people + "bobo/permission": may("write"), people + "robot/permission": may("write"),
			people + "one%20who%20reads/permission": may("read"),
		}),
		"GitLab": requestAt(t, OnGitLab, map[string]string{
			request:                           `{"author":{"id":1,"username":"author"},"sha":"new","source_branch":"x","source_project_id":9}`,
			request + "/commits?per_page=100": `[{"author_name":"Author","author_email":"author@x"}]`,
			"/projects/9/events?action=pushed&per_page=100":        `[{"author_id":1,"push_data":{"ref_type":"branch","ref":"x","commit_from":"old","commit_to":"new"}}]`,
			"/second/projects/9/events?action=pushed&per_page=100": `[{"author_id":1,"push_data":{"ref_type":"branch","ref":"x","commit_from":null,"commit_to":"old"}}]`,
			request + "/approvals": `{"approved_by":[{"user":{"id":2,"username":"bobo"}},{"user":{"id":1,"username":"author"}},
				{"user":{"id":3,"username":"ada"}},{"user":{"id":4,"username":"reporter"}},{"user":{"id":5,"username":"gone"}},
				{"user":{"id":6,"username":"project_9_bot"}}]}`,
			members + "2": `{"access_level":30}`, members + "3": `{"access_level":50}`, members + "4": `{"access_level":20}`, members + "6": `{"access_level":40}`,
			"/users/2": `{"id":2}`, "/users/3": `{"id":3,"bot":false}`, "/users/6": `{"id":6,"bot":true}`,
		}),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := r.Approvals(t.Context())
			assert.NilError(t, err)
			assert.Check(t, is.Equal(cmp.Diff([]string{"ada", "bobo"}, got), ""))
		})
	}
	for _, kind := range []Kind{OnGitHub, OnGitLab} {
		if got, err := requestAt(t, kind, nil).Approvals(t.Context()); err == nil {
			t.Errorf("%s: a request that is not there is approved by %v", kind, got)
		}
	}
}
