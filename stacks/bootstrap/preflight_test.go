package bootstrap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
)

func TestPreflight(t *testing.T) {
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "install.yaml"), []byte("kind: Namespace\n"), 0o600))
	cluster := func(d config.Distribution, password config.SecretRef) *config.Cluster {
		return &config.Cluster{Name: "demo", File: filepath.Join(dir, "demo.yaml"), GitOps: config.GitOps{
			Distribution: d, Auth: &config.Auth{Type: config.AuthBasic, Password: &password},
		}}
	}
	there := config.Distribution{Path: "install.yaml"}
	env := map[string]string{"GIT_TOKEN": "x"}
	for name, test := range map[string]struct {
		c    *config.Cluster
		want []string // parts of the error; none for no error
	}{
		"all there":        {cluster(there, config.SecretRef{Env: "GIT_TOKEN"}), nil},
		"kept by Pulumi":   {cluster(there, config.SecretRef{Config: "gitToken"}), nil},
		"no such variable": {cluster(there, config.SecretRef{Env: "TOMBOLO_TEST_NOT_SET"}), []string{"gitops.auth.password: the environment variable TOMBOLO_TEST_NOT_SET is not set"}},
		"another checksum": {cluster(config.Distribution{Path: "install.yaml", SHA256: strings.Repeat("0", 64)}, config.SecretRef{Env: "GIT_TOKEN"}), []string{"gitops.distribution: checksum of Flux distribution"}},
		"both of them absent": {cluster(config.Distribution{Path: "gone.yaml"}, config.SecretRef{File: "gone"}), []string{
			"gitops.distribution: read Flux distribution", "gitops.auth.password: the file",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			err := Preflight(t.Context(), test.c, env)
			assert.Assert(t, len(test.want) > 0 || err == nil, err)
			for _, part := range test.want {
				assert.Check(t, is.ErrorContains(err, part))
			}
		})
	}
}

func TestPreflightOfASpoke(t *testing.T) {
	c := &config.Cluster{Name: "demo", GitOps: config.GitOps{Engine: config.ArgoCD, Hub: "mgmt"}}
	assert.Check(t, Preflight(t.Context(), c, nil), "a spoke has no distribution to look for")
	c.GitOps.Hub = ""
	if err := Preflight(t.Context(), c, nil); err == nil || !strings.Contains(err.Error(), "the Argo CD distribution has neither a URL nor a path") {
		t.Errorf("a hub without a distribution: %v", err)
	}
}
