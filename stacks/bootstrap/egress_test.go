package bootstrap

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/tests/samples"
)

func closedCluster() *config.Cluster {
	return &config.Cluster{
		Name: "demo", Cloud: config.Cloud{Provider: config.AWS, Region: "eu-central-1"},
		Egress: config.Egress{
			Proxy: config.Proxy{URL: "http://proxy.corp.example:3128"}, CertificateAuthority: "a comment\n" + samples.CompanyCA,
			Images: config.ImageSources{
				Mirrors:    map[string]string{"ghcr.io": "mirror.corp.example/ghcr", "docker.io": "mirror.corp.example/hub", "quay.io": "quay.corp.example:8443"},
				PullSecret: &config.PullSecret{Username: "robot", Password: &config.SecretRef{Env: "TOMBOLO_MIRROR"}},
			},
		},
		GitOps: config.GitOps{Engine: config.Flux, URL: "https://git.example.com/platform.git", Branch: "main", Path: "clusters/demo", Interval: "1m"},
	}
}

func TestDockerConfig(t *testing.T) {
	text, err := dockerConfig(closedCluster().Egress.Images, "hunter2")
	assert.NilError(t, err)
	var got struct {
		Auths map[string]struct{ Username, Password, Auth string }
	}
	assert.NilError(t, json.Unmarshal([]byte(text), &got))
	assert.Assert(t, is.Len(got.Auths, 2))
	for _, host := range []string{"mirror.corp.example", "quay.corp.example:8443"} {
		assert.Equal(t, got.Auths[host].Username+":"+got.Auths[host].Password, "robot:hunter2")
		auth, err := base64.StdEncoding.DecodeString(got.Auths[host].Auth)
		assert.NilError(t, err)
		assert.Equal(t, string(auth), "robot:hunter2")
	}
}

// TestGitFilesGoByEgress: the files by which Flux manages itself do not take away what
// bootstrap gave it, and are known as the same distribution.
func TestGitFilesGoByEgress(t *testing.T) {
	const manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kustomize-controller, namespace: flux-system}\n" +
		"spec: {template: {spec: {containers: [{name: manager, image: ghcr.io/fluxcd/kustomize-controller:v1.7.3, args: [--watch-all-namespaces=true]}]}}}\n"
	c := closedCluster()
	c.File = filepath.Join(t.TempDir(), "demo.yaml")
	c.GitOps.Distribution = config.Distribution{Version: "v2.7.5", Path: "install.yaml"}
	assert.NilError(t, os.WriteFile(filepath.Join(filepath.Dir(c.File), "install.yaml"), []byte(manifest), 0o600))
	files, err := GitFiles(t.Context(), c)
	assert.NilError(t, err)
	components := string(files["gotk-components.yaml"])
	for _, want := range []string{
		"mirror.corp.example/ghcr/fluxcd/kustomize-controller:v1.7.3", "name: HTTPS_PROXY", "name: NO_PROXY", "mountPath: /etc/company-ca", "name: image-pull",
		"{name: PATH, value: /usr/local/bin}",
	} {
		assert.Check(t, is.Contains(components, want))
	}
	installed, err := manifestOf(t.Context(), product(c), c)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(components, fluxEngine(c, distributionRecord{}).digest(installed)))
	assert.Check(t, fluxEngine(c, distributionRecord{}).digest(installed) != fluxEngine(c, distributionRecord{}).digest([]byte(manifest)), "a change of egress would not reach the engine")
	for _, file := range files {
		assert.Check(t, !strings.Contains(string(file), "hunter2"))
	}
}

func TestPreflightOfThePullSecret(t *testing.T) {
	c := closedCluster()
	err := Preflight(t.Context(), c, map[string]string{"TOMBOLO_MIRROR": ""})
	assert.Check(t, is.ErrorContains(err, "egress.images.pullSecret.password: the environment variable TOMBOLO_MIRROR is not set"))
}
