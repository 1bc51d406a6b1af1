package workflows

import (
	"bytes"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// gitLabJob is what a job of ours may have: another key is an error.
type gitLabJob struct {
	Stage         string                       `yaml:"stage"`
	Extends       string                       `yaml:"extends"`
	Rules         []gitLabRule                 `yaml:"rules"`
	IDTokens      map[string]map[string]string `yaml:"id_tokens"`
	Variables     map[string]string            `yaml:"variables"`
	BeforeScript  []string                     `yaml:"before_script"`
	Script        []string                     `yaml:"script"`
	AfterScript   []string                     `yaml:"after_script"`
	Interruptible *bool                        `yaml:"interruptible"`
	ResourceGroup string                       `yaml:"resource_group"`
	Timeout       string                       `yaml:"timeout"`
	Environment   map[string]string            `yaml:"environment"`
	Artifacts     struct {
		When    string            `yaml:"when"`
		Paths   []string          `yaml:"paths"`
		Reports map[string]string `yaml:"reports"`
	} `yaml:"artifacts"`
	Image string   `yaml:"image"`
	Needs []string `yaml:"needs"`
}

// gitLabJobs are jobs by their names.
type gitLabJobs map[string]gitLabJob

// before is what a job runs first, by itself or by the one that it extends.
func (all gitLabJobs) before(j gitLabJob) []string {
	if j.BeforeScript != nil {
		return j.BeforeScript
	}
	return all[j.Extends].BeforeScript
}

type gitLabRule struct {
	If         string            `yaml:"if"`
	Changes    []string          `yaml:"changes"`
	AutoCancel map[string]string `yaml:"auto_cancel"`
	When       string            `yaml:"when"`
}

// gitLabPipelines are the jobs that projects of one's own include; gitLabOwn has those of this
// project beside them.
const gitLabPipelines, gitLabOwn = "../../.gitlab/pipelines.yml", "../../.gitlab-ci.yml"

// gitLabDocuments are the two files as GitLab merges them, and the inputs of the one that is
// included, with their defaults, which are put into its text.
func gitLabDocuments(t *testing.T) (all map[string]yaml.Node, inputs map[string]string) {
	t.Helper()
	text, err := os.ReadFile(gitLabPipelines)
	assert.NilError(t, err)
	header, rest, found := strings.Cut(string(text), "\n---\n")
	assert.Assert(t, found, "it has no header with its inputs")
	var spec struct {
		Spec struct {
			Inputs map[string]struct{ Description, Default string }
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(header))
	decoder.KnownFields(true)
	assert.NilError(t, decoder.Decode(&spec))
	inputs = map[string]string{}
	for name, input := range spec.Spec.Inputs {
		assert.Check(t, input.Default != "" && input.Description != "", name)
		inputs[name] = input.Default
		rest = strings.ReplaceAll(rest, "$[[ inputs."+name+" ]]", input.Default)
	}
	assert.Check(t, !strings.Contains(rest, "$[["), "it has an input that is not described")
	assert.NilError(t, yaml.Unmarshal([]byte(rest), &all))
	text, err = os.ReadFile(gitLabOwn)
	assert.NilError(t, err)
	var own map[string]yaml.Node
	assert.NilError(t, yaml.Unmarshal(text, &own))
	var include []map[string]string
	node := own["include"]
	assert.NilError(t, node.Decode(&include))
	assert.DeepEqual(t, include, []map[string]string{{"local": ".gitlab/pipelines.yml"}})
	delete(own, "include")
	for name, node := range own {
		_, both := all[name]
		assert.Check(t, !both, "%s is in both files", name)
		all[name] = node
	}
	return all, inputs
}

// gitLab reads the pipeline strictly: its stages, its jobs, and when there is one.
func gitLab(t *testing.T) (stages []string, jobs gitLabJobs, when []gitLabRule) {
	t.Helper()
	all, _ := gitLabDocuments(t)
	jobs = gitLabJobs{}
	var workflow struct {
		Rules []gitLabRule `yaml:"rules"`
	}
	for name, node := range all {
		var into any = new(gitLabJob)
		switch name {
		case "stages":
			into = &stages
		case "workflow":
			into = &workflow
		}
		again, err := yaml.Marshal(&node)
		assert.NilError(t, err)
		decoder := yaml.NewDecoder(bytes.NewReader(again))
		decoder.KnownFields(true)
		assert.NilError(t, decoder.Decode(into), name)
		if job, ok := into.(*gitLabJob); ok && name != "workflow" && name != "default" {
			jobs[name] = *job
		}
	}
	return stages, jobs, workflow.Rules
}

// TestGitLabIncludes: what a project includes is its own: no job of this project, whose targets
// and tests it has not.
func TestGitLabIncludes(t *testing.T) {
	text, err := os.ReadFile(gitLabPipelines)
	assert.NilError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^ +- .*\bmake (?:-C \S+ )?([a-z-]+)`).FindAllStringSubmatch(string(text), -1) {
		assert.Check(t, slices.Contains([]string{"build", "setup-aws", "tools-azure"}, m[1]), "a project has no target %s", m[1])
	}
	_, inputs := gitLabDocuments(t)
	assert.DeepEqual(t, inputs, map[string]string{"promoted": "dev|test"})
}

func TestGitLab(t *testing.T) {
	stages, jobs, when := gitLab(t)
	for _, name := range []string{"lint", "test", "fresh", "check", "preview", "comment", "preview-program", "comment-program", "promotion", "comment-promotion", "plan", "apply", "drift", "remediate", "upstream"} {
		_, ok := jobs[name]
		assert.Check(t, ok, "there is no job %s", name)
	}
	for name, j := range jobs {
		if strings.HasPrefix(name, ".") {
			continue
		}
		assert.Check(t, len(j.Script) > 0 && slices.Contains(stages, j.Stage), "job %s has stage %q, and the script %v", name, j.Stage, j.Script)
		if base, ok := jobs[j.Extends]; !ok && j.Extends != "" || len(j.Rules)+len(base.Rules) == 0 {
			t.Errorf("job %s extends %q, and has no rules", name, j.Extends)
		}
		identity, role := j.Extends == ".aws", j.Variables["AWS_ROLE_ARN"]
		if writes := slices.Contains([]string{"comment", "upstream"}, j.Environment["name"]); identity != (role != "") || identity != (j.Environment["name"] != "" && !writes) {
			t.Errorf("job %s extends %s, has the role %q and the environment %q", name, j.Extends, role, j.Environment["name"])
		}
		assert.Check(t, is.Equal(role == "$TOMBOLO_APPLY_ROLE", name == "apply" || name == "remediate"), "job %s has the role %q", name, role)
		assert.Check(t, is.Equal(j.Variables["ARM_CLIENT_ID"], strings.Replace(role, "_ROLE", "_CLIENT", 1)), "job %s signs in to Azure as somebody else", name)
	}
	tokens := jobs[".aws"]
	assert.DeepEqual(t, tokens.IDTokens["AZURE_TOKEN"], map[string]string{"aud": "api://AzureADTokenExchange"})
	for _, name := range []string{".aws", "preview"} {
		assert.Check(t, slices.Contains(jobs[name].BeforeScript, `(umask 077 && printf %s "$AZURE_TOKEN" >"$TOMBOLO_TEMP/azure-token")`), "%s leaves the token where others read it", name)
	}
	for _, rule := range when {
		if request := strings.Contains(rule.If, "merge_request_event"); !request && rule.AutoCancel["on_new_commit"] != "none" {
			t.Errorf("a later commit cancels pipelines when %s, and so what was merged is not applied", rule.If)
		}
	}
	apply := jobs["apply"]
	if apply.Interruptible == nil || *apply.Interruptible || apply.ResourceGroup != "apply" || apply.Environment["name"] != "apply" {
		t.Errorf("apply may be cancelled, run beside another, or run without approval: %+v", apply)
	}
	const put = `$CI_PIPELINE_SOURCE == "schedule" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $TOMBOLO_REMEDIATE == "true"`
	if r := jobs["remediate"]; len(r.Rules) != 1 || r.Rules[0].If != put || r.Interruptible == nil || *r.Interruptible || r.ResourceGroup != jobs["drift"].ResourceGroup {
		t.Errorf("drift is put right where nobody asked for it, beside a look for it, or may be cancelled: %+v", r)
	}
	for _, name := range []string{"preview", "preview-program", "comment", "comment-program"} {
		for _, want := range []string{"$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID", "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME == $CI_DEFAULT_BRANCH"} {
			j := jobs[name]
			assert.Check(t, len(j.Rules) == 1 && strings.Contains(j.Rules[0].If, want), "%s runs for forks, or for another branch: %v", name, j.Rules)
		}
	}
	for _, name := range []string{"promotion", "comment-promotion"} {
		want := "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID && $CI_MERGE_REQUEST_SOURCE_BRANCH_NAME =~ /^(dev|test)$/"
		if j := jobs[name]; len(j.Rules) != 1 || !strings.Contains(j.Rules[0].If, want) {
			t.Errorf("%s runs for forks, or for other branches than those of environments: %v", name, j.Rules)
		}
	}
	if released := jobs["preview-program"]; released.Rules[0].When != "manual" || released.Environment["name"] != "preview-program" || released.Environment["action"] != "" {
		t.Errorf("nobody releases the program of a change: %+v", released)
	}
	if plan := jobs["plan"]; !slices.Contains(plan.Artifacts.Paths, "plan.json") || !strings.Contains(strings.Join(plan.Script, "\n"), `--plan "$TOMBOLO_TEMP/plan.json" --plan-output "$TOMBOLO_TEMP/`+plan.Artifacts.Reports["dotenv"]+`" `) {
		t.Errorf("apply does not get the plan with its digest: %+v", plan)
	}
	want := `up --all --plan "$CI_PROJECT_DIR/plan.json" --plan-digest "$DIGEST" `
	assert.Check(t, strings.Contains(strings.Join(apply.Script, "\n"), want), "apply runs %q, want %s", apply.Script, want)
	if plan := jobs["plan"]; slices.Index(stages, plan.Stage) >= slices.Index(stages, apply.Stage) || !reflect.DeepEqual(plan.Rules, apply.Rules) {
		t.Errorf("apply is approved without a plan: stages %v, plan's is %s", stages, plan.Stage)
	}
}

// command is a command of ours in a script.
var command = regexp.MustCompile(`(?:\$TOMBOLO|\btombolo"?) ([a-z]+(?: [^)]*)?)`)

var (
	reference = regexp.MustCompile(`--changed-since "[^"]*"`)
	// hostsOwn is what hosts get in their own ways: files of outputs, the longest comment.
	hostsOwn = regexp.MustCompile(`( >\S+| --plan-output \S+| --max-size \d+| --host \S+)`)
	// ownDirectory is where a job of each host has its files.
	ownDirectory = regexp.MustCompile(`"\$(?:RUNNER_TEMP|TOMBOLO_TEMP|CI_PROJECT_DIR|AGENT_TEMPDIRECTORY|BUILD_ARTIFACTSTAGINGDIRECTORY|PIPELINE_WORKSPACE/[a-z-]+)/([^"]+)"`)
)

// commands are the calls of tombolo in scripts, without what hosts have of their own.
func commands(scripts ...string) []string {
	var out []string
	for _, script := range scripts {
		for line := range strings.Lines(script) {
			if m := command.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				out = append(out, hostsOwn.ReplaceAllString(reference.ReplaceAllString(ownDirectory.ReplaceAllString(m[1], "$1"), "--changed-since REF"), ""))
			}
		}
	}
	return out
}

// TestSameCommands: all hosts run the same commands.
func TestSameCommands(t *testing.T) {
	_, jobs, _ := gitLab(t)
	azure := azureJobs(t)
	for name, at := range map[string][2]string{
		"check": {"preview", "check"}, "preview": {"preview", "preview"}, "comment": {"preview", "comment"},
		"preview-program": {"preview-program", "preview"}, "comment-program": {"preview-program", "comment"},
		"promotion": {"promotion", "check"}, "comment-promotion": {"promotion", "comment"},
		"plan": {"apply", "plan"}, "apply": {"apply", "apply"}, "drift": {"drift", "drift"}, "remediate": {"drift", "remediate"},
	} {
		w, _ := load(t, github+"/"+at[0]+".yml")
		var scripts []string
		for _, s := range w.Jobs[at[1]].Steps {
			scripts = append(scripts, s.Run)
		}
		want := commands(scripts...)
		if got := commands(slices.Concat(jobs[name].Script, jobs[name].AfterScript)...); len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: GitLab runs %q, GitHub %q", name, got, want)
		}
		// Accounts of AWS are GitHub's and GitLab's: no profile is for Azure.
		want = slices.DeleteFunc(want, func(line string) bool { return strings.HasPrefix(line, "pipelines profiles ") })
		if got := commands(azure[name].scripts()...); !slices.Equal(got, want) {
			t.Errorf("%s: Azure DevOps runs %q, GitHub %q", name, got, want)
		}
	}
}

// TestGitLabLeavesNothing: what a job with a token writes is in a directory of its own,
// which goes with it; checkouts too.
func TestGitLabLeavesNothing(t *testing.T) {
	_, jobs, _ := gitLab(t)
	own := regexp.MustCompile(`\$CI_PROJECT_DIR[^/]`)
	seen := 0
	for name, j := range jobs {
		base, after := jobs[j.Extends], j.AfterScript
		if after == nil {
			after = base.AfterScript
		}
		all := strings.Join(slices.Concat(jobs.before(j), j.Script, after), "\n")
		assert.Check(t, !own.MatchString(all), "job %s writes beside the checkout: %s", name, all)
		if !strings.Contains(all, "$TOMBOLO_TEMP") {
			continue
		}
		seen++
		assert.Check(t, slices.Contains(after, `rm -rf "$TOMBOLO_TEMP"`), "job %s leaves its directory: %q", name, after)
		assert.Check(t, is.Equal(j.Variables["TOMBOLO_TEMP"]+base.Variables["TOMBOLO_TEMP"], "$CI_PROJECT_DIR.tmp/tombolo-$CI_JOB_ID"), name)
		for line := range strings.Lines(all) {
			if (strings.Contains(line, " clone ") || strings.Contains(line, " worktree add ")) && !strings.Contains(line, ` "$TOMBOLO_TEMP/`) {
				t.Errorf("job %s leaves its checkout: %s", name, line)
			}
		}
	}
	assert.Check(t, seen >= 7, "%d jobs have a directory of their own", seen)
}

// TestGitLabTrustsTheDefaultBranch: what gets the role, or the token for comments, is
// the default branch's program, but for what a person releases.
func TestGitLabTrustsTheDefaultBranch(t *testing.T) {
	_, jobs, _ := gitLab(t)
	for _, name := range []string{"preview", "comment", "comment-program", "promotion", "comment-promotion"} {
		j := jobs[name]
		before := jobs.before(j)
		assert.Check(t, slices.Contains(before, `git clone --quiet --branch "$CI_DEFAULT_BRANCH" "$CI_REPOSITORY_URL" "$TOMBOLO_TEMP/trusted"`),
			"job %s does not build the default branch's program: %q", name, before)
		for _, line := range slices.Concat(before, j.Script) {
			if strings.Contains(line, "make ") && !strings.Contains(line, `make -C "$TOMBOLO_TEMP/trusted" `) || strings.HasPrefix(line, "bin/") || strings.Contains(line, `clone --quiet --no-checkout`) {
				t.Errorf("job %s runs what the merge request has changed: %s", name, line)
			}
		}
	}
}
