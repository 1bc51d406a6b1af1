package workflows

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// named are the files that a command of ours reads or writes for later steps, jobs and people.
var named = regexp.MustCompile(`(?:--(?:file|plan|plan-output|html|report) |>)([^\s)]+)`)

// apart are files in directories that the host empties for the job, and that no checkout is
// in. GitLab's project directory is one where GIT_STRATEGY is empty. That of upstream is
// made by the commit's own code.
var apart = regexp.MustCompile(`^"\$(RUNNER_TEMP|TOMBOLO_TEMP|BUILD_ARTIFACTSTAGINGDIRECTORY|AGENT_TEMPDIRECTORY` +
	`|PIPELINE_WORKSPACE/(preview|preview-program|promotion|plan)|CI_PROJECT_DIR)/[a-z.-]+"$` +
	`|^"\$(GITHUB_OUTPUT|GITHUB_STEP_SUMMARY|AWS_WEB_IDENTITY_TOKEN_FILE)"$|^bin/upstream\.md$`)

// TestNoTrackedFileIsTaken: what jobs hand on, and what they post, is in no checkout, where a
// file of the same name may wait for the command that fails.
func TestNoTrackedFileIsTaken(t *testing.T) {
	seen := 0
	check := func(job, script string) {
		for _, found := range named.FindAllStringSubmatch(script, -1) {
			seen++
			assert.Check(t, apart.MatchString(found[1]), "%s: %s is where a tracked file may be", job, found[1])
		}
	}
	for _, file := range files(t) {
		w, _ := load(t, file)
		for id, j := range w.Jobs {
			id = filepath.Base(file) + " " + id
			for _, s := range j.Steps {
				check(id, s.Run)
				ours := s.With["name"] == "plan" || strings.HasPrefix(s.With["name"], "preview") || s.With["name"] == "promotion"
				for path := range strings.Lines(s.With["path"] + "\n") {
					if strings.Contains(s.Uses, "-artifact@") && ours && (path != "\n" || s.With["path"] == "") {
						seen++
						assert.Check(t, strings.HasPrefix(path, "${{ runner.temp }}"), "%s: an artifact is at %q", id, path)
					}
				}
			}
		}
	}
	for name, j := range azureJobs(t) {
		for _, script := range j.scripts() {
			check("azure "+name, script)
		}
	}
	_, jobs, _ := gitLab(t)
	for name, j := range jobs {
		all := strings.Join(slices.Concat(j.BeforeScript, j.Script, j.AfterScript), "\n")
		check("gitlab "+name, all)
		uses := strings.Contains(all, "$CI_PROJECT_DIR/") || len(j.Artifacts.Paths)+len(j.Needs) > 0
		assert.Check(t, !uses || jobs[j.Extends].Variables["GIT_STRATEGY"] == "empty", "job %s hands on or gets files in a checkout", name)
		for _, path := range j.Artifacts.Paths {
			assert.Check(t, strings.Contains(strings.Join(j.AfterScript, "\n"), `"$TOMBOLO_TEMP/`+path+`"`), "job %s hands on %s from elsewhere", name, path)
		}
	}
	assert.Check(t, seen > 40, "%d files were found: the test sees nothing", seen)
}
