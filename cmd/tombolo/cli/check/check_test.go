package check

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/finding"
	"tombolo/check/published"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/treecheck"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// tree writes a platform tree whose one manifest uses a variable.
func tree(t *testing.T, variable string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "clusters", "demo", "settings.yaml")
	assert.NilError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: default\ndata:\n  region: " + variable + "\n"
	assert.NilError(t, os.WriteFile(file, []byte(text), 0o644))
	return dir
}

// run runs the command on clusters demo and prod; only demo is in the tree.
func run(t *testing.T, width int, args ...string) (out, errOut string, err error) {
	t.Helper()
	f := clitest.New(t, render.Text)
	if width > 0 {
		f.Streams.SetTerminal(width)
	}
	f.CheckTree = findVariables
	cmd := NewCmdCheck(f.Factory, func(_ context.Context, o *treecheck.Options) error {
		o.Root = func() (string, error) { return "testdata", nil }
		o.Load = func([]string) ([]*config.Cluster, error) {
			return []*config.Cluster{
				{Name: "demo", File: "demo.yaml", Cloud: config.Cloud{Provider: config.AWS}, GitOps: config.GitOps{Path: "clusters/demo"}},
				{Name: "prod", File: "prod.yaml", Cloud: config.Cloud{Provider: config.AWS}, GitOps: config.GitOps{Path: "clusters/prod"}},
			}, nil
		}
		return treecheck.Run(t.Context(), o)
	})
	return f.Run(t, cmd, args...)
}

// findVariables stands in for the check of trees: the cluster has the variable region alone.
func findVariables(tree fs.FS, name string, _ []published.Set, _ ...published.Set) (finding.List, error) {
	const file = "clusters/demo/settings.yaml"
	text, err := fs.ReadFile(tree, file)
	if err != nil {
		return nil, err
	}
	place := finding.Finding{File: path.Join(name, file), Line: 7, Column: 11, Clusters: []string{"demo"}, Places: 1}
	switch {
	case bytes.Contains(text, []byte("${region}")):
		return nil, nil
	case bytes.Contains(text, []byte("${zone:=a}")):
		place.Severity, place.Message = finding.Warning, "${zone} has a default"
	default:
		place.Severity, place.Message, place.Remedy = finding.Error, "${regoin} is not published", `did you mean "region"?`
	}
	return finding.List{place}, nil
}

func TestCheck(t *testing.T) {
	dir := tree(t, "${region}")
	out, errOut, err := run(t, 0, dir)
	if err != nil || out != "" {
		t.Fatalf("got %q, %v", out, err)
	}
	for _, want := range []string{
		"prod is not checked: its gitops.path, clusters/prod, is not in " + dir + "\n",
		"✔ " + dir + " fits demo\n",
	} {
		assert.Check(t, is.Contains(errOut, want))
	}
}

func TestCheckOnATerminal(t *testing.T) {
	dir := tree(t, "${regoin}")
	_, errOut, err := run(t, 120, dir)
	if !fault.Is(err, fault.Contract) || err.Error() != dir+" does not fit the clusters that follow it: 1 error" {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{
		":7:11\n  error: ${regoin} is not published (cluster demo)\n",
		"     7 |   region: ${regoin}\n",
		"       |           ^\n",
		"  did you mean \"region\"?\n",
	} {
		assert.Check(t, is.Contains(errOut, want))
	}
}

func TestStrict(t *testing.T) {
	dir := tree(t, "${zone:=a}")
	if _, _, err := run(t, 0, dir); err != nil {
		t.Errorf("a warning is an error: %v", err)
	}
	_, errOut, err := run(t, 0, dir, "--strict")
	if err == nil || !strings.Contains(errOut, ":7:11: error: ${zone} has a default") {
		t.Errorf("got %q, %v", errOut, err)
	}
}

func TestCompletion(t *testing.T) {
	f := clitest.At(clitest.Project(t, map[string]string{"demo": "", "prod": ""}), render.Text).Factory
	if names, directive := treecheck.Complete(f)(nil, nil, ""); names != nil || directive != cobra.ShellCompDirectiveFilterDirs {
		t.Errorf("the tree: got %v, %v", names, directive)
	}
	if names, _ := treecheck.Complete(f)(nil, []string{"tree"}, "p"); !slices.Equal(names, []string{"prod"}) {
		t.Errorf("clusters: got %v", names)
	}
}
