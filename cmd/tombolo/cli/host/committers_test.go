package host

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tombolo/cmd/tombolo/cli/clitest"

	"gotest.tools/v3/assert"
)

// changed is a request with what a test has changed of the host's answers.
type changed struct {
	answers map[string]string
	at      func(*testing.T, map[string]string) Request
}

// committersAt are requests that ada and bobo have approved, by host. Somebody else has opened
// them; eve has pushed.
func committersAt() map[string]func() changed {
	return map[string]func() changed{
		"GitHub": func() changed {
			const pull, people = "/repos/acme/clusters/pulls/7", "/repos/acme/clusters/collaborators/"
			return changed{map[string]string{
				pull:                           `{"user":{"id":9,"login":"author"},"commits":2,"head":{"sha":"c2","ref":"x","repo":{"full_name":"acme/clusters"}}}`,
				pull + "/reviews?per_page=100": `[{"user":{"id":1,"login":"ada"},"state":"APPROVED","commit_id":"c2"},{"user":{"id":2,"login":"bobo"},"state":"APPROVED","commit_id":"c2"}]`,
				pull + "/commits?per_page=100": `[{"sha":"c1","author":{"id":5,"login":"eve"},"committer":{"id":5}},{"sha":"c2","author":{"id":5},"committer":{"id":19864447,"login":"web-flow"}}]`,
				"/repos/acme/clusters/activity?per_page=100&ref=refs%2Fheads%2Fx": `[{"before":"c1","after":"c2","ref":"refs/heads/x","activity_type":"push","actor":{"id":5}},
					{"before":"0000000000000000000000000000000000000000","after":"c1","ref":"refs/heads/x","activity_type":"branch_creation","actor":{"id":5}}]`,
				people + "ada/permission": `{"permission":"write"}`, people + "bobo/permission": `{"permission":"write"}`,
			}, func(t *testing.T, a map[string]string) Request { return requestAt(t, OnGitHub, a) }}
		},
		"GitLab": func() changed {
			const merge = "/projects/9/merge_requests/7"
			return changed{map[string]string{
				merge:                           `{"author":{"id":9},"sha":"c2","source_branch":"x","source_project_id":9}`,
				merge + "/approvals":            `{"approved_by":[{"user":{"id":1,"username":"ada"}},{"user":{"id":2,"username":"bobo"}}]}`,
				merge + "/commits?per_page=100": `[{"id":"c2","author_name":"Eve","author_email":"eve@x","committer_name":"Eve","committer_email":"eve@x"},{"id":"c1"}]`,
				"/projects/9/events?action=pushed&per_page=100": `[{"author_id":7,"push_data":{"ref_type":"branch","ref":"y","commit_from":null,"commit_to":"c2"}},
					{"author_id":5,"push_data":{"ref_type":"branch","ref":"x","commit_from":"c1","commit_to":"c2"}},
					{"author_id":5,"push_data":{"ref_type":"branch","ref":"x","commit_from":null,"commit_to":"c1"}}]`,
				"/projects/9/members/all/1": `{"access_level":30}`, "/projects/9/members/all/2": `{"access_level":30}`,
				"/users/1": `{"id":1,"name":"Ada","public_email":""}`, "/users/2": `{"id":2,"name":"Bobo","public_email":"bobo@x"}`,
			}, func(t *testing.T, a map[string]string) Request { return requestAt(t, OnGitLab, a) }}
		},
		"Azure": func() changed {
			const pull, rights = "/7e5/_apis/git/repositories/c1u/pullRequests/7", "/_apis/accesscontrollists/" + azureGit
			person := func(id string) string {
				return fmt.Sprintf(`{"value":[{"descriptor":"Microsoft.IdentityModel.Claims.ClaimsIdentity;%s","isActive":true}]}`, id)
			}
			voted := func(id string) string {
				return fmt.Sprintf(`{"publishedDate":"2026-01-02T10:00:00Z","properties":{"CodeReviewThreadType":{"$value":"VoteUpdate"}},"comments":[{"author":{"id":%q}}]}`, id)
			}
			may := func(id string) string {
				return fmt.Sprintf(`"Microsoft.IdentityModel.Claims.ClaimsIdentity;%s":{"extendedInfo":{"effectiveAllow":4}}`, id)
			}
			return changed{map[string]string{
				pull: `{"pullRequestId":7,"createdBy":{"id":"author"},"sourceRefName":"refs/heads/x","lastMergeSourceCommit":{"commitId":"c2"},
					"repository":{"id":"c1u","project":{"id":"7e5"}},"reviewers":[{"id":"ada","uniqueName":"ada@x","vote":10},{"id":"bobo","uniqueName":"bobo@x","vote":10}]}`,
				pull + "/iterations": `{"value":[{"createdDate":"2026-01-02T09:00:00Z"}]}`,
				pull + "/threads":    `{"value":[` + voted("ada") + `,` + voted("bobo") + `]}`,
				pull + "/commits":    `{"value":[{"commitId":"c2","author":{"email":"eve@x"},"committer":{"email":"eve@x"}},{"commitId":"c1"}]}`,
				"/7e5/_apis/git/repositories/c1u/pushes": `{"value":[{"pushedBy":{"id":"eve"},"refUpdates":[{"name":"refs/heads/x","oldObjectId":"c1","newObjectId":"c2"}]},
					{"pushedBy":{"id":"eve"},"refUpdates":[{"name":"refs/heads/x","oldObjectId":"0000000000000000000000000000000000000000","newObjectId":"c1"}]}]}`,
				"/_apis/identities ada": person("ada"), "/_apis/identities bobo": person("bobo"),
				rights: `{"value":[{"acesDictionary":{` + may("ada") + `,` + may("bobo") + `}}]}`,
			}, azureAt}
		},
	}
}

// azureAt is a request at Azure Repos, whose answers are by path; those about identities by id.
func azureAt(t *testing.T, answers map[string]string) Request {
	t.Helper()
	server := clitest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[strings.TrimSpace(r.URL.Path+" "+r.URL.Query().Get("identityIds"))]
		switch {
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Query().Get("$skip") > "0" || r.URL.Query().Get("continuationToken") != "":
			fmt.Fprint(w, answers["second "+r.URL.Path]+`{"value":[]}`)
		default:
			w.Header().Set("X-Ms-Continuationtoken", answers["more "+r.URL.Path])
			fmt.Fprint(w, answer)
		}
	}))
	return Request{Client: Azure(server.URL, azureJob), Kind: OnAzure, Repository: "7e5/_apis/git/repositories/c1u", Number: 7}
}

// TestCommittersDoNotApprove: who has committed something of a request, or has pushed it, is not
// among those who approve it, whoever has opened it and whatever name is on the commits. Where
// the host does not tell all of it, nobody is.
func TestCommittersDoNotApprove(t *testing.T) {
	both, nobody := "ada bobo", ""
	tests := map[string][]struct {
		name, path, old, new string
		want, err            string
	}{
		"GitHub": {
			{name: "as it is", want: both},
			{"an author of a commit", "/commits?", `"author":{"id":5,"login":"eve"}`, `"author":{"id":1}`, "bobo", ""},
			{"who has committed", "/commits?", `"committer":{"id":5}`, `"committer":{"id":2}`, "ada", ""},
			{"who has pushed by another name", "/activity", `"push","actor":{"id":5}`, `"push","actor":{"id":2}`, "ada", ""},
			{"commits without an account", "/commits?", `"author":{"id":5,"login":"eve"}`, `"author":null`, nobody, "commit c1 has an author or committer without an account"},
			{"more commits than are told", "/pulls/7", `"commits":2`, `"commits":251`, nobody, "the host tells 2 of its 251 commits"},
			{"a push that is not told", "/activity", `"before":"c1"`, `"before":"c0"`, nobody, "who has pushed it is not told by the host"},
			{"a push of nobody", "/activity", `"push","actor":{"id":5}`, `"push","actor":null`, nobody, "who has pushed it is not told by the host"},
			{"a fork that is gone", "/pulls/7", `"repo":{"full_name":"acme/clusters"}`, `"repo":null`, nobody, "the branch that it comes from is gone"},
			{"no answer", "/activity", "", "404", nobody, "404 Not Found"},
		},
		"GitLab": {
			{name: "as it is", want: both},
			{"a name of a commit", "/commits?", `"author_name":"Eve"`, `"author_name":"Ada"`, "bobo", ""},
			{"an address of a commit", "/commits?", `"committer_email":"eve@x"`, `"committer_email":"BOBO@x"`, "ada", ""},
			{"who has pushed by another name", "/events", `"author_id":5,"push_data":{"ref_type":"branch","ref":"x","commit_from":"c1"`, `"author_id":2,"push_data":{"ref_type":"branch","ref":"x","commit_from":"c1"`, "ada", ""},
			{"a push that is not told", "/events", `"commit_from":"c1"`, `"commit_from":"c0"`, nobody, "who has pushed it is not told by the host"},
			{"no commits", "/commits?", "", "[]", nobody, "the host tells none of its commits"},
			{"no answer", "/events", "", "404", nobody, "404 Not Found"},
		},
		"Azure": {
			{name: "as it is", want: "ada@x bobo@x"},
			{"an address of a commit", "/commits", `"author":{"email":"eve@x"}`, `"author":{"email":"Ada@x"}`, "bobo@x", ""},
			{"who has pushed by another name", "/pushes", `{"id":"eve"},"refUpdates":[{"name":"refs/heads/x","oldObjectId":"c1"`, `{"id":"bobo"},"refUpdates":[{"name":"refs/heads/x","oldObjectId":"c1"`, "ada@x", ""},
			{"a push that is not told", "/pushes", `"oldObjectId":"c1"`, `"oldObjectId":"c0"`, nobody, "who has pushed it is not told by the host"},
			{"no commits", "/commits", "", `{"value":[]}`, nobody, "the host tells none of its commits"},
			{"a fork", "pullRequests/7", `"sourceRefName"`, `"forkSource":{"name":"refs/heads/x"},"sourceRefName"`, nobody, "the branch that it comes from is in a fork"},
			{"no answer", "/pushes", "", "404", nobody, "404 Not Found"},
		},
	}
	for host, make := range committersAt() {
		for _, test := range tests[host] {
			t.Run(host+" "+test.name, func(t *testing.T) {
				c := make()
				for path, answer := range c.answers {
					switch {
					case test.path == "" || !strings.Contains(path, test.path) || test.path[0] != '/' && !strings.HasSuffix(path, test.path) || test.path == "/pulls/7" && !strings.HasSuffix(path, test.path):
					case test.old == "" && test.new == "404":
						delete(c.answers, path)
					case test.old == "":
						c.answers[path] = test.new
					default:
						assert.Assert(t, strings.Contains(answer, test.old))
						c.answers[path] = strings.Replace(answer, test.old, test.new, 1)
					}
				}
				got, err := c.at(t, c.answers).Approvals(t.Context())
				if test.err != "" {
					assert.ErrorContains(t, err, test.err)
					return
				}
				assert.NilError(t, err)
				assert.Equal(t, strings.Join(got, " "), test.want)
			})
		}
	}
}
