package tools

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

func build(t *testing.T, c Built, programs ...string) {
	t.Helper()
	for _, name := range programs {
		files.Write(t, filepath.Join(c.Programs(), name), "")
	}
}

// TestALabForAzureNeedsNoEKS: what only one cloud's clusters need is looked for where a
// cluster file has one.
func TestALabForAzureNeedsNoEKS(t *testing.T) {
	c := Built{Dir: t.TempDir(), checkout: true}
	build(t, c, requiredTools...)
	assert.Check(t, is.Error(c.Any(), "resource-kubernetes missing in "+c.Plugins()+"; run `make tools`"))
	assert.NilError(t, os.MkdirAll(filepath.Join(c.Plugins(), "resource-kubernetes-v4.25.0"), 0o755))
	assert.NilError(t, c.Any())
	assert.Check(t, is.Error(c.EKS(), "resource-eks missing in "+c.Plugins()+"; run `make tools`"))
	assert.Check(t, is.Error(c.AKS(), "kubelogin missing in "+c.Programs()+"; run `make tools-azure`"))
	build(t, c, "kubelogin")
	assert.Check(t, c.AKS())
}

func TestToolsOfArgoCDAndSecrets(t *testing.T) {
	c := Built{Dir: t.TempDir(), checkout: true}
	build(t, c, argocdTools[:len(argocdTools)-2]...)
	assert.Check(t, is.Error(c.ArgoCD(), "helm, kustomize missing in "+c.Programs()+"; run `make tools-argocd`"))
	assert.Check(t, is.Error(c.SealedSecrets(), "sealed-secrets missing in "+c.Programs()+"; run `make tools-secrets`"))
	assert.Check(t, is.Error(c.Vault(), "vault-server missing in "+c.Programs()+"; run `make tools-secrets`"))
	assert.Check(t, is.Error(c.ExternalSecrets(), "external-secrets missing in "+c.Programs()+"; run `make tools-secrets`"))
}
