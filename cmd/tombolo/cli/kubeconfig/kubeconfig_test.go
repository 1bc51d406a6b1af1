package kubeconfig

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

const content = "apiVersion: v1\nkind: Config\n"

type driver struct{}

func (driver) Kubeconfig(context.Context, *config.Cluster) ([]byte, error) {
	return []byte(content), nil
}

func run(t *testing.T, format render.Format, args ...string) (string, error) {
	t.Helper()
	f := clitest.New(t, format)
	cmd := NewCmdKubeconfig(f.Factory, func(ctx context.Context, o *Options) error {
		o.Clusters = clitest.Clusters(&config.Cluster{Name: "demo"})
		o.Driver = func(context.Context, automation.Observer) (Driver, error) { return driver{}, nil }
		return kubeconfigRun(ctx, o)
	})
	err := clitest.Execute(t, cmd, args...)
	return f.Out.String(), err
}

func TestKubeconfigOnStandardOutput(t *testing.T) {
	if got, err := run(t, render.Text, "demo"); err != nil || got != content {
		t.Errorf("got %q, %v", got, err)
	}
	want := `{"type":"kubeconfig","cluster":"demo","kubeconfig":"apiVersion: v1\nkind: Config\n"}` + "\n"
	if got, err := run(t, render.JSON, "demo"); err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestKubeconfigFile(t *testing.T) {
	t.Chdir(t.TempDir())
	assert.NilError(t, os.WriteFile("config", []byte("old and longer than the new content of the file"), 0o644))
	got, err := run(t, render.Text, "demo", "--file", "config")
	assert.NilError(t, err)
	path := strings.TrimSuffix(got, "\n")
	assert.Check(t, filepath.IsAbs(path), "the path %q is not absolute", path)
	info, err := os.Stat(path)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(info.Mode().Perm(), os.FileMode(0o600)))
	if written, err := os.ReadFile(path); err != nil || string(written) != content {
		t.Errorf("the file holds %q, %v", written, err)
	}
	if left, _ := filepath.Glob(".kubeconfig-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestKubeconfigFileInMissingDirectory(t *testing.T) {
	_, err := run(t, render.Text, "demo", "--file", filepath.Join(t.TempDir(), "missing", "config"))
	if err == nil || !strings.HasPrefix(err.Error(), "writing the kubeconfig: ") {
		t.Errorf("got %v", err)
	}
}

const withPlugin = `apiVersion: v1
kind: Config
users:
- name: demo
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: aws
      args: [eks, get-token]
      interactiveMode: Never
`

func TestPluginByItsPath(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := withPluginPath([]byte(withPlugin)); err == nil || !strings.Contains(err.Error(), "start the lab with `tombolo lab up`") {
		t.Errorf("without the plugin: got %v", err)
	}
	plugin := filepath.Join(dir, "aws")
	assert.NilError(t, os.WriteFile(plugin, []byte("#!/bin/sh\n"), 0o755))
	got, err := withPluginPath([]byte(withPlugin))
	if err != nil || !strings.Contains(string(got), "command: "+plugin+"\n") {
		t.Errorf("got %v:\n%s", err, got)
	}
}
