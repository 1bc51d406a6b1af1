package substitute

import (
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/config/secret"
	"tombolo/lab/tools"
	"tombolo/tests/files"
)

func cluster(url, path string) *config.Cluster {
	return &config.Cluster{Name: "first", GitOps: config.GitOps{Engine: config.Flux, URL: url, Branch: "main", Path: path}}
}

func TestRepositoryOf(t *testing.T) {
	root := t.TempDir()
	files.Write(t, filepath.Join(root, "platform", "clusters", "first", "kustomization.yaml"), "")
	c := cluster("https://github.com/Acme/clusters.git", "platform/clusters/first")
	c.GitOps.Auth = &config.Auth{Type: "basic", Username: "x-access-token", Password: &secret.SecretRef{Env: Token}}
	r, err := RepositoryOf(root, c)
	assert.NilError(t, err)
	assert.Equal(t, r.Dir, root)
	assert.Equal(t, r.Name(), "github.com_Acme_clusters.git")
	assert.Check(t, r.User == "x-access-token" && r.Token)
	for at, want := range map[string]string{
		"/acme/clusters.git/info/refs": "/info/refs", "/Acme/clusters/info/refs": "/info/refs", "/Acme/clusters": "",
	} {
		rest, ok := r.Below(at)
		assert.Check(t, ok && rest == want, "%s: %q", at, rest)
	}
	_, below := r.Below("/Acme/clusters-of-others/info/refs")
	assert.Check(t, !below)

	c = cluster("https://dev.azure.com/acme/platform/_git/clusters", "platform/clusters/first")
	c.GitOps.Auth = &config.Auth{Type: config.AuthWorkloadIdentity}
	r, err = RepositoryOf(root, c)
	assert.Check(t, err == nil && r.Identity && r.User == "", "%v %v", r, err)

	own, err := RepositoryOf(root, cluster("http://"+Host+"/platform.git", "clusters/first"))
	assert.Check(t, own == nil && err == nil)
	own, err = RepositoryOf(root, cluster("ssh://git@127.0.0.1:2222/platform.git", "clusters/first"))
	assert.Check(t, own == nil && err == nil)
	_, err = RepositoryOf(root, cluster("ssh://git@github.com/acme/clusters.git", "clusters/first"))
	assert.Check(t, is.ErrorContains(err, "it serves Git by https alone"))
	_, err = RepositoryOf(root, cluster("https://github.com/acme/platform.git", "clusters/first"))
	assert.Check(t, is.ErrorContains(err, "gitops.path, clusters/first, is neither in platform/flux nor in the project's root"))
}

func TestManifestOf(t *testing.T) {
	built := tools.Built{Dir: t.TempDir()}
	before := filepath.Join(built.Share(), "flux-install-before.yaml")
	files.Write(t, before, "metadata:\n  labels:\n    app.kubernetes.io/version: v2.7.5\n")
	c := cluster("https://github.com/acme/clusters.git", "clusters/first")
	released := func(version string) *config.Cluster {
		c.GitOps.Distribution = config.Distribution{Version: version}
		c.GitOps.SetDefaults(c.Name, config.AWS)
		return c
	}
	file, err := ManifestOf(built, released("v2.7.5"))
	assert.NilError(t, err)
	assert.Equal(t, file, before)
	_, err = ManifestOf(built, released("v2.7.50"))
	assert.Check(t, is.ErrorContains(err, "flux-install.yaml and flux-install-before.yaml of its tools are not v2.7.50"))
	c.GitOps.Distribution = config.Distribution{Version: "v2.0.0", Path: "install.yaml"}
	file, err = ManifestOf(built, c)
	assert.Check(t, file == "" && err == nil)
}
