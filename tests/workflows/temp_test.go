package workflows

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestTemporaryFilesGoWithTheJob: a job that is killed leaves the copy of a state where its
// host removes it, and not in a directory that the next job reads.
func TestTemporaryFilesGoWithTheJob(t *testing.T) {
	seen := map[string]int{}
	check := func(host, where string, env map[string]string, scripts ...string) {
		if !slices.ContainsFunc(commands(scripts...), func(line string) bool { return looks.MatchString(line) || strings.HasPrefix(line, "up ") }) {
			return
		}
		seen[host]++
		assert.Check(t, is.Equal(env["TMPDIR"], where), "%s: %q", host, scripts)
	}
	for _, file := range files(t) {
		w, _ := load(t, file)
		for _, j := range w.Jobs {
			for _, s := range j.Steps {
				check("GitHub", "${{ runner.temp }}", s.Env, s.Run)
			}
		}
	}
	for _, j := range azureJobs(t) {
		for _, s := range j.steps() {
			check("Azure DevOps", "$(Agent.TempDirectory)", s.Env, s.script())
		}
	}
	_, jobs, _ := gitLab(t)
	for _, j := range jobs {
		before := j.BeforeScript
		if before == nil {
			before = jobs[j.Extends].BeforeScript
		}
		env := map[string]string{}
		if strings.Contains(strings.Join(before, "\n"), `export TMPDIR="$TOMBOLO_TEMP" `) {
			env["TMPDIR"] = "$TOMBOLO_TEMP"
		}
		check("GitLab", "$TOMBOLO_TEMP", env, j.Script...)
	}
	assert.DeepEqual(t, seen, map[string]int{"GitHub": 6, "GitLab": 6, "Azure DevOps": 6})
}
