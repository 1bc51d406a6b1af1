package lab

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// TestEKS: a lab keeps the build of the EKS plugin that it was made with.
func TestEKS(t *testing.T) {
	l := Open(t.TempDir())
	t.Setenv(EKSVariable, "released")
	got, err := l.EKS()
	assert.NilError(t, err)
	assert.Check(t, is.Equal(got, ReleasedEKS))
	assert.NilError(t, l.ChooseEKS(PinnedEKS))
	got, err = l.EKS()
	assert.NilError(t, err)
	assert.Check(t, is.Equal(got, PinnedEKS))
	err = l.ChooseEKS(ReleasedEKS)
	assert.Check(t, errors.Is(err, ErrOtherEKS))
	assert.Check(t, is.Error(err, "choose the EKS plugin released: the lab's is pinned; a lab keeps it: run `tombolo lab down`, which removes it, first"))
	assert.Check(t, is.Error(l.ChooseEKS("newest"), `"newest" is no EKS plugin of the lab; use one of pinned, released`))
}

// TestLinkReleased: the released plugin takes the place of the other, and the Kubernetes
// plugin answers under the name that it asks for, too.
func TestLinkReleased(t *testing.T) {
	for build, want := range map[EKS]map[string]string{
		PinnedEKS:   {"resource-eks-v2.8.1/plugin": "pinned", "resource-kubernetes-v4.25.0/plugin": "kubernetes"},
		ReleasedEKS: {"resource-eks-v2.8.1/plugin": "released", "resource-kubernetes-v4.15.0/plugin": "kubernetes"},
	} {
		l := Open(t.TempDir())
		for name, text := range map[string]string{
			"plugins/resource-eks-v2.8.1/plugin": "pinned", "plugins/resource-kubernetes-v4.25.0/plugin": "kubernetes",
			"plugins-released/resource-eks-v2.8.1/plugin":    "released",
			"plugins-released/resource-eks-v2.8.1/asks.json": `{"kubernetes":"4.15.0"}`,
		} {
			files.Write(t, filepath.Join(l.root, ".tools", name), text)
		}
		assert.NilError(t, l.ChooseEKS(build))
		assert.NilError(t, l.linkPlugins())
		for name, text := range want {
			got, err := os.ReadFile(filepath.Join(l.paths().pulumiHome(), "plugins", name))
			assert.NilError(t, err)
			assert.Check(t, is.Equal(string(got), text), name)
		}
		_, err := os.Stat(filepath.Join(l.paths().pulumiHome(), "plugins", "resource-kubernetes-v4.15.0"))
		assert.Check(t, is.Equal(err == nil, build == ReleasedEKS))
	}
}

func TestReleasedIsMissing(t *testing.T) {
	l := Open(t.TempDir())
	for _, tool := range requiredTools {
		files.Write(t, filepath.Join(l.paths().tools(), tool), "")
	}
	for _, provider := range append(requiredProviders, eksProvider) {
		assert.NilError(t, os.MkdirAll(filepath.Join(l.paths().plugins(), provider+"-v1.0.0"), 0o755))
	}
	assert.NilError(t, l.ChooseEKS(ReleasedEKS))
	assert.Check(t, is.Error(l.CheckEKS(), "the released EKS plugin is missing in "+l.paths().released()+"; run `make tools-released`"))
	assert.Check(t, is.Error(l.linkPlugins(), "read what the released EKS plugin asks for: 0 files asks.json in "+l.paths().released()+"; run `make tools-released`"))
}
