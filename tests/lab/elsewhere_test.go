//go:build lab

package lab

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tombolo/lab/tools"
	"tombolo/tests/bucket"
	"tombolo/tests/scenario"
	"tombolo/tests/tier"
)

// TestElsewhere: from an empty directory, with the programs of a release in PATH, to a project with a cluster in
// the lab, changed by a pull request, a plan and pushes, to nothing. Its files are those of a real cloud.
func TestElsewhere(t *testing.T) {
	tier.Long(t, "two projects of one's own from an empty directory to the end of their clusters")
	tier.Parallel(t)
	root := checkout(t)
	for _, name := range []string{"eks-flux", "aks-argocd"} {
		scenario.RunFile(t, filepath.Join("testdata", "elsewhere", name+".txtar"), func(env *testscript.Env) error { return elsewhere(env, root) }, nil)
	}
}

// TestElsewhereWithTerraform: a state of OpenTofu in a bucket gives a cluster its network, and its values.
func TestElsewhereWithTerraform(t *testing.T) {
	tier.Long(t, "the command line and bootstrap with a state in a bucket; unit tests hold what is read of states")
	root := checkout(t)
	b := bucket.Serve(t)
	state := strings.Replace(b.URL(), "?", "/network.tfstate?", 1)
	script := filepath.Join("testdata", "elsewhere", "terraform.txtar")
	scenario.RunFile(t, script, func(env *testscript.Env) error {
		content, err := os.ReadFile(filepath.Join(env.WorkDir, "network.tfstate"))
		b.Put(t, "network.tfstate", string(content))
		env.Setenv("STATE", strings.Replace(state, "s3ForcePathStyle", "use_path_style", 1))
		env.Setenv("AWS_ACCESS_KEY_ID", "key")
		env.Setenv("AWS_SECRET_ACCESS_KEY", "key")
		return errors.Join(err, elsewhere(env, root))
	}, nil)
}

// elsewhere is the environment of somebody who has unpacked a release and its tools. The project is
// the directory acme.
func elsewhere(env *testscript.Env, root string) error {
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("PATH", filepath.Join(root, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	env.Setenv(tools.Variable, tools.Of(root).Dir)
	env.Setenv("NO_COLOR", "1")
	env.Defer(func() { endLab(env, filepath.Join(env.WorkDir, "acme")) })
	return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
}
