package ci

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestOf(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want Job
	}{
		{map[string]string{"GITHUB_RUN_ID": "7"}, Job{}},
		{
			map[string]string{
				"GITHUB_ACTIONS": "true", "GITHUB_WORKFLOW": "deploy", "GITHUB_RUN_ID": "7", "GITHUB_ACTOR": "alice",
				"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/platform",
			},
			Job{Pipeline: "deploy", Run: "7", URL: "https://github.com/acme/platform/actions/runs/7", Actor: "alice"},
		},
		{
			map[string]string{
				"GITLAB_CI": "true", "CI_PROJECT_PATH": "acme/platform", "CI_PIPELINE_ID": "8", "GITLAB_USER_LOGIN": "bob",
				"CI_PIPELINE_URL": "https://gitlab.com/acme/platform/-/pipelines/8",
			},
			Job{Pipeline: "acme/platform", Run: "8", URL: "https://gitlab.com/acme/platform/-/pipelines/8", Actor: "bob"},
		},
		{
			map[string]string{
				"TF_BUILD": "True", "BUILD_DEFINITIONNAME": "deploy", "BUILD_BUILDID": "9", "BUILD_REQUESTEDFOR": "Carol",
				"SYSTEM_COLLECTIONURI": "https://dev.azure.com/acme/", "SYSTEM_TEAMPROJECT": "My project",
			},
			Job{Pipeline: "deploy", Run: "9", URL: "https://dev.azure.com/acme/My%20project/_build/results?buildId=9", Actor: "Carol"},
		},
		{map[string]string{"GITLAB_CI": "true", "CI_PIPELINE_ID": "8", "CI_PIPELINE_URL": "https://u:hunter2@gitlab.example/8"}, Job{Run: "8"}},
		{map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "7"}, Job{Run: "7"}},
	} {
		got := Of(func(name string) (string, bool) {
			value, ok := test.env[name]
			return value, ok
		})
		assert.Check(t, is.Equal(got, test.want))
	}
}
