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

// piece is what a host runs with one environment: of GitHub and Azure DevOps a step, of GitLab a job.
type piece struct {
	host, file, job string
	env             map[string]string
	scripts         []string
}

// pieces are those of the pipelines of all hosts.
func pieces(t *testing.T) (all []piece) {
	t.Helper()
	for _, file := range files(t) {
		w, _ := load(t, file)
		for id, j := range w.Jobs {
			for _, s := range j.Steps {
				all = append(all, piece{"GitHub", filepath.Base(file), id, s.Env, []string{s.Run}})
			}
		}
	}
	for name, j := range azureJobs(t) {
		for _, s := range j.steps() {
			all = append(all, piece{"Azure DevOps", azurePipelines, name, s.Env, []string{s.script()}})
		}
	}
	_, jobs, _ := gitLab(t)
	for name, j := range jobs {
		all = append(all, piece{"GitLab", gitLabPipelines, name, j.Variables, slices.Concat(jobs.before(j), j.Script, j.AfterScript)})
	}
	return all
}

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
	for _, p := range pieces(t) {
		has := slices.Concat(slices.Collect(maps.Keys(p.env)), slices.Collect(maps.Values(p.env)), p.scripts)
		for _, name := range given.FindAllString(strings.Join(has, " "), -1) {
			assert.Check(t, slices.Contains(mayHave[p.job], name), "%s: job %s has %s", p.host, p.job, name)
		}
	}
	for _, file := range files(t) {
		w, _ := load(t, file)
		for id, j := range w.Jobs {
			if len(mayHave[id]) > 0 {
				assert.Check(t, j.Environment == id && strings.HasPrefix(j.If, ofBranch), "%s %s has secrets in the environment %q, if %s", file, id, j.Environment, j.If)
			}
		}
	}
	groups := map[string][]string{"plan": {"tombolo-plan"}, "apply": {"tombolo-apply", "tombolo-plan"}, "remediate": {"tombolo-apply", "tombolo-plan"}}
	for name, j := range azureJobs(t) {
		assert.Check(t, is.DeepEqual(j.groups(), groups[name]), "groups of %s", name)
	}
	// GitLab gives variables by their scope: the head of the file says which.
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
	for _, p := range pieces(t) {
		for _, line := range commands(p.scripts...) {
			if looks.MatchString(line) {
				seen[p.host]++
				assert.Check(t, is.Equal(strings.Contains(line, " --without-secrets "), p.job != "remediate"), "%s %s: %s", p.host, p.job, line)
			}
		}
	}
	assert.DeepEqual(t, seen, map[string]int{"GitHub": 5, "GitLab": 5, "Azure DevOps": 5})
}

const planKey = "TOMBOLO_PLAN_KEY"

// TestPlanKey: the job that makes the plan and the one that applies it have the key by which
// secrets are compared, and nothing else has it: neither a job that runs for a request, nor
// one that a branch may change, as only the default branch gets into their environments.
func TestPlanKey(t *testing.T) {
	has := map[string]bool{}
	secret := map[string]string{"GitHub": "${{ secrets.TOMBOLO_PLAN_KEY }}", "Azure DevOps": "$(TOMBOLO_PLAN_KEY)"}
	for _, p := range pieces(t) {
		if value, ok := p.env[planKey]; ok {
			has[p.host+" "+p.job] = true
			assert.Check(t, is.Equal(value, secret[p.host]), "%s %s", p.host, p.job)
			assert.Check(t, p.host != "GitHub" || p.file == "apply.yml" && strings.Contains(p.scripts[0], " --plan "), "%s %s", p.host, p.job)
		}
	}
	assert.DeepEqual(t, has, map[string]bool{"GitHub plan": true, "GitHub apply": true, "Azure DevOps plan": true, "Azure DevOps apply": true})
	for _, file := range files(t) {
		w, _ := load(t, file)
		for id, j := range w.Jobs {
			name := filepath.Base(file) + " " + id
			wants := name == "apply.yml plan" || name == "apply.yml apply"
			assert.Check(t, is.Equal(j.Environment == "plan" || j.Environment == "apply", wants), name)
			assert.Check(t, !wants || j.Environment == id && j.If == ofBranch, name)
		}
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
	where := map[string]string{"GitHub": "${{ runner.temp }}", "Azure DevOps": "$(Agent.TempDirectory)", "GitLab": "$TOMBOLO_TEMP"}
	for _, p := range pieces(t) {
		if !slices.ContainsFunc(commands(p.scripts...), func(line string) bool { return looks.MatchString(line) || strings.HasPrefix(line, "up ") }) {
			continue
		}
		seen[p.host]++
		at := p.env["TMPDIR"]
		if p.host == "GitLab" && strings.Contains(strings.Join(p.scripts, "\n"), `export TMPDIR="$TOMBOLO_TEMP" `) {
			at = "$TOMBOLO_TEMP"
		}
		assert.Check(t, is.Equal(at, where[p.host]), "%s: %q", p.host, p.scripts)
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
