package kube

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestConnectUsesTheEnvironmentItIsGiven(t *testing.T) {
	bin := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(bin, "get-token"), []byte("#!/bin/sh\n"), 0o755))
	env := map[string]string{"PATH": bin, "AWS_PROFILE": "dev", "PULUMI_CONFIG_PASSPHRASE": "secret"}
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
	cfg, err := restConfig(kubeconfig("get-token"), env)
	assert.NilError(t, err)
	assert.Check(t, strings.HasSuffix(cfg.ExecProvider.Command, "/get-token"), "command is %s", cfg.ExecProvider.Command)
	got := fmt.Sprint(cfg.ExecProvider.Env)
	assert.Check(t, strings.Contains(got, "{AWS_PROFILE dev}") && !strings.Contains(got, "PULUMI_"), "environment is %s", got)
	_, err = restConfig(kubeconfig("no-such-program"), env)
	assert.Error(t, err, "no-such-program, which gets tokens for the cluster, is not in PATH; install no-such-program, or set PATH")
}
