package handoff

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
)

// withPlugin is a kubeconfig whose credentials come from a command.
func withPlugin(command string) []byte {
	return fmt.Appendf(nil, `
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: %s
      env: [{name: AWS_PROFILE, value: platform}]
      interactiveMode: IfAvailable
`, command)
}

func TestPluginRunsInTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "aws"), []byte("#!/bin/sh\n"), 0o755))
	t.Setenv("PATH", "/nowhere")
	path := "/nowhere::" + dir
	cfg, err := RESTConfig(withPlugin("aws"), map[string]string{
		"PATH": path, "AWS_REGION": "eu-central-1", "AWS_PROFILE": "other", "PULUMI_CONFIG_PASSPHRASE": "secret",
	})
	assert.NilError(t, err)
	plugin := cfg.ExecProvider
	assert.Check(t, plugin.Command == filepath.Join(dir, "aws") && plugin.InteractiveMode == api.NeverExecInteractiveMode,
		"command %s, interactive %s", plugin.Command, plugin.InteractiveMode)
	want := []api.ExecEnvVar{{Name: "AWS_PROFILE", Value: "platform"}, {Name: "AWS_REGION", Value: "eu-central-1"}, {Name: "PATH", Value: path}}
	assert.Check(t, is.DeepEqual(plugin.Env, want))
}

// TestPluginOfThisProcess: without a PATH of its own, an environment has the
// process's.
func TestPluginOfThisProcess(t *testing.T) {
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "aws"), []byte("#!/bin/sh\n"), 0o755))
	t.Setenv("PATH", dir)
	if cfg, err := RESTConfig(withPlugin("aws"), nil); err != nil || cfg.ExecProvider.Command != filepath.Join(dir, "aws") {
		t.Errorf("config %v, %v", cfg, err)
	}
	if cfg, err := RESTConfig(withPlugin("/opt/aws"), nil); err != nil || cfg.ExecProvider.Command != "/opt/aws" {
		t.Errorf("config %v, %v", cfg, err)
	}
}

func TestPluginIsMissing(t *testing.T) {
	_, err := RESTConfig(withPlugin("aws"), map[string]string{"PATH": t.TempDir()})
	var missing *MissingPluginError
	want := "aws, which gets tokens for the cluster, is not in PATH; install aws, or set PATH"
	assert.Check(t, errors.As(err, &missing) && err.Error() == want, "error %v, expected %s", err, want)
}

// TestNoTokenAfterARedirect: the token for a cluster goes nowhere that its API redirects to.
func TestNoTokenAfterARedirect(t *testing.T) {
	var seen []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)
	api := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/got", http.StatusTemporaryRedirect))
	t.Cleanup(api.Close)
	kubeconfig := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: %q}}],
		users: [{name: u, user: {token: secret}}], contexts: [{name: c, context: {cluster: c, user: u}}]}`, api.URL)
	cfg, err := RESTConfig([]byte(kubeconfig), nil)
	assert.NilError(t, err)
	client, err := rest.HTTPClientFor(cfg)
	assert.NilError(t, err)
	response, err := client.Get(api.URL + "/version")
	if err == nil {
		response.Body.Close()
	}
	assert.ErrorContains(t, err, "the Kubernetes API redirects to "+elsewhere.URL+"/got: the credentials are not sent there")
	assert.Check(t, is.Len(seen, 0))
}
