package workflows

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestSecretsHaveTheirOwnRunners: what a branch runs may wait on its runner for the next job.
// So a job with secrets takes the runners of applies, and no job of a request does.
func TestSecretsHaveTheirOwnRunners(t *testing.T) {
	seen := 0
	check := func(host, job string, applies bool) {
		assert.Check(t, is.Equal(applies, len(mayHave[job]) > 0), "%s: job %s has the runners of applies", host, job)
		if applies {
			seen++
		}
	}
	for _, file := range files(t) {
		w, _ := load(t, file)
		for id, j := range w.Jobs {
			check(filepath.Base(file), id, strings.HasPrefix(j.RunsOn, "${{ vars.TOMBOLO_APPLY_RUNNER "))
		}
	}
	for name, j := range azureJobs(t) {
		pool, err := yaml.Marshal(&j.Pool)
		assert.NilError(t, err)
		check("Azure DevOps", name, strings.Contains(string(pool), "parameters.applyPool"))
	}
	assert.Equal(t, seen, 2*len(mayHave))
}

// settings are those of GitLab's projects that let a merge request have what the default
// branch has. Nothing in the repository can hold them: the guide has to say them.
var settings = []string{"ci_allow_fork_pipelines_to_run_in_parent_project", "merge_pipelines_enabled", "protect_merge_request_pipelines"}

// TestGitLabsSettingsAreAsked: the guide, and the head of the pipeline, say what to set before
// there are roles and secrets.
func TestGitLabsSettingsAreAsked(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide/pipelines.md")
	assert.NilError(t, err)
	pipeline, err := os.ReadFile("../../.gitlab-ci.yml")
	assert.NilError(t, err)
	head, _, _ := strings.Cut(string(pipeline), "\nstages:")
	for _, name := range settings {
		assert.Check(t, strings.Contains(string(guide), "`"+name+"`"), "the guide does not have %s", name)
		assert.Check(t, strings.Contains(head, name), "the head does not have %s", name)
	}
	const protected = "`apply`, `remediate`, `plan` and `preview-program`"
	for name, text := range map[string]string{
		"head": strings.ReplaceAll(head, "\n#", " "), "guide": string(guide),
	} {
		assert.Check(t, strings.Contains(strings.Join(strings.Fields(text), " "), protected), "the %s does not have %s protected", name, protected)
	}
}
