package workflows

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const planKey = "TOMBOLO_PLAN_KEY"

// TestPlanKey: the job that makes the plan and the one that applies it have the key by which
// secrets are compared, and nothing else has it: neither a job that runs for a request, nor
// one that a branch may change, as only the default branch gets into their environments.
func TestPlanKey(t *testing.T) {
	for _, file := range files(t) {
		w, _ := load(t, file)
		for id, j := range w.Jobs {
			name := filepath.Base(file) + " " + id
			has := false
			for _, s := range j.Steps {
				value, ok := s.Env[planKey]
				if !ok {
					continue
				}
				has = true
				assert.Check(t, is.Equal(value, "${{ secrets.TOMBOLO_PLAN_KEY }}"), name)
				assert.Check(t, strings.Contains(s.Run, " --plan "), name)
			}
			wants := name == "apply.yml plan" || name == "apply.yml apply"
			assert.Check(t, is.Equal(has, wants), name)
			assert.Check(t, is.Equal(j.Environment == "plan" || j.Environment == "apply", wants), name)
			assert.Check(t, !wants || j.Environment == id && j.If == "github.ref == 'refs/heads/main'", name)
		}
	}
	for name, j := range azureJobs(t) {
		wants, has := name == "plan" || name == "apply", false
		for _, s := range j.steps() {
			if value, ok := s.Env[planKey]; ok {
				has = true
				assert.Check(t, is.Equal(value, "$(TOMBOLO_PLAN_KEY)"), name)
			}
		}
		assert.Check(t, is.Equal(has, wants), name)
	}
	// GitLab gives variables by their scope: the head of the file says which.
	_, jobs, _ := gitLab(t)
	for name, j := range jobs {
		in := j.Environment["name"]
		assert.Check(t, is.Equal(in == "plan" || in == "apply", name == "plan" || name == "apply"), name)
	}
	text, err := os.ReadFile("../../.gitlab-ci.yml")
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(text), "#   TOMBOLO_PLAN_KEY      masked and protected, with the environments plan and apply as its scope"))
}
