package webhook

import (
	"encoding/json"
	"testing"

	"gotest.tools/v3/assert"
)

// TestRequest: what a host says of who it is. The engines' own tests of it are in tests/lab.
func TestRequest(t *testing.T) {
	push := Push{Repository: "http://git.lab.test/platform.git", Branch: "main", Before: "1", After: "2", Files: []string{"a.yaml"}}
	for host, check := range map[string]struct{ header, value, page string }{
		GitHub:      {"X-GitHub-Event", "push", "repository.html_url http://git.lab.test/platform"},
		GitLab:      {"X-Gitlab-Token", "hunter2", "project.web_url http://git.lab.test/platform"},
		AzureDevOps: {"Authorization", "Basic dG9tYm9sbzpodW50ZXIy", "resource.repository.remoteUrl http://git.lab.test/platform.git"},
	} {
		r, err := Request(t.Context(), host, "http://flux.example.com/hook/x", "hunter2", push)
		assert.NilError(t, err)
		assert.Equal(t, r.Header.Get(check.header), check.value)
		var event struct {
			Repository struct {
				Page string `json:"html_url"`
			}
			Project struct {
				Page string `json:"web_url"`
			}
			Resource struct {
				Repository struct {
					URL string `json:"remoteUrl"`
				}
			}
		}
		assert.NilError(t, json.NewDecoder(r.Body).Decode(&event))
		got := map[string]string{
			GitHub: "repository.html_url " + event.Repository.Page, GitLab: "project.web_url " + event.Project.Page,
			AzureDevOps: "resource.repository.remoteUrl " + event.Resource.Repository.URL,
		}
		assert.Equal(t, got[host], check.page)
	}
	_, err := Request(t.Context(), "gitea", "http://flux.example.com/hook/x", "hunter2", push)
	assert.Error(t, err, `tell of a push: "gitea" is no kind of Git hosts; expected github, gitlab or azure-devops`)
}
