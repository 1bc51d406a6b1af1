package pulumicli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// TestAsideIn: what a project file names by paths from its directory is there from that of the copy.
func TestAsideIn(t *testing.T) {
	own := t.TempDir()
	for name, text := range map[string]string{
		"Pulumi.yaml":               "name: database\nmain: src\nruntime: {name: python, options: {virtualenv: venv}}\nbackend: {url: s3://theirs}\n",
		"Pulumi.demo-database.yaml": "config: {database:token: {secure: AAAB}}\n", "Pulumi.other.yaml": "config: {}\n",
		"venv/bin/python": "", "src/main.py": "", "uv.lock": "", "state/theirs": "",
	} {
		files.Write(t, filepath.Join(own, name), text)
	}
	p := New(Options{WorkDir: t.TempDir(), Env: map[string]string{"PULUMI_BACKEND_URL": "s3://ours"}})
	of, err := p.In(own, nil)
	assert.NilError(t, err)
	dir := t.TempDir()
	at, err := p.AsideIn(dir, "demo-database", of, false)
	assert.NilError(t, err)
	project, err := at.projectFile()
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(project), "main: "+filepath.Join(own, "src")))
	for _, name := range []string{"venv/bin/python", "src/main.py", "uv.lock"} {
		_, err := os.Stat(filepath.Join(dir, name))
		assert.Check(t, err)
	}
	for _, name := range []string{"Pulumi.other.yaml", "Pulumi.demo-database.yaml", "state/theirs"} {
		_, err := os.Stat(filepath.Join(dir, name))
		assert.Check(t, os.IsNotExist(err), name)
	}
	settings, err := os.ReadFile(filepath.Join(dir, stackConfigDir, "Pulumi.demo-database.yaml"))
	assert.Check(t, err == nil && !strings.Contains(string(settings), "secure"), "%s, %v", settings, err)
	assert.NilError(t, os.RemoveAll(dir))
	_, err = os.Stat(filepath.Join(own, "venv/bin/python"))
	assert.Check(t, err, "only links go with the copy")
}
