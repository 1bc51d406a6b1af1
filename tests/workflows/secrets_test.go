package workflows

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// given are names of what a job gets from its host's secrets; the hosts' own tokens, which
// may read requests or write comments, are not among them.
var given = regexp.MustCompile(`\b(PULUMI_CONFIG_PASSPHRASE|TOMBOLO_SECRET_|TOMBOLO_CHANNEL|TOMBOLO_SEALING_CERTIFICATE|TOMBOLO_[A-Z_]*(?:TOKEN|KEY|PASSWORD)\b)`)

// others begins the names of variables with secrets that a caller names: see TestReusable.
const others = "TOMBOLO_SECRET_"

// mayHave are the secrets of jobs that use the state. The role that changes clusters has them
// all; a plan has what it compares, where only the default branch gets in.
var mayHave = map[string][]string{
	"plan":      {"TOMBOLO_GIT_TOKEN", planKey, others},
	"apply":     {"PULUMI_CONFIG_PASSPHRASE", "TOMBOLO_GIT_TOKEN", planKey, "TOMBOLO_SEALING_KEY", "TOMBOLO_SEALING_CERTIFICATE", "TOMBOLO_CHANNEL", others},
	"remediate": {"PULUMI_CONFIG_PASSPHRASE", "TOMBOLO_GIT_TOKEN", "TOMBOLO_SEALING_KEY", "TOMBOLO_SEALING_CERTIFICATE", "TOMBOLO_CHANNEL", others},
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
				assert.Check(t, j.Environment == id && strings.HasPrefix(j.If, ofBranch), "%s %s has secrets in the environment %q, if %s", file, id, j.Environment, j.If)
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
	text, err := os.ReadFile(gitLabPipelines)
	assert.NilError(t, err)
	head, _, _ := strings.Cut(string(text), "\nspec:")
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
			assert.Check(t, !wants || j.Environment == id && j.If == ofBranch, name)
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
	text, err := os.ReadFile(gitLabPipelines)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(text), "#   TOMBOLO_PLAN_KEY      masked and protected, with the environments plan and apply as its scope"))
}

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
	pipeline, err := os.ReadFile(gitLabPipelines)
	assert.NilError(t, err)
	head, _, _ := strings.Cut(string(pipeline), "\nspec:")
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
