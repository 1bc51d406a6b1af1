// Package workflows checks the pipelines of GitHub, GitLab and Azure DevOps: that they
// are well formed, and that code that is not reviewed gets no credentials.
package workflows

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	testfiles "tombolo/tests/files"
)

const github = "../../.github/workflows"

func files(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(github, "*.yml"))
	assert.Assert(t, err == nil && len(found) > 0, "workflows: %v, error %v", found, err)
	return found
}

// TestActionlint has actionlint look at every workflow.
func TestActionlint(t *testing.T) {
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	assert.NilError(t, err)
	problems, err := linter.LintFiles(files(t), nil)
	assert.NilError(t, err)
	for _, p := range problems {
		t.Error(p)
	}
}

// workflow is what the rules below read of a workflow.
type workflow struct {
	On          yaml.Node         `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Concurrency struct {
		Group  string `yaml:"group"`
		Cancel string `yaml:"cancel-in-progress"`
	} `yaml:"concurrency"`
	Jobs map[string]job `yaml:"jobs"`
}

type job struct {
	Needs       string            `yaml:"needs"`
	If          string            `yaml:"if"`
	RunsOn      string            `yaml:"runs-on"`
	Environment string            `yaml:"environment"`
	Permissions map[string]string `yaml:"permissions"`
	Timeout     int               `yaml:"timeout-minutes"`
	Outputs     map[string]string `yaml:"outputs"`
	Steps       []step            `yaml:"steps"`
}

type step struct {
	ID   string            `yaml:"id"`
	Uses string            `yaml:"uses"`
	Run  string            `yaml:"run"`
	If   string            `yaml:"if"`
	With map[string]string `yaml:"with"`
	Env  map[string]string `yaml:"env"`
}

func load(t *testing.T, file string) (workflow, string) {
	t.Helper()
	text, err := os.ReadFile(file)
	assert.NilError(t, err)
	var w workflow
	assert.NilError(t, yaml.Unmarshal(text, &w), file)
	return w, string(text)
}

// pinned is an action by its commit, with the version for people.
var pinned = regexp.MustCompile(`uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

func TestRules(t *testing.T) {
	for _, file := range files(t) {
		w, text := load(t, file)
		name := strings.TrimSuffix(filepath.Base(file), ".yml")
		t.Run(name, func(t *testing.T) {
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); strings.Contains(line, "uses:") && !pinned.MatchString(line) {
					t.Errorf("%q is not pinned to a commit", line)
				}
			}
			assert.Check(t, len(w.Permissions) == 1 && w.Permissions["contents"] == "read",
				"permissions of the workflow are %v, want contents: read alone", w.Permissions)
			assert.Check(t, w.Concurrency.Group != "", "it has no concurrency group")
			if changes := name == "apply" || name == "drift"; changes && w.Concurrency.Cancel != "false" {
				t.Errorf("a run may be cancelled: %q", w.Concurrency.Cancel)
			}
			assert.Check(t, !strings.Contains(text, "pull_request_target"),
				"pull_request_target runs with the repository's secrets on what a fork has changed")
			for id, j := range w.Jobs {
				j.check(t, id)
			}
		})
	}
}

// TestApplyIsApproved: one job has the role that changes things, in the environment
// that needs an approval, after the plan that is approved. Another puts drift right by the
// policies of cluster files, where a variable says so.
func TestApplyIsApproved(t *testing.T) {
	for _, file := range files(t) {
		w, _ := load(t, file)
		for id, j := range w.Jobs {
			if filepath.Base(file) == "drift.yml" && id == "remediate" {
				continue // see TestRemediation
			}
			for _, s := range j.Steps {
				role := s.With["role-to-assume"] + s.With["client-id"]
				applies := strings.HasPrefix(role, "${{ vars.TOMBOLO_APPLY_")
				if applies && (j.Environment != "apply" || j.Needs != "plan") {
					t.Errorf("%s: job %s has the role that applies, in environment %q after %q", file, id, j.Environment, j.Needs)
				} else if j.Environment == "apply" && role != "" && !applies {
					t.Errorf("%s: job %s applies with the role %s", file, id, role)
				}
			}
		}
	}
}

// TestSignsInToBothClouds: each job with credentials has those of one kind for both clouds, where
// variables say so, and what it does in Azure is as the identity that it has signed in with.
func TestSignsInToBothClouds(t *testing.T) {
	kinds := map[string]string{"preview": "PREVIEW", "preview-program": "PREVIEW", "plan": "PREVIEW", "drift": "PREVIEW", "apply": "APPLY", "remediate": "APPLY"}
	seen := 0
	for _, file := range files(t) {
		w, _ := load(t, file)
		for id, j := range w.Jobs {
			if j.Permissions["id-token"] != "write" || j.Environment == "release" {
				continue
			}
			seen++
			kind := kinds[j.Environment]
			variable := func(name string) string { return "${{ vars.TOMBOLO_" + kind + "_" + name + " }}" }
			set := func(name string) string { return "${{ vars.TOMBOLO_" + kind + "_" + name + " != '' }}" }
			aws, azure, works := false, false, 0
			for _, s := range j.Steps {
				switch {
				case strings.HasPrefix(s.Uses, "aws-actions/configure-aws-credentials@"):
					aws = s.With["role-to-assume"] == variable("ROLE") && s.If == set("ROLE")
				case strings.HasPrefix(s.Uses, "azure/login@"):
					azure = s.With["client-id"] == variable("CLIENT") && s.If == set("CLIENT") && s.With["tenant-id"] == "${{ vars.TOMBOLO_TENANT }}" && s.With["creds"] == ""
				case s.Env["AWS_CONFIG_FILE"] != "":
					works++
					assert.Check(t, azure && s.Env["ARM_USE_OIDC"] == set("CLIENT") && s.Env["ARM_CLIENT_ID"] == variable("CLIENT") &&
						s.Env["ARM_TENANT_ID"] == "${{ vars.TOMBOLO_TENANT }}", "%s: job %s works in Azure with %v", file, id, s.Env)
				}
			}
			assert.Check(t, aws && azure && works == 1, "%s: job %s signs in to AWS %t, to Azure %t, and works in %d steps", file, id, aws, azure, works)
		}
	}
	assert.Equal(t, seen, len(kinds))
}

// TestRemediation: either the job that only reads looks for drift, or, where a variable says
// so, one that puts right what policies allow: from the default branch, in an environment of
// its own.
func TestRemediation(t *testing.T) {
	w, _ := load(t, filepath.Join(github, "drift.yml"))
	for id, want := range map[string]struct{ role, condition, command string }{
		"drift":     {"PREVIEW", "!=", "drift --all --without-secrets --report drift.md"},
		"remediate": {"APPLY", "==", "drift --all --remediate --report drift.md"},
	} {
		j := w.Jobs[id]
		assert.Equal(t, j.If, ofBranch+" && vars.TOMBOLO_REMEDIATE "+want.condition+" 'true'")
		assert.Equal(t, j.Environment, id)
		assert.DeepEqual(t, j.Permissions, map[string]string{"contents": "read", "id-token": "write", "issues": "write"})
		var roles, scripts []string
		for _, s := range j.Steps {
			if role := s.With["role-to-assume"]; role != "" {
				roles = append(roles, role)
			}
			scripts = append(scripts, commands(s.Run)...)
		}
		assert.DeepEqual(t, roles, []string{"${{ vars.TOMBOLO_" + want.role + "_ROLE }}"})
		assert.Check(t, slices.Contains(scripts, want.command+" || test $? -eq 9"), "%s runs %q", id, scripts)
	}
}

// TestApplyOfThePlan: the job that applies gets the file of the plan that people approve,
// and its digest from the job that made it, and does nothing else.
func TestApplyOfThePlan(t *testing.T) {
	w, _ := load(t, filepath.Join(github, "apply.yml"))
	var plans, uploads, downloads, applies bool
	for _, s := range w.Jobs["plan"].Steps {
		plans = plans || s.ID == "plan" && strings.Contains(s.Run, ` --plan "$RUNNER_TEMP/plan.json" --plan-output "$GITHUB_OUTPUT" `)
		uploads = uploads || plans && s.With["name"] == "plan" && strings.Contains(s.With["path"], "${{ runner.temp }}/plan.json\n")
	}
	for _, s := range w.Jobs["apply"].Steps {
		if strings.HasPrefix(s.Uses, "actions/checkout@") {
			assert.Check(t, is.Equal(s.With["fetch-depth"], "0"), "the requests that are applied cannot be found")
		}
		downloads = downloads || strings.HasPrefix(s.Uses, "actions/download-artifact@") && s.With["name"] == "plan" && s.With["path"] == "${{ runner.temp }}"
		applies = applies || downloads && s.Env["DIGEST"] == "${{ needs.plan.outputs.digest }}" &&
			strings.Contains(s.Run, `bin/tombolo up --all --plan "$RUNNER_TEMP/plan.json" --plan-digest "$DIGEST" `)
		if strings.Contains(s.Run, "tombolo up") && !applies {
			t.Errorf("%q applies something else than the plan", s.Run)
		}
	}
	digest := w.Jobs["plan"].Outputs["digest"] == "${{ steps.plan.outputs.DIGEST }}"
	assert.Check(t, plans && uploads && downloads && applies && digest,
		"planned %t, uploaded %t, downloaded %t, applied %t, with the digest %t", plans, uploads, downloads, applies, digest)
}

// thin is what a line of a script may be: a target, a command of ours, where tools
// are found.
var thin = regexp.MustCompile(`^(make (-C trusted )?[a-z-]+|PATH="\S+"|(bin/tombolo|\$TOMBOLO) .+)$`)

// TestScriptsAreThin: what a pipeline does can be run by hand.
func TestScriptsAreThin(t *testing.T) {
	lines := 0
	for _, file := range files(t) {
		w, _ := load(t, file)
		for id, j := range w.Jobs {
			for _, s := range j.Steps {
				for line := range strings.Lines(s.Run) {
					lines++
					if line = strings.TrimSpace(line); !thin.MatchString(line) {
						t.Errorf("%s: job %s has logic of its own: %s", file, id, line)
					}
				}
			}
		}
	}
	assert.Check(t, lines >= 10, "%d lines were found: the test sees nothing", lines)
}

// TestTargets: what pipelines make is in the Makefile.
func TestTargets(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	assert.NilError(t, err)
	targets := regexp.MustCompile(`(?m)^\s*(?:- )?(?:run: |bash: )?make (?:-C \S+ )?([a-z-]+)$`)
	found := map[string]bool{}
	for _, file := range append(files(t), gitLabOwn, gitLabPipelines, azurePipelines, "../../.ci/run") {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		for _, m := range targets.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
			assert.Check(t, strings.Contains(string(makefile), "\n"+m[1]+":"), "%s: there is no target %s", file, m[1])
		}
	}
	for _, target := range []string{"lint", "test", "setup-aws", "setup-azure", "release", "release-check", "release-publish"} {
		assert.Check(t, found[target], "no pipeline makes %s", target)
	}
}

// passphrase is given only to a repository that says that it has one.
const passphrase = "${{ vars.TOMBOLO_SECRETS == 'passphrase' && secrets.PULUMI_CONFIG_PASSPHRASE || '' }}"

// written is an output of a preview of a change that is not in the job's own directory.
var written = regexp.MustCompile(`--changed-since .*(>|--html )"?[^"$]\S*`)

// installsPlugins says that a step builds the tools for AWS, and installs the plugins, from
// a mirror where one is named.
func installsPlugins(s step) bool {
	return strings.HasSuffix(s.Run, " setup-aws") && s.Env["TOMBOLO_PLUGIN_MIRROR"] == "${{ vars.TOMBOLO_PLUGIN_MIRROR }}"
}

// check asserts the rules of a job.
func (j job) check(t *testing.T, id string) {
	t.Helper()
	assert.Check(t, j.Timeout != 0, "job %s has no timeout", id)
	credentials := j.Permissions["id-token"] == "write"
	// A token that also writes attestations is for Sigstore, and no cloud's: see TestRelease.
	signs := credentials && j.Permissions["attestations"] == "write"
	if prepared := slices.ContainsFunc(j.Steps, installsPlugins); (credentials && !signs) != prepared {
		t.Errorf("job %s has credentials (%t), and the tools for AWS with their plugins (%t)", id, credentials, prepared)
	}
	if credentials && j.Permissions["pull-requests"] == "write" {
		t.Errorf("job %s has credentials of the cloud, and a token that may approve", id)
	}
	for _, s := range j.Steps {
		if p, ok := s.Env["PULUMI_CONFIG_PASSPHRASE"]; ok && p != passphrase {
			t.Errorf("job %s has a passphrase where a key service is used: %s", id, p)
		}
		if m := written.FindStringSubmatch(s.Run); m != nil {
			t.Errorf("job %s writes into the checkout of a change, where a link may wait: %s", id, m[0])
		}
		for _, value := range s.Env {
			if strings.Contains(value, "secrets.") && !credentials {
				t.Errorf("job %s has a secret, and no identity", id)
			}
		}
		if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
			t.Errorf("job %s leaves its token in the checkout", id)
		}
		assert.Check(t, !strings.Contains(s.Run, "${{"), "job %s has an expression in a script, where a branch's name would be run: %s", id, s.Run)
		if credentials && strings.HasPrefix(s.Uses, "actions/setup-go@") && s.With["cache"] != "false" {
			t.Errorf("job %s takes a cache that others may have written", id)
		}
	}
	if credentials && (j.Environment == "" || j.If == "") {
		t.Errorf("job %s has credentials, environment %q and condition %q: both are needed", id, j.Environment, j.If)
	}
}

// TestRelease: what is signed has been built twice and is the same; who builds may do nothing
// else, who signs does not publish, and who publishes does not sign. Only a tag starts it, and
// people approve what has more than the source.
func TestRelease(t *testing.T) {
	w, _ := load(t, filepath.Join(github, "release.yml"))
	var on map[string]struct{ Tags []string }
	assert.NilError(t, w.On.Decode(&on))
	assert.DeepEqual(t, on, map[string]struct{ Tags []string }{"push": {Tags: []string{"v*"}}})
	read := map[string]string(nil)
	for id, want := range map[string]struct {
		needs       string
		permissions map[string]string
		makes       []string
	}{
		"build":   {"", read, []string{"make release"}},
		"tools":   {"build", read, []string{"make release-tools"}},
		"sign":    {"tools", map[string]string{"contents": "read", "id-token": "write", "attestations": "write"}, []string{"make release-check"}},
		"publish": {"sign", map[string]string{"contents": "write"}, []string{"make release-publish"}},
		"image":   {"sign", map[string]string{"contents": "read", "packages": "write"}, []string{"make release-image"}},
	} {
		j, ok := w.Jobs[id]
		assert.Assert(t, ok, id)
		assert.Check(t, is.Equal(j.Needs, want.needs), id)
		assert.Check(t, is.DeepEqual(j.Permissions, want.permissions), id)
		var makes []string
		checked := false
		for _, s := range j.Steps {
			if s.Run != "" {
				makes = append(makes, s.Run)
			}
			checked = checked || s.Run == "make release-check"
			if strings.HasPrefix(s.Uses, "actions/attest@") && (id != "sign" || !checked) {
				t.Errorf("job %s signs what nobody has compared", id)
			}
			if strings.HasPrefix(s.Uses, "actions/cache@") || strings.HasPrefix(s.Uses, "actions/setup-go@") && s.With["cache"] != "false" {
				t.Errorf("job %s builds with a cache that others may have written", id)
			}
		}
		assert.Check(t, is.DeepEqual(makes, want.makes), id)
		if more := j.Permissions != nil; more && (j.Environment != "release" || !strings.HasPrefix(j.If, "startsWith(github.ref, 'refs/tags/v')")) {
			t.Errorf("job %s has more than the source, in the environment %q, if %q", id, j.Environment, j.If)
		}
	}
	assert.Equal(t, len(w.Jobs), 5)
}

// TestReleaseCheck: a second build with other bytes is noticed, and so is a file that is not the
// one that was built.
func TestReleaseCheck(t *testing.T) {
	for _, tool := range []string{"make", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	makefile, err := filepath.Abs("../../Makefile")
	assert.NilError(t, err)
	// The SHA-256 of "a".
	const sums = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  file\n"
	for name, test := range map[string]struct {
		file, again, tools string
		fails              string
	}{
		"equal":         {"a", sums, "a", ""},
		"another build": {"a", strings.Replace(sums, "ca", "cb", 1), "a", "differ"},
		"another file":  {"b", sums, "a", "did NOT match"},
		"another tool":  {"a", sums, "b", "did NOT match"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			testfiles.Write(t, filepath.Join(dir, "bin/release/file"), test.file)
			testfiles.Write(t, filepath.Join(dir, "bin/release/SHA256SUMS"), sums)
			testfiles.Write(t, filepath.Join(dir, "bin/release-again/SHA256SUMS"), test.again)
			ofTools := strings.Replace(sums, "file", "tombolo-tools_1.2.3_linux_amd64.tar.gz", 1)
			testfiles.Write(t, filepath.Join(dir, "bin/release-tools/tombolo-tools_1.2.3_linux_amd64.tar.gz"), test.tools)
			testfiles.Write(t, filepath.Join(dir, "bin/release-tools/tombolo-tools_1.2.3_linux_amd64.tar.gz.sha256"), ofTools)
			cmd := exec.Command("make", "-f", makefile, "release-check")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "LC_ALL=C")
			out, err := cmd.CombinedOutput()
			if test.fails == "" {
				assert.NilError(t, err, "%s", out)
				all, err := os.ReadFile(filepath.Join(dir, "bin/release/SHA256SUMS"))
				assert.NilError(t, err)
				assert.Equal(t, string(all), sums+ofTools)
				return
			}
			assert.Check(t, err != nil)
			assert.Check(t, is.Contains(string(out), test.fails))
		})
	}
}

const (
	// ofBranch is the condition of what changes clusters. A caller may name another branch than
	// main; the environments of these jobs let the default branch alone in.
	ofBranch        = "github.ref == format('refs/heads/{0}', inputs.branch || 'main')"
	ofDefaultBranch = "github.event.pull_request.base.ref == github.event.repository.default_branch"
	ofNoFork        = "github.event.pull_request.head.repo.full_name == github.repository"
	toDefaultBranch = "${{ github.event.repository.default_branch }}"
)

// TestForksGetNoCredentials: with credentials, a preview runs the program of the
// default branch, not for forks, and not for requests into another branch. What is
// built is built before there are credentials.
func TestForksGetNoCredentials(t *testing.T) {
	for name, own := range map[string]bool{"preview": false, "preview-program": true} {
		w, _ := load(t, filepath.Join(github, name+".yml"))
		j := w.Jobs["preview"]
		want := ofDefaultBranch + " && " + ofNoFork
		assert.Check(t, j.If == want, "%s: condition %q, want %q", name, j.If, want)
		assert.Check(t, j.Environment == name, "%s runs in the environment %q", name, j.Environment)
		var on struct {
			PullRequest struct {
				Branches []string `yaml:"branches"`
			} `yaml:"pull_request"`
		}
		assert.NilError(t, w.On.Decode(&on))
		assert.DeepEqual(t, on.PullRequest.Branches, []string{"main"})
		signedIn := false
		for _, s := range j.Steps {
			if s.With["path"] == "trusted" && s.With["ref"] != toDefaultBranch {
				t.Errorf("%s: the program is that of %q", name, s.With["ref"])
			}
			signedIn = signedIn || strings.HasPrefix(s.Uses, "aws-actions/")
			for _, word := range []string{"make", "go build", "go run", "npm"} {
				if signedIn && strings.Contains(s.Run, word+" ") {
					t.Errorf("%s: %q builds something when there are credentials", name, s.Run)
				}
			}
			if strings.Contains(s.Run, "make") && !strings.Contains(s.Run, "make -C trusted ") && !own {
				t.Errorf("%s: %q builds what the pull request has changed", name, s.Run)
			}
			if strings.Contains(s.Run, "bin/tombolo preview") && !own {
				t.Errorf("%s: %q runs what the pull request has changed", name, s.Run)
			}
		}
	}
}

// TestCommentsAreWrittenApart: the token that writes comments, and could approve, is in
// a job that runs the default branch's program and has nothing else.
func TestCommentsAreWrittenApart(t *testing.T) {
	for name, after := range map[string]string{"preview": "preview", "preview-program": "preview", "promotion": "check"} {
		w, _ := load(t, filepath.Join(github, name+".yml"))
		j := w.Jobs["comment"]
		assert.DeepEqual(t, j.Permissions, map[string]string{"contents": "read", "pull-requests": "write"})
		assert.Check(t, j.Environment == "" && j.Needs == after,
			"%s: the comment is written in the environment %q, after %q", name, j.Environment, j.Needs)
		last := j.Steps[len(j.Steps)-1]
		want := `$TOMBOLO comment --file "$RUNNER_TEMP/comment.md" --key ` + name
		assert.Check(t, last.Run == want, "%s: %q, want %q", name, last.Run, want)
		for _, s := range j.Steps {
			if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["ref"] != toDefaultBranch {
				t.Errorf("%s: the comment is written by the program of %q", name, s.With["ref"])
			}
		}
	}
}

// TestPromotionIsOnlyShown: a promotion is looked at by the default branch's program, with
// all branches there, between the branches of environments alone; nothing can push.
func TestPromotionIsOnlyShown(t *testing.T) {
	w, _ := load(t, filepath.Join(github, "promotion.yml"))
	j := w.Jobs["check"]
	want := `contains(fromJSON(inputs.from || '["dev", "test"]'), github.event.pull_request.head.ref) && ` + ofNoFork
	assert.Check(t, j.If == want, "condition %q, want %q", j.If, want)
	assert.Equal(t, len(j.Permissions), 0)
	checkouts := 0
	for _, s := range j.Steps {
		if strings.HasPrefix(s.Uses, "actions/checkout@") {
			checkouts++
			if s.With["ref"] != toDefaultBranch || s.With["fetch-depth"] != "0" {
				t.Errorf("%q is checked out, with a depth of %q", s.With["ref"], s.With["fetch-depth"])
			}
		}
	}
	assert.Equal(t, checkouts, 1)
	for id, j := range w.Jobs {
		assert.Check(t, j.Permissions["contents"] != "write", "job %s may push", id)
	}
}

// TestEveryChangeIsPreviewed: what an apply starts on, a request for it was previewed on.
func TestEveryChangeIsPreviewed(t *testing.T) {
	paths := func(name, event string) (found []string) {
		w, _ := load(t, filepath.Join(github, name+".yml"))
		on := map[string]yaml.Node{}
		assert.NilError(t, w.On.Decode(&on))
		var of struct{ Paths []string }
		node := on[event]
		assert.NilError(t, node.Decode(&of))
		return of.Paths
	}
	previewed := append(paths("preview", "pull_request"), paths("preview-program", "pull_request")...)
	for _, path := range paths("apply", "push") {
		if !slices.ContainsFunc(previewed, func(p string) bool {
			return p == path || strings.HasPrefix(path, strings.TrimSuffix(p, "**")) && strings.HasSuffix(p, "**")
		}) {
			t.Errorf("a change of %s is applied, and was not previewed", path)
		}
	}
}

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
	for _, p := range pieces(t) {
		check(p.host+" "+p.file+" "+p.job, strings.Join(p.scripts, "\n"))
	}
	_, jobs, _ := gitLab(t)
	for name, j := range jobs {
		all := strings.Join(slices.Concat(j.BeforeScript, j.Script, j.AfterScript), "\n")
		uses := strings.Contains(all, "$CI_PROJECT_DIR/") || len(j.Artifacts.Paths)+len(j.Needs) > 0
		assert.Check(t, !uses || jobs[j.Extends].Variables["GIT_STRATEGY"] == "empty", "job %s hands on or gets files in a checkout", name)
		for _, path := range j.Artifacts.Paths {
			assert.Check(t, strings.Contains(strings.Join(j.AfterScript, "\n"), `"$TOMBOLO_TEMP/`+path+`"`), "job %s hands on %s from elsewhere", name, path)
		}
	}
	assert.Check(t, seen > 40, "%d files were found: the test sees nothing", seen)
}
