package pipelines

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config/strict"
)

// TestWriteAndCheck: what write writes passes check; a cluster file that names another secret is
// noticed, and write passes it on.
func TestWriteAndCheck(t *testing.T) {
	root := clitest.Project(t, nil)
	name := func(text string) {
		t.Helper()
		path := filepath.Join(root, "clusters", "_shared.yaml")
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	run := func(output render.Format, args ...string) (string, string, error) {
		t.Helper()
		f := clitest.At(root, output)
		return f.Run(t, NewCmdPipelines(f.Factory, nil), args...)
	}
	write := []string{"write", "--host", "github", "--source", "github.com/acme/tombolo", "--version", "v1.2.3"}
	name("a: {env: TOMBOLO_GIT_TOKEN}\n")
	pin := strings.Repeat("ab", 32) + "  tombolo_1.2.3_linux_amd64.tar.gz\n" + strings.Repeat("cd", 32) + "  tombolo-tools_1.2.3_linux_amd64.tar.gz\n"
	assert.NilError(t, os.WriteFile(filepath.Join(root, "tombolo.sha256"), []byte(pin), 0o600))

	_, _, err := run(render.Text, "check")
	assert.NilError(t, err)
	_, _, err = run(render.Text, "check", "--strict")
	assert.Check(t, is.ErrorContains(err, "the pipelines do not fit the project: 1 error"))

	_, said, err := run(render.Text, write...)
	assert.NilError(t, err)
	for _, path := range []string{"Makefile", ".github/workflows/apply.yml"} {
		assert.Check(t, is.Contains(said, path))
	}
	out, said, err := run(render.Text, "check", "--strict")
	assert.NilError(t, err)
	assert.Equal(t, out, "")
	assert.Check(t, is.Contains(said, "the pipelines fit the project, whose files name"))

	name("a: {env: TOMBOLO_GIT_TOKEN}\nb: {env: TOMBOLO_HUB_TOKEN}\n")
	out, _, err = run(render.Text, "check")
	assert.Check(t, is.Contains(out, ".github/workflows/apply.yml:20:11: error: the job apply does not get TOMBOLO_HUB_TOKEN, which clusters/_shared.yaml:2 names"))
	assert.Assert(t, fault.Is(err, fault.Contract), err)
	out, _, err = run(render.JSON, "check")
	assert.Check(t, err != nil)
	assert.Check(t, is.Contains(out, `"type":"finding"`))
	assert.Check(t, is.Contains(out, `{"type":"pipelines check","secrets":["TOMBOLO_GIT_TOKEN","TOMBOLO_HUB_TOKEN"],"errors":2,"warnings":0}`))

	_, _, err = run(render.Text, "check", "--host", "gitlab")
	assert.NilError(t, err)
	_, _, err = run(render.Text, "check", "--host", "gitea")
	assert.Check(t, is.ErrorContains(err, "must be one of: github, gitlab, azure-devops"))

	_, _, err = run(render.Text, write...)
	assert.Check(t, is.ErrorContains(err, "there are other files already: .github/workflows/apply.yml, .github/workflows/drift.yml"))
	_, _, err = run(render.Text, append(write, "--force", "--passphrase")...)
	assert.NilError(t, err)
	_, _, err = run(render.Text, "check", "--strict")
	assert.NilError(t, err)

	_, said, err = run(render.Text, append(write, "--force", "--passphrase")...)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(said, "nothing to write: the pipelines are there already"))
	_, _, err = run(render.Text, "write", "--host", "github")
	assert.Check(t, is.ErrorContains(err, "missing: --source, --version; give these flags"))
	_, _, err = run(render.Text, "write", "--host", "gitea", "--source", "github.com/acme/tombolo", "--version", "v1.2.3")
	assert.Check(t, is.ErrorContains(err, `the host "gitea" is not known`))
	_, _, err = run(render.Text, "check", "acme")
	assert.Check(t, is.ErrorContains(err, "too many arguments: acme"))
}

// TestCheckRefusesInvalidFiles: a name that no cluster file may have is not taken for no secret.
func TestCheckRefusesInvalidFiles(t *testing.T) {
	file := strings.Replace(clitest.ClusterFile("a", "dev", 0), "  engine: flux\n", "  engine: flux\n  auth: {type: basic, username: git, password: {env: MY_TOKEN}}\n", 1)
	f := clitest.At(clitest.Project(t, map[string]string{"a": file}), render.Text)
	err := clitest.Execute(t, NewCmdPipelines(f.Factory, nil), "check")
	var invalid strict.Problems
	assert.Assert(t, errors.As(err, &invalid), err)
	assert.Check(t, is.ErrorContains(err, "gitops.auth.password.env: is not the name of an environment variable that begins with TOMBOLO_"))
}
