package workflows

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
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
		When  string   `yaml:"when"`
		Paths []string `yaml:"paths"`
	} `yaml:"artifacts"`
	Image string `yaml:"image"`
}

type gitLabRule struct {
	If      string   `yaml:"if"`
	Changes []string `yaml:"changes"`
}

// gitLab reads the pipeline strictly.
func gitLab(t *testing.T) (stages []string, jobs map[string]gitLabJob) {
	t.Helper()
	text, err := os.ReadFile("../../.gitlab-ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]yaml.Node
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	jobs = map[string]gitLabJob{}
	for name, node := range all {
		var into any = new(gitLabJob)
		switch name {
		case "stages":
			into = &stages
		case "workflow":
			into = &struct {
				Rules []gitLabRule `yaml:"rules"`
			}{}
		}
		again, err := yaml.Marshal(&node)
		if err != nil {
			t.Fatal(err)
		}
		decoder := yaml.NewDecoder(bytes.NewReader(again))
		decoder.KnownFields(true)
		if err := decoder.Decode(into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if job, ok := into.(*gitLabJob); ok && name != "workflow" && name != "default" {
			jobs[name] = *job
		}
	}
	return stages, jobs
}

func TestGitLab(t *testing.T) {
	stages, jobs := gitLab(t)
	for _, name := range []string{"lint", "test", "check", "preview", "apply", "drift"} {
		if _, ok := jobs[name]; !ok {
			t.Errorf("there is no job %s", name)
		}
	}
	for name, j := range jobs {
		if strings.HasPrefix(name, ".") {
			continue
		}
		if len(j.Script) == 0 || !slices.Contains(stages, j.Stage) {
			t.Errorf("job %s has stage %q, and the script %v", name, j.Stage, j.Script)
		}
		if base, ok := jobs[j.Extends]; !ok || len(j.Rules)+len(base.Rules) == 0 {
			t.Errorf("job %s extends %q, and has no rules", name, j.Extends)
		}
		if identity := j.Extends == ".aws"; identity != (j.Variables["AWS_ROLE_ARN"] != "") {
			t.Errorf("job %s extends %s, and has the role %q", name, j.Extends, j.Variables["AWS_ROLE_ARN"])
		}
	}
	apply := jobs["apply"]
	if apply.Interruptible == nil || *apply.Interruptible || apply.ResourceGroup != "apply" || apply.Environment["name"] != "apply" {
		t.Errorf("apply may be cancelled, run beside another, or run without approval: %+v", apply)
	}
	preview := jobs["preview"]
	if want := "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID"; len(preview.Rules) != 1 || !strings.Contains(preview.Rules[0].If, want) {
		t.Errorf("preview runs for forks: %v", preview.Rules)
	}
	if preview.Variables["AWS_ROLE_ARN"] != "$TOMBOLO_PREVIEW_ROLE" || jobs["drift"].Variables["AWS_ROLE_ARN"] != "$TOMBOLO_PREVIEW_ROLE" {
		t.Error("what only looks has a role that changes things")
	}
}

// command is a command of ours in a script.
var command = regexp.MustCompile(`(?:\$TOMBOLO|\btombolo"?) ([a-z]+ .*)`)

// TestSameCommands: both hosts run the same commands.
func TestSameCommands(t *testing.T) {
	ref := regexp.MustCompile(`--changed-since "[^"]*"`)
	normal := func(scripts ...string) []string {
		var out []string
		for _, script := range scripts {
			for line := range strings.Lines(script) {
				if m := command.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
					out = append(out, ref.ReplaceAllString(m[1], "--changed-since REF"))
				}
			}
		}
		return out
	}
	_, jobs := gitLab(t)
	for _, name := range []string{"preview", "apply", "drift"} {
		w, _ := load(t, github+"/"+name+".yml")
		var scripts []string
		for _, s := range w.Jobs[name].Steps {
			scripts = append(scripts, s.Run)
		}
		got := normal(slices.Concat(jobs[name].Script, jobs[name].AfterScript)...)
		if want := normal(scripts...); len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: GitLab runs %q, GitHub %q", name, got, want)
		}
	}
}
