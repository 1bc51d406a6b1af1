package workflows

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// azurePipelines are the stages that a pipeline extends; azureOwn is the one of this project.
const azurePipelines, azureOwn = "../../.azure/pipelines.yml", "../../azure-pipelines.yml"

// azurePipeline is what the pipeline of Azure DevOps may have: another key is an error.
// The keys are those of learn.microsoft.com/azure/devops/pipelines/yaml-schema.
type azurePipeline struct {
	Trigger struct {
		Branches struct{ Include []string }
		Paths    struct{ Include []string }
	}
	Schedules []struct {
		Cron        string
		DisplayName string `yaml:"displayName"`
		Branches    struct{ Include []string }
		Always      bool
	}
	Extends struct {
		Template   string
		Parameters map[string]yaml.Node
	}
	Parameters []azureParameter
	Variables  []azureVariable
	Stages     []azureStage
}

type azureParameter struct {
	Name, Type string
	Default    yaml.Node
}

type azureVariable struct{ Group, Name, Value string }

type azureStage struct {
	Stage, Condition, Trigger string
	DependsOn                 yaml.Node `yaml:"dependsOn"`
	LockBehavior              string    `yaml:"lockBehavior"`
	Jobs                      []azureJob
}

type azureJob struct {
	Job, Deployment, Environment, Condition string
	DependsOn                               string `yaml:"dependsOn"`
	Pool                                    yaml.Node
	Timeout                                 int `yaml:"timeoutInMinutes"`
	Variables                               []azureVariable
	Steps                                   []azureStep
	Strategy                                struct {
		RunOnce struct {
			Deploy struct{ Steps []azureStep }
		} `yaml:"runOnce"`
	}

	// stage that the job is in.
	stage azureStage
}

// steps of a job, or of a deployment.
func (j azureJob) steps() []azureStep {
	return slices.Concat(j.Steps, j.Strategy.RunOnce.Deploy.Steps)
}

// scripts of the job, in their order.
func (j azureJob) scripts() (all []string) {
	for _, s := range j.steps() {
		if script := s.script(); script != "" {
			all = append(all, script)
		}
	}
	return all
}

// groups of variables that the job has.
func (j azureJob) groups() (all []string) {
	for _, v := range j.Variables {
		if v.Group != "" {
			all = append(all, v.Group)
		}
	}
	return all
}

type azureStep struct {
	Checkout, Bash, Task, Publish, Download, Artifact string
	Name, Condition                                   string
	DisplayName                                       string `yaml:"displayName"`
	FetchDepth                                        *int   `yaml:"fetchDepth"`
	Target                                            struct {
		Container, Commands string
		SettableVariables   string `yaml:"settableVariables"`
	}
	Inputs map[string]string
	Env    map[string]string
}

// script that a step runs; "" if it runs none.
func (s azureStep) script() string { return s.Bash + s.Inputs["inlineScript"] }

// azureEach gives a step what a caller names, and azureIf the passphrase where a caller has one.
const (
	azureEach = "${{ each name in parameters.secrets }}:"
	azureIf   = "${{ if eq(parameters.passphrase, true) }}:"
)

// azurePromote gives a pipeline the stages after it where a caller promotes.
const azurePromote = "  - ${{ if eq(parameters.promote, true) }}:\n"

// azureExpanded is the text as Azure DevOps expands it for a caller that gives one secret and a
// passphrase and promotes, whose branch is main. What is written otherwise stays, and is no pipeline.
func azureExpanded(text string) string {
	each := regexp.MustCompile(`(?m)^( +)` + regexp.QuoteMeta(azureEach) + `\n +\$\{\{ name \}\}: \$\(\$\{\{ name \}\}\)$`)
	text = each.ReplaceAllString(text, "${1}"+others+"0: $$("+others+"0)")
	passphrase := regexp.MustCompile(`(?m)^( +)` + regexp.QuoteMeta(azureIf) + `\n +PULUMI_CONFIG_PASSPHRASE: \$\(PULUMI_CONFIG_PASSPHRASE\)$`)
	text = passphrase.ReplaceAllString(text, "${1}PULUMI_CONFIG_PASSPHRASE: $$(PULUMI_CONFIG_PASSPHRASE)")
	head, promotes, _ := strings.Cut(text, azurePromote)
	return strings.ReplaceAll(head+strings.ReplaceAll(promotes, "\n  ", "\n")[min(2, len(promotes)):], "${{ parameters.branch }}", "main")
}

// azure is the pipeline of this project: what starts it, and the stages that it extends.
func azure(t *testing.T) azurePipeline {
	t.Helper()
	read := func(file string) (p azurePipeline) {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		decoder := yaml.NewDecoder(strings.NewReader(azureExpanded(string(text))))
		decoder.KnownFields(true)
		assert.NilError(t, decoder.Decode(&p), file)
		return p
	}
	own, p := read(azureOwn), read(azurePipelines)
	assert.Equal(t, own.Extends.Template, ".azure/pipelines.yml")
	assert.Check(t, own.Stages == nil && own.Variables == nil && own.Parameters == nil)
	assert.Check(t, p.Extends.Template == "" && p.Schedules == nil)
	p.Trigger, p.Schedules = own.Trigger, own.Schedules
	return p
}

// TestAzureTemplate: what a caller may give, and that an expression is only where a name is known
// before the run: in names, conditions and pools, never where a caller's text would be run.
func TestAzureTemplate(t *testing.T) {
	text, err := os.ReadFile(azurePipelines)
	assert.NilError(t, err)
	var given []string
	for _, p := range azure(t).Parameters {
		of, err := yaml.Marshal(&p.Default)
		assert.NilError(t, err)
		given = append(given, p.Name+" "+p.Type+" "+strings.TrimSpace(string(of)))
	}
	assert.DeepEqual(t, given, []string{"branch string main", "pool object {vmImage: ubuntu-24.04}", "applyPool object {vmImage: ubuntu-24.04}", "secrets object []", "promote boolean false", "passphrase boolean false"})
	assert.Equal(t, strings.Count(string(text), azureEach), 3) // Plan, Apply, Remediate
	assert.Equal(t, strings.Count(string(text), azureIf), 2)   // Apply, Remediate
	// A connection that a project has not made is none of a pipeline that promotes nothing.
	unasked, promotes, found := strings.Cut(string(text), azurePromote)
	assert.Check(t, found && !strings.Contains(unasked, ": tombolo-promote") && strings.Contains(promotes, ": tombolo-promote"))
	for _, m := range regexp.MustCompile(`\$\{\{[^}]*\}\}`).FindAllString(azureExpanded(string(text)), -1) {
		assert.Check(t, m == "${{ parameters.pool }}" || m == "${{ parameters.applyPool }}", m)
	}
}

// azureJobs are the jobs by the names that GitLab's have.
func azureJobs(t *testing.T) map[string]azureJob {
	t.Helper()
	names := map[string]string{
		"check check": "check", "preview preview": "preview", "preview comment": "comment",
		"promotion check": "promotion", "promotion comment": "comment-promotion",
		"preview_program preview": "preview-program", "preview_program comment": "comment-program",
		"propose propose": "propose", "promote promote": "promote",
		"plan plan": "plan", "apply apply": "apply", "drift drift": "drift", "remediate remediate": "remediate",
	}
	jobs := map[string]azureJob{}
	for _, stage := range azure(t).Stages {
		for _, j := range stage.Jobs {
			name, ok := names[stage.Stage+" "+j.Job+j.Deployment]
			assert.Assert(t, ok, "stage %s has a job %s that no test knows", stage.Stage, j.Job+j.Deployment)
			j.stage = stage
			jobs[name] = j
		}
	}
	assert.Equal(t, len(jobs), len(names))
	return jobs
}

const (
	azureRequest = "eq(variables['Build.Reason'], 'PullRequest')"
	azureNoFork  = "ne(variables['System.PullRequest.IsFork'], 'True')"
	azureToMain  = "in(variables['System.PullRequest.TargetBranch'], 'refs/heads/main', 'main')"
	azureNightly = "eq(variables['Build.Reason'], 'Schedule'), eq(variables['Build.SourceBranch'], 'refs/heads/main')"
	azureByHour  = "in(variables['Build.Reason'], 'Schedule', 'Manual'), eq(variables['Build.SourceBranch'], 'refs/heads/main')"
	azureMerged  = "in(variables['Build.Reason'], 'IndividualCI', 'BatchedCI', 'Manual'), eq(variables['Build.SourceBranch'], 'refs/heads/main')"
)

// TestAzure: what each stage runs on, and with which credentials.
func TestAzure(t *testing.T) {
	p, jobs := azure(t), azureJobs(t)
	assert.DeepEqual(t, p.Trigger.Branches.Include, []string{"main"})
	assert.Check(t, len(p.Schedules) == 1 && p.Schedules[0].Always, "drift is looked for only after a change: %+v", p.Schedules)
	for name, want := range map[string]string{
		"check":           azureRequest,
		"preview":         "and(succeeded(), " + azureRequest + ", " + azureNoFork + ", " + azureToMain + ")",
		"preview-program": "and(" + azureRequest + ", " + azureNoFork + ", " + azureToMain + ")",
		"promotion": "and(" + azureRequest + ", " + azureNoFork + ", " +
			"in(variables['System.PullRequest.SourceBranch'], 'refs/heads/dev', 'refs/heads/test', 'dev', 'test'))",
		"propose":   "and(" + azureByHour + ")",
		"promote":   "and(succeeded(), " + azureByHour + ")",
		"plan":      "and(" + azureMerged + ")",
		"apply":     "and(succeeded(), " + azureMerged + ")",
		"drift":     "and(" + azureNightly + ", ne(variables['TOMBOLO_REMEDIATE'], 'true'))",
		"remediate": "and(" + azureNightly + ", eq(variables['TOMBOLO_REMEDIATE'], 'true'))",
	} {
		assert.Equal(t, jobs[name].stage.Condition, want)
	}
	for name, j := range jobs {
		connection := map[string]string{"preview": "tombolo-preview", "preview-program": "tombolo-preview", "plan": "tombolo-preview", "drift": "tombolo-preview", "apply": "tombolo-apply", "remediate": "tombolo-apply", "promote": "tombolo-promote"}[name]
		assert.Check(t, j.Timeout > 0, "job %s has no timeout", name)
		tasks := 0
		for _, s := range j.steps() {
			if s.Task == "" {
				continue
			}
			tasks++
			assert.Equal(t, s.Task, "AzureCLI@2")
			assert.Equal(t, s.Inputs["azureSubscription"], connection)
			assert.Check(t, s.Inputs["scriptType"] == "bash" && s.Inputs["keepAzSessionActive"] == "true" && s.Inputs["addSpnToEnvironment"] == "",
				"%s loses its session after ten minutes, or shows its token: %v", name, s.Inputs)
		}
		assert.Check(t, (tasks == 1) == (connection != ""), "job %s has %d tasks", name, tasks)
	}
	released := jobs["preview-program"]
	assert.Check(t, released.stage.Trigger == "manual" && released.Environment == "preview-program" && released.Deployment != "", "nobody releases the program of a change")
}

// TestAzureAppliesThePlan: the job that applies waits for approval after the plan, gets the
// plan's file, and the digest from the job that made it.
func TestAzureAppliesThePlan(t *testing.T) {
	jobs := azureJobs(t)
	apply := jobs["apply"]
	assert.Check(t, apply.Environment == "apply" && apply.Deployment != "" && apply.stage.DependsOn.Value == "plan" && apply.stage.LockBehavior == "sequential",
		"apply runs beside another, without approval or before the plan: %+v", apply.stage)
	assert.DeepEqual(t, apply.Variables[2], azureVariable{Name: "DIGEST", Value: "$[ stageDependencies.plan.plan.outputs['digest.DIGEST'] ]"})
	checkout := apply.steps()[0]
	assert.Check(t, checkout.FetchDepth != nil && *checkout.FetchDepth == 0, "the requests that are applied cannot be found")
	downloaded := slices.ContainsFunc(apply.steps(), func(s azureStep) bool { return s.Download == "current" && s.Artifact == "plan" })
	published := slices.ContainsFunc(jobs["plan"].steps(), func(s azureStep) bool {
		return s.Publish == "$(Build.ArtifactStagingDirectory)" && s.Artifact == "plan" && s.Condition == ""
	})
	assert.Check(t, downloaded && published, "downloaded %t, published %t", downloaded, published)
}

// TestAzureTrustsTheDefaultBranch: what gets a service connection, or the token for
// comments, is the default branch's program, but for what a person releases.
func TestAzureTrustsTheDefaultBranch(t *testing.T) {
	jobs := azureJobs(t)
	for _, name := range []string{"preview", "comment", "comment-program", "promotion", "comment-promotion"} {
		j := jobs[name]
		assert.Check(t, j.steps()[0].FetchDepth != nil && *j.steps()[0].FetchDepth == 0, "%s does not fetch the default branch", name)
		all := strings.Join(j.scripts(), "\n")
		assert.Check(t, is.Contains(all, `git -c core.hooksPath=/dev/null worktree add --detach "$AGENT_TEMPDIRECTORY/trusted" origin/main`), name)
		trusted := false
		for line := range strings.Lines(all) {
			line = strings.TrimSpace(line)
			trusted = trusted || line == `cd "$AGENT_TEMPDIRECTORY/trusted"`
			if strings.Contains(line, "make ") && !strings.HasPrefix(line, `make -C "$AGENT_TEMPDIRECTORY/trusted" `) || strings.HasPrefix(line, "bin/") && !trusted {
				t.Errorf("job %s runs what the pull request has changed: %s", name, line)
			}
		}
	}
	// What may comment is in a job that has no connection, and what has one gets the token
	// for reading reviews alone: a build service is no approver.
	for _, name := range []string{"comment", "comment-program", "comment-promotion"} {
		last := jobs[name].steps()[len(jobs[name].steps())-1]
		assert.DeepEqual(t, last.Env, map[string]string{"SYSTEM_ACCESSTOKEN": "$(System.AccessToken)"})
	}
}

// TestAzurePromotes: the job's token, which jobs for pull requests have too, opens requests alone.
// What moves branches has the token of a connection, one run at a time, and all branches.
func TestAzurePromotes(t *testing.T) {
	jobs := azureJobs(t)
	propose, promote := jobs["propose"], jobs["promote"]
	for _, j := range []azureJob{propose, promote} {
		assert.Check(t, j.steps()[0].FetchDepth != nil && *j.steps()[0].FetchDepth == 0, "the branches are not known")
		assert.Check(t, is.Len(j.groups(), 0))
	}
	last := func(j azureJob) azureStep { return j.steps()[len(j.steps())-1] }
	assert.Equal(t, last(propose).Bash, "bin/tombolo promote")
	assert.DeepEqual(t, last(propose).Env, map[string]string{"SYSTEM_ACCESSTOKEN": "$(System.AccessToken)"})
	assert.Check(t, promote.Deployment != "" && promote.Environment == "promote" && promote.stage.DependsOn.Value == "propose" && promote.stage.LockBehavior == "sequential", "%+v", promote.stage)
	assert.Check(t, strings.HasSuffix(last(promote).script(), " | bin/tombolo promote --complete --token-stdin"))
	assert.Check(t, len(last(promote).Env) == 0 && last(promote).Inputs["allowNoSubscriptions"] == "true")
	for name, j := range jobs {
		assert.Check(t, name == "promote" || !strings.Contains(strings.Join(j.scripts(), "\n"), "--complete"), "%s moves branches", name)
	}
}

// azureThin is what a line of a script may be.
var azureThin = regexp.MustCompile(`^(set -eu|make (-C "\$AGENT_TEMPDIRECTORY/trusted" )?[a-z-]+|PATH="\S+"|cd "\$AGENT_TEMPDIRECTORY/trusted"` +
	`|git -c core\.hooksPath=/dev/null worktree (prune|add --detach "\$AGENT_TEMPDIRECTORY/trusted" origin/main)` +
	`|az account get-access-token --resource [0-9a-f-]{36} --query accessToken --output tsv \| bin/tombolo .+` +
	`|sed '\S+ variable=DIGEST;isOutput=true\]/' "\$AGENT_TEMPDIRECTORY/plan\.env"|echo "##vso\[task\.uploadsummary\]\S+"` +
	`|(bin/tombolo|tombolo|"\$AGENT_TEMPDIRECTORY/trusted/bin/tombolo") .+)$`)

// TestAzureScripts: what the pipeline does can be run by hand, ends at the first failure,
// and has nothing in it that Azure DevOps would put something else into. Steps that run
// tombolo can set no variable: names of others, which may be written like a command of the
// agent's, are in what it says.
func TestAzureScripts(t *testing.T) {
	lines := 0
	for name, j := range azureJobs(t) {
		for _, s := range j.steps() {
			script := s.script()
			assert.Check(t, !strings.Contains(script, "$("), "job %s has a variable of the pipeline in a script, where a branch's name would be run: %s", name, script)
			many := strings.Count(strings.TrimSpace(script), "\n") > 0
			assert.Check(t, !many || strings.HasPrefix(script, "set -eu\n"), "job %s goes on after a failure: %s", name, script)
			for line := range strings.Lines(script) {
				lines++
				line = strings.TrimSpace(line)
				assert.Check(t, azureThin.MatchString(line), "job %s has logic of its own: %s", name, line)
			}
			if command.MatchString(script) {
				assert.Check(t, s.Target.Commands == "restricted" && s.Target.SettableVariables == "none" && s.Target.Container == "host", "job %s obeys what tombolo says: %s", name, script)
			}
			if script != "" {
				out, err := exec.Command("bash", "-n", "-c", script).CombinedOutput()
				assert.Check(t, err, "job %s: %s", name, out)
			}
		}
	}
	assert.Check(t, lines > 30, "%d lines were found: the test sees nothing", lines)
}

// TestAzurePlanIsRun runs the scripts of the plan with a program in the place of tombolo: a
// policy that is not met does not end it, and the digest is given to the stage that
// applies.
func TestAzurePlanIsRun(t *testing.T) {
	plan := azureJobs(t)["plan"].scripts()[1:] // without make
	for code, fails := range map[string]bool{"0": false, "13": false, "1": true} {
		dir := t.TempDir()
		for _, name := range []string{"bin", "temp", "staging"} {
			assert.NilError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		}
		const fake = `#!/bin/bash
set -eu
echo "$*" >>called
while test $# -gt 0; do
	case $1 in
	--plan-output) echo DIGEST=sha256:c0ffee >>"$2" ;;
	--plan | --html) echo plan >"$2" ;;
	esac
	shift
done
echo '| a plan |'
exit ` + "$CODE\n"
		assert.NilError(t, os.WriteFile(filepath.Join(dir, "bin", "tombolo"), []byte(fake), 0o700))
		said, err := "", error(nil)
		for _, script := range plan {
			c := exec.Command("bash", "-c", script)
			c.Dir = dir
			c.Env = append(os.Environ(), "CODE="+code, "AGENT_TEMPDIRECTORY="+dir+"/temp", "BUILD_ARTIFACTSTAGINGDIRECTORY="+dir+"/staging")
			out, failed := c.CombinedOutput()
			if said, err = said+string(out), failed; err != nil {
				break
			}
		}
		if fails {
			assert.Check(t, err != nil, "exit code %s of a preview is no failure: %s", code, said)
			continue
		}
		assert.NilError(t, err, said)
		assert.Equal(t, said, "##vso[task.setvariable variable=DIGEST;isOutput=true]sha256:c0ffee\n##vso[task.uploadsummary]"+dir+"/staging/plan.md\n")
		for _, name := range []string{"plan.json", "plan.html", "plan.md"} {
			_, err := os.Stat(filepath.Join(dir, "staging", name))
			assert.Check(t, err, "it is not published")
		}
	}
}

// TestAzureEveryChangeIsPlanned: what an apply starts on is what GitHub's starts on.
func TestAzureEveryChangeIsPlanned(t *testing.T) {
	w, _ := load(t, filepath.Join(github, "apply.yml"))
	var on struct {
		Push struct{ Paths []string }
	}
	assert.NilError(t, w.On.Decode(&on))
	want := make([]string, len(on.Push.Paths))
	for i, path := range on.Push.Paths {
		want[i] = strings.TrimSuffix(path, "/**")
	}
	assert.DeepEqual(t, azure(t).Trigger.Paths.Include, want)
}
