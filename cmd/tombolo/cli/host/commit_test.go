package host

import (
	"fmt"
	"net/http"
	"testing"

	"tombolo/cmd/tombolo/cli/clitest"

	"gotest.tools/v3/assert"
)

// TestReviewedByTheCommit: a job for a push is about the merged request of its commit.
func TestReviewedByTheCommit(t *testing.T) {
	answer := ""
	server := clitest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/repos/acme/clusters/commits/c0ffee/pulls", "/projects/9/repository/commits/c0ffee/merge_requests":
			fmt.Fprint(w, answer)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	jobs := map[string]map[string]string{
		"GitHub": {
			"GITHUB_ACTIONS": "true", "GITHUB_TOKEN": "t", "GITHUB_API_URL": server.URL, "GITHUB_REPOSITORY": "acme/clusters",
			"GITHUB_EVENT_NAME": "push", "GITHUB_SHA": "c0ffee", "GITHUB_REF": "refs/heads/main",
		},
		"GitLab": {
			"GITLAB_CI": "true", "GITLAB_TOKEN": "t", "CI_API_V4_URL": server.URL, "CI_PROJECT_ID": "9",
			"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_SHA": "c0ffee",
		},
	}
	for name, env := range jobs {
		number := map[string]string{"GitHub": "number", "GitLab": "iid"}[name]
		for reply, want := range map[string]int{
			`[]`: 0,
			fmt.Sprintf(`[{%q:7,"merged_at":"2026-01-02T03:04:05Z","merge_commit_sha":"c0ffee"}]`, number):                                                                    7,
			fmt.Sprintf(`[{%q:7,"merged_at":null,"merge_commit_sha":"c0ffee"}]`, number):                                                                                      0,
			fmt.Sprintf(`[{%q:6,"merged_at":"2026-01-02T03:04:05Z","merge_commit_sha":"other"},{%q:8,"merged_at":"2026-01-02","merge_commit_sha":"c0ffee"}]`, number, number): 8,
		} {
			t.Run(name+" "+reply, func(t *testing.T) {
				answer = reply
				r, err := Asked{Lookup: clitest.Env(env)}.Reviewed(t.Context(), "read")
				assert.NilError(t, err)
				assert.Equal(t, r.Number, want)
			})
		}
		answer = fmt.Sprintf(`[{%q:6,"merged_at":"2026-01-02","merge_commit_sha":"c0ffee"},{%q:8,"merged_at":"2026-01-02","merge_commit_sha":"c0ffee"}]`, number, number)
		_, err := Asked{Lookup: clitest.Env(env)}.Reviewed(t.Context(), "read")
		assert.ErrorContains(t, err, "came by more than one request")
	}
}
