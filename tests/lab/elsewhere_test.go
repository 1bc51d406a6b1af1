//go:build lab

package lab

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"gotest.tools/v3/assert"

	"tombolo/lab"
	"tombolo/lab/tools"
	"tombolo/tests/scenario"
	"tombolo/tests/tier"
)

// TestElsewhere: a project that is no checkout of this source, with the programs of a release in PATH
// and the files of clusters in a real cloud, runs in the lab as it is.
func TestElsewhere(t *testing.T) {
	tier.Long(t, "two clusters from nothing, in a project of one's own")
	tier.Parallel(t)
	root, err := filepath.Abs("../..")
	assert.NilError(t, err)
	for _, name := range []string{"eks-flux", "aks-argocd"} {
		scenario.RunFile(t, filepath.Join("testdata", "elsewhere", name+".txtar"), func(env *testscript.Env) error { return elsewhere(env, root) }, nil)
	}
}

// elsewhere is the environment of somebody who has unpacked a release and its tools. The project is
// the directory acme.
func elsewhere(env *testscript.Env, root string) error {
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("PATH", filepath.Join(root, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	env.Setenv(tools.Variable, tools.Of(root).Dir)
	env.Setenv("NO_COLOR", "1")
	env.Defer(func() {
		ctx, cancel := context.WithTimeout(context.Background(), downTimeout)
		defer cancel()
		if err := lab.Open(filepath.Join(env.WorkDir, "acme")).Down(ctx); err != nil {
			env.T().Log(err)
			env.T().FailNow()
		}
	})
	return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
}
