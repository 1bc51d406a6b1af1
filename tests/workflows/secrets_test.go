package workflows

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// given are names of what a job gets from its host's secrets; the hosts' own tokens, which
// may read requests or write comments, are not among them.
var given = regexp.MustCompile(`\b(PULUMI_CONFIG_PASSPHRASE|TOMBOLO_[A-Z_]*(?:TOKEN|KEY|PASSWORD))\b`)

// mayHave are the secrets of jobs that use the state. The role that changes clusters has them
// all; a plan has what it compares, where only the default branch gets in.
var mayHave = map[string][]string{
	"plan":      {"TOMBOLO_GIT_TOKEN", planKey},
	"apply":     {"PULUMI_CONFIG_PASSPHRASE", "TOMBOLO_GIT_TOKEN", planKey, "TOMBOLO_SEALING_KEY"},
	"remediate": {"PULUMI_CONFIG_PASSPHRASE", "TOMBOLO_GIT_TOKEN", "TOMBOLO_SEALING_KEY"},
}

// TestOnlyApplyGetsSecrets: what a job has that looks at the state, and at requests, opens
// nothing that writes; no job but those that change clusters has what decrypts a state.
func TestOnlyApplyGetsSecrets(t *testing.T) {
	check := func(host, job string, text ...string) {
		for _, name := range given.FindAllString(strings.Join(text, " "), -1) {
			assert.Check(t, slices.Contains(mayHave[job], name), "%s: job %s has %s", host, job, name)
		}
	}
	for _, file := range files(t) {
		w, _ := load(t, file)
		for id, j := range w.Jobs {
			if len(mayHave[id]) > 0 {
				assert.Check(t, j.Environment == id && strings.HasPrefix(j.If, "github.ref == 'refs/heads/main'"), "%s %s has secrets in the environment %q, if %s", file, id, j.Environment, j.If)
			}
			for _, s := range j.Steps {
				check(filepath.Base(file), id, slices.Collect(maps.Values(s.Env))...)
				check(filepath.Base(file), id, slices.Collect(maps.Keys(s.Env))...)
			}
		}
	}
	groups := map[string][]string{"plan": {"tombolo-plan"}, "apply": {"tombolo-apply", "tombolo-plan"}, "remediate": {"tombolo-apply", "tombolo-plan"}}
	for name, j := range azureJobs(t) {
		assert.Check(t, is.DeepEqual(j.groups(), groups[name]), "groups of %s", name)
		for _, s := range j.steps() {
			check("Azure DevOps", name, slices.Collect(maps.Values(s.Env))...)
			check("Azure DevOps", name, slices.Collect(maps.Keys(s.Env))...)
		}
	}
	// GitLab gives variables by their scope: the head of the file says which.
	_, jobs, _ := gitLab(t)
	for name, j := range jobs {
		check("GitLab", name, slices.Collect(maps.Values(j.Variables))...)
		check("GitLab", name, slices.Concat(j.Script, j.BeforeScript, j.AfterScript)...)
	}
	text, err := os.ReadFile("../../.gitlab-ci.yml")
	assert.NilError(t, err)
	head, _, _ := strings.Cut(string(text), "\nstages:")
	head = strings.Join(strings.Fields(strings.ReplaceAll(head, "\n#", " ")), " ")
	for _, want := range []string{
		"TOMBOLO_GIT_TOKEN masked and protected, one for each scope: the environments plan, remediate and apply",
		"PULUMI_CONFIG_PASSPHRASE masked and protected, one for each scope: the environments remediate and apply",
	} {
		assert.Check(t, is.Contains(head, want))
	}
}

// looks are the calls of tombolo that run the engine and change nothing.
var looks = regexp.MustCompile(`^(preview|drift)\b`)

// TestPreviewsAreWithoutSecrets: each call that looks says that it decrypts nothing, which it
// could not do in these jobs; a plan so made is compared so by its apply.
func TestPreviewsAreWithoutSecrets(t *testing.T) {
	seen := map[string]int{}
	check := func(host, job string, scripts ...string) {
		for _, line := range commands(scripts...) {
			if !looks.MatchString(line) {
				continue
			}
			seen[host]++
			assert.Check(t, is.Equal(strings.Contains(line, " --without-secrets "), job != "remediate"), "%s %s: %s", host, job, line)
		}
	}
	for _, file := range files(t) {
		w, _ := load(t, file)
		for id, j := range w.Jobs {
			for _, s := range j.Steps {
				check("GitHub", id, s.Run)
			}
		}
	}
	for name, j := range azureJobs(t) {
		check("Azure DevOps", name, j.scripts()...)
	}
	_, jobs, _ := gitLab(t)
	for name, j := range jobs {
		check("GitLab", name, j.Script...)
	}
	assert.DeepEqual(t, seen, map[string]int{"GitHub": 5, "GitLab": 5, "Azure DevOps": 5})
}
