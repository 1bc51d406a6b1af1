package pipelines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/finding"
	"tombolo/tests/files"
)

const (
	gitToken = "gitops: {auth: {password: {env: TOMBOLO_GIT_TOKEN}}}\n"
	hubToken = "gitops:\n  externalHub:\n    token:\n      env: TOMBOLO_HUB_TOKEN\n"
	pins     = "abababababababababababababababababababababababababababababababab  tombolo_1.2.3_linux_amd64.tar.gz\n" +
		"abababababababababababababababababababababababababababababababab  tombolo-tools_1.2.3_darwin_arm64.tar.gz\n"
)

// project is a directory with the pipelines of a host for these secrets, and more files.
func project(t *testing.T, o Options, more map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files, err := Files(o)
	assert.NilError(t, err)
	all := map[string]string{"tombolo.sha256": pins, "clusters/a.yaml": gitToken}
	for _, f := range files {
		all[f.Path] = f.Text
	}
	for name, text := range more {
		all[name] = text
	}
	for name, text := range all {
		if text == "" {
			continue
		}
		path := filepath.Join(root, filepath.FromSlash(name))
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

// checked is what is found in a project, a line each, without notes.
func checked(t *testing.T, root string) string {
	t.Helper()
	found, _, err := Check(root)
	assert.NilError(t, err)
	var lines []string
	for _, f := range found {
		if f.Severity != finding.Note {
			lines = append(lines, f.String())
		}
	}
	return strings.Join(lines, "\n")
}

// TestWhatIsWrittenPasses: for each host and with all kinds of secrets.
func TestWhatIsWrittenPasses(t *testing.T) {
	for _, host := range Hosts() {
		for text, secrets := range map[string][]string{"name: a\n": nil, gitToken: {"TOMBOLO_GIT_TOKEN"}, gitToken + strings.Replace(hubToken, "gitops", "more", 1): {"TOMBOLO_HUB_TOKEN", "TOMBOLO_GIT_TOKEN"}} {
			root := project(t, options(host, secrets...), map[string]string{"clusters/a.yaml": text})
			assert.Check(t, is.Equal(checked(t, root), ""), "%s %v", host, secrets)
			_, uses, err := Check(root)
			assert.NilError(t, err)
			assert.Check(t, is.Len(uses, len(secrets)))
		}
	}
}

// TestGitHub: each mistake in the pipelines of a project is found, with its place.
func TestGitHub(t *testing.T) {
	const apply, drift, preview = ".github/workflows/apply.yml", ".github/workflows/drift.yml", ".github/workflows/preview.yml"
	file := func(name string, secrets ...string) string {
		files, err := Files(options(GitHub, secrets...))
		assert.NilError(t, err)
		for _, f := range files {
			if f.Path == name {
				return f.Text
			}
		}
		t.Fatal(name)
		return ""
	}
	edited := func(name, from, to string, secrets ...string) map[string]string {
		text := file(name, secrets...)
		assert.Assert(t, strings.Contains(text, from), from)
		return map[string]string{name: strings.Replace(text, from, to, 1)}
	}
	const none = "TOMBOLO_GIT_TOKEN"
	for name, c := range map[string]struct {
		more map[string]string
		want []string
	}{
		"another secret": {map[string]string{"clusters/_defaults.yaml": hubToken}, []string{
			apply + ":20:11: error: the job apply does not get TOMBOLO_HUB_TOKEN, which clusters/_defaults.yaml:4 names; add \"TOMBOLO_HUB_TOKEN\" to its input secrets, with secrets: inherit",
			drift + ":20:11: error: the job drift does not get TOMBOLO_HUB_TOKEN",
		}},
		"a secret too many": {map[string]string{"clusters/a.yaml": "name: a\n"}, []string{
			apply + ":25:7: warning: the job apply gets TOMBOLO_GIT_TOKEN, which no file of the project names; leave it out",
			drift + ":25:7: warning: the job drift gets TOMBOLO_GIT_TOKEN",
		}},
		"no key":        {edited(apply, "      TOMBOLO_PLAN_KEY: ${{ secrets.TOMBOLO_PLAN_KEY }}\n", "", none), []string{apply + ":20:11: error: the job apply does not get TOMBOLO_PLAN_KEY, and so cannot compare secrets with the plan; add TOMBOLO_PLAN_KEY: ${{ secrets.TOMBOLO_PLAN_KEY }} to its secrets"}},
		"another value": {edited(apply, "${{ secrets.TOMBOLO_GIT_TOKEN }}", "${{ secrets.OTHER }}", none), []string{apply + ":25:26: error: is not understood: the value of TOMBOLO_GIT_TOKEN"}},
		"an undeclared": {edited(drift, "    secrets:\n", "    secrets:\n      NPM_TOKEN: ${{ secrets.NPM_TOKEN }}\n", none), []string{drift + ":25:7: error: the workflow that is called does not know the secret NPM_TOKEN", drift + ":25:7: warning: the job drift gets NPM_TOKEN"}},
		"for a request": {edited(preview, "    uses:", "    secrets: inherit\n    uses:", none), []string{preview + ":23:14: error: the job preview runs for pull requests, and gets secrets", preview + ":23:14: error: a workflow that pull requests start has every secret"}},
		"by a request":  {edited(apply, "on:\n", "on:\n  pull_request:\n", none), []string{apply + ":21:11: error: the job apply changes clusters, and pull requests start it", "error: a workflow that pull requests start has TOMBOLO_GIT_TOKEN"}},
		"another ref":   {edited(apply, "@v1.2.3", "@v1.2.4", none), []string{apply + ":20:11: error: calls pipelines of v1.2.4, and tombolo.sha256 pins v1.2.3; name the same release in both"}},
		"a branch":      {edited(apply, "@v1.2.3", "@main", none), []string{apply + `:20:11: error: calls pipelines of no release: "main"`}},
		"a commit":      {edited(apply, "@v1.2.3", "@"+strings.Repeat("c0", 20)+" # v1.2.3", none), nil},
		"a bare commit": {edited(apply, "@v1.2.3", "@"+strings.Repeat("c0", 20), none), []string{"calls pipelines of no release"}},
		"a partial pin": {map[string]string{"tombolo.sha256": pins + strings.Replace(pins, "1.2.3", "1.2.4", 1)}, []string{"tombolo.sha256:3:1: error: pins v1.2.4 beside v1.2.3; pin one release"}},
		"a bad pin":     {map[string]string{"tombolo.sha256": pins + "tombolo\n"}, []string{"tombolo.sha256:3:1: error: is not understood"}},
		"no pin":        {map[string]string{"tombolo.sha256": ""}, []string{"calls pipelines of v1.2.3, and tombolo.sha256 pins no release"}},
		"no tools":      {map[string]string{"tombolo.sha256": pins[:strings.Index(pins, "\n")+1]}, []string{"tombolo.sha256:1:1: error: pins no archive tombolo-tools, which jobs install; take the line tombolo-tools_… of the release's SHA256SUMS"}},
		"no YAML":       {map[string]string{apply: "on: ["}, []string{apply + ":1:1: error: is not understood"}},
		"no jobs":       {map[string]string{".github/workflows/more.yaml": "on: push\n"}, []string{".github/workflows/more.yaml:1:1: error: is not understood: it has no jobs"}},
		"an alias":      {map[string]string{".github/workflows/more.yaml": "x: &x pull_request\non: *x\njobs: {}\n"}, []string{".github/workflows/more.yaml:2:5: error: is not understood: what starts it"}},
		"a bad cluster": {map[string]string{"clusters/b.yaml": "a: b: c\n"}, []string{"clusters/b.yaml:1:1: error: is not understood"}},
		"its own": {map[string]string{".github/workflows/pr.yml": "on: [push, pull_request]\njobs:\n  a:\n    steps:\n      - run: make\n        env: {TOKEN: \"${{ secrets.TOMBOLO_GIT_TOKEN }}\", NPM: \"${{ secrets.NPM }}\"}\n"}, []string{
			".github/workflows/pr.yml:6:22: error: a workflow that pull requests start has TOMBOLO_GIT_TOKEN; leave it out",
		}},
		"all of its own": {map[string]string{".github/workflows/pr.yml": "on: pull_request_target\njobs:\n  a:\n    steps:\n      - run: make\n        env: {TOKENS: \"${{ toJSON(secrets) }}\"}\n"}, []string{"a workflow that pull requests start has every secret"}},
		"steps": {map[string]string{apply: "on: push\njobs:\n  a:\n    steps:\n      - run: bin/tombolo up --all --plan plan.json\n        env: {TOMBOLO_PLAN_KEY: x}\n"}, []string{
			apply + ":5:9: error: the step that applies does not get TOMBOLO_GIT_TOKEN, which clusters/a.yaml:1 names; add TOMBOLO_GIT_TOKEN: ${{ secrets.TOMBOLO_GIT_TOKEN }} to its env",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := checked(t, project(t, options(GitHub, none), c.more))
			if c.want == nil {
				assert.Equal(t, got, "")
			}
			for _, want := range c.want {
				assert.Check(t, is.Contains(got, want))
			}
		})
	}
}

// TestGitHubOthers: secrets that a workflow does not declare come by their names in an input.
func TestGitHubOthers(t *testing.T) {
	both := map[string]string{"clusters/b.yaml": hubToken}
	root := project(t, options(GitHub, "TOMBOLO_GIT_TOKEN", "TOMBOLO_HUB_TOKEN"), both)
	path := filepath.Join(root, ".github/workflows/apply.yml")
	text := files.Read(t, path)
	for from, c := range map[string][2]string{
		"    secrets: inherit\n":        {"", "the job apply names more secrets, and does not pass them"},
		`'["TOMBOLO_HUB_TOKEN"]'`:       {"TOMBOLO_HUB_TOKEN", "is not understood: the input secrets"},
		`["TOMBOLO_HUB_TOKEN"]`:         {`["TOMBOLO_HUB_TOKEN", "TOMBOLO_OTHER"]`, "warning: the job apply gets TOMBOLO_OTHER"},
		`"TOMBOLO_HUB_TOKEN"`:           {strings.Repeat(`"TOMBOLO_HUB_TOKEN",`, 8) + `"TOMBOLO_HUB_TOKEN"`, "names 9 secrets, and a called workflow gets 8 at most"},
		"    secrets: inherit":          {"    secrets: everything", "is not understood: the secrets of the job apply"},
		"    with:\n      branch: main": {"    with: &none {}\n    x:", "the job apply does not get TOMBOLO_HUB_TOKEN"},
	} {
		assert.Assert(t, strings.Contains(text, from), from)
		assert.NilError(t, os.WriteFile(path, []byte(strings.Replace(text, from, c[0], 1)), 0o600))
		assert.Check(t, is.Contains(checked(t, root), c[1]))
	}
}

func TestGitLabAndAzure(t *testing.T) {
	for name, c := range map[string]struct{ host, file, from, to, want string }{
		"another ref":         {GitLab, ".gitlab-ci.yml", "v1.2.3", "v1.2.4", ".gitlab-ci.yml:5:5: error: calls pipelines of v1.2.4, and tombolo.sha256 pins v1.2.3"},
		"a job with a secret": {GitLab, ".gitlab-ci.yml", "include:", "mine:\n  script: echo $TOMBOLO_GIT_TOKEN\ninclude:", ".gitlab-ci.yml:5:11: error: a job of the project's own names TOMBOLO_GIT_TOKEN"},
		"nothing included":    {GitLab, ".gitlab-ci.yml", ".gitlab/pipelines.yml", "other.yml", "no pipeline of this project calls those of a release"},
		"another tag":         {AzureDevOps, "azure-pipelines.yml", "refs/tags/v1.2.3", "refs/tags/v1.2.4", "azure-pipelines.yml:22:12: error: calls pipelines of v1.2.4"},
		"a branch":            {AzureDevOps, "azure-pipelines.yml", "      ref: refs/tags/v1.2.3\n", "", "error: calls pipelines of no release"},
		"a secret too many":   {AzureDevOps, "azure-pipelines.yml", "secrets: []", "secrets: [TOMBOLO_X]", "warning: the pipeline gets TOMBOLO_X, which no file of the project names"},
		"a secret twice":      {AzureDevOps, "azure-pipelines.yml", "secrets: []", "secrets: [TOMBOLO_GIT_TOKEN]", "error: TOMBOLO_GIT_TOKEN is in the steps already"},
		"no list":             {AzureDevOps, "azure-pipelines.yml", "secrets: []", "secrets: TOMBOLO_X", "error: is not understood: the parameter secrets"},
		"a group for all":     {AzureDevOps, "azure-pipelines.yml", "trigger:", "variables:\n  - group: tombolo-apply\ntrigger:", "azure-pipelines.yml:4:12: error: jobs that run for pull requests get secrets by tombolo-apply"},
		"no passphrase":       {AzureDevOps, "clusters/a.yaml", "TOMBOLO_GIT_TOKEN", "TOMBOLO_OTHER", "error: the pipeline does not get TOMBOLO_OTHER, which clusters/a.yaml:1 names; add TOMBOLO_OTHER to its parameter secrets"},
	} {
		t.Run(name, func(t *testing.T) {
			root := project(t, options(c.host, "TOMBOLO_GIT_TOKEN"), nil)
			path := filepath.Join(root, c.file)
			text := files.Read(t, path)
			assert.Assert(t, strings.Contains(text, c.from), text)
			assert.NilError(t, os.WriteFile(path, []byte(strings.Replace(text, c.from, c.to, 1)), 0o600))
			assert.Check(t, is.Contains(checked(t, root), c.want))
		})
	}
}

// TestNotes: what no file shows is said.
func TestNotes(t *testing.T) {
	for host, want := range map[string]string{
		GitLab:      ".gitlab-ci.yml:4:1: note: variables of the project have the secrets: TOMBOLO_GIT_TOKEN, TOMBOLO_PLAN_KEY, PULUMI_CONFIG_PASSPHRASE, unless a key service encrypts the states; ",
		AzureDevOps: "azure-pipelines.yml:3:1: note: variable groups have the secrets: TOMBOLO_GIT_TOKEN, TOMBOLO_PLAN_KEY, PULUMI_CONFIG_PASSPHRASE; ",
	} {
		found, _, err := Check(project(t, options(host, "TOMBOLO_GIT_TOKEN", Passphrase), nil))
		assert.NilError(t, err)
		assert.Assert(t, is.Len(found, 1))
		assert.Check(t, strings.HasPrefix(found[0].String(), want), found[0])
	}
}
