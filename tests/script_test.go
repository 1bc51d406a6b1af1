// Package tests runs scenarios of the whole command line, without network,
// tools and lab. The scenarios are in testdata/script; run with -update to
// rewrite the output that they expect.
package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"gotest.tools/v3/assert"

	"tombolo/tests/scenario"
)

func TestMain(m *testing.M) {
	scenario.Main(m, os.Exit)
}

func TestScript(t *testing.T) {
	cluster, err := os.ReadFile("../config/testdata/good/minimal.yaml")
	assert.NilError(t, err)
	scenario.Run(t, func(env *testscript.Env) error { return project(env, string(cluster)) }, nil)
}

// project makes a project in the scenario's directory: two clusters, demo and
// staging. The only program in PATH is tombolo; git is in the directory $GIT.
func project(env *testscript.Env, cluster string) error {
	path, _, _ := strings.Cut(env.Getenv("PATH"), string(filepath.ListSeparator))
	env.Setenv("PATH", path)
	git, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	env.Setenv("GIT", filepath.Dir(git))
	files := map[string]string{"Pulumi.yaml": "name: tombolo\nruntime: go\n"}
	for _, name := range []string{"demo", "staging"} {
		files["clusters/"+name+".yaml"] = strings.ReplaceAll(cluster, "minimal", name)
	}
	for name, text := range files {
		path := filepath.Join(env.WorkDir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
