//go:build lab

package lab

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"gotest.tools/v3/assert"

	"tombolo/lab"
	"tombolo/tests/files"
	"tombolo/tests/scenario"
	"tombolo/tests/tier"
)

// downTimeout is how long a lab may take to end after its scenario.
const downTimeout = time.Minute

// TestMain makes tombolo a command of the scenarios.
func TestMain(m *testing.M) { scenario.Main(m, os.Exit) }

// TestScript runs the scenarios, each in a project with a lab of its own.
func TestScript(t *testing.T) {
	tier.Long(t, "every kind of pull request, change by change")
	tier.Parallel(t)
	checkout, err := filepath.Abs("../..")
	assert.NilError(t, err)
	scenario.Run(t, func(env *testscript.Env) error { return scenarioProject(env, checkout) }, requestCommands())
}

// scenarioProject makes a checkout in the scenario's directory, with the real one's
// tools, cluster file, platform tree and charts, and ends its lab afterwards.
func scenarioProject(env *testscript.Env, checkout string) error {
	if err := checkoutInto(env.WorkDir, checkout); err != nil {
		return fmt.Errorf("making a checkout for the scenario: %w", err)
	}
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("TOMBOLO_LAB", "1")
	env.Defer(func() { endLab(env) })
	openRequest(env)
	return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
}

// checkoutInto makes a directory a checkout of its own: the real one's data,
// copied, and its tools.
func checkoutInto(dir, checkout string) error {
	for _, name := range []string{"Pulumi.yaml", "clusters", "platform", "lab/charts", "lab/systems"} {
		if err := copyAll(filepath.Join(dir, name), filepath.Join(checkout, name)); err != nil {
			return err
		}
	}
	return files.Tools(dir, checkout)
}

func endLab(env *testscript.Env) {
	ctx, cancel := context.WithTimeout(context.Background(), downTimeout)
	defer cancel()
	if err := lab.Open(env.WorkDir).Down(ctx); err != nil {
		env.T().Log(err)
		env.T().FailNow()
	}
}

// copyAll copies a file, or a directory with all that is in it. Settings of
// stacks in clusters/ are the user's own, and stay behind.
func copyAll(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if own, _ := filepath.Match("Pulumi.*-*.yaml", entry.Name()); own {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
}
