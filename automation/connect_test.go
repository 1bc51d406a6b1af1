package automation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRestConfigUsesTheDriversEnvironment(t *testing.T) {
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "pulumi"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := New(Options{Root: t.TempDir(), Env: map[string]string{"PATH": path + string(os.PathListSeparator) + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	d.env["AWS_PROFILE"], d.env["PULUMI_CONFIG_PASSPHRASE"] = "dev", "secret"
	kubeconfig := func(command string) []byte {
		return []byte(`
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users:
- name: u
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: ` + command + `, interactiveMode: Never}
`)
	}
	cfg, err := d.restConfig(kubeconfig("pulumi"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(cfg.ExecProvider.Command, "/pulumi") {
		t.Errorf("command is %s", cfg.ExecProvider.Command)
	}
	env := fmt.Sprint(cfg.ExecProvider.Env)
	if !strings.Contains(env, "{AWS_PROFILE dev}") || strings.Contains(env, "PULUMI_") {
		t.Errorf("environment is %s", env)
	}
	_, err = d.restConfig(kubeconfig("no-such-program"))
	want := "no-such-program, which gets tokens for the cluster, is not in PATH; install no-such-program, or set PATH"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
