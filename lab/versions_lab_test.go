//go:build lab

package lab

import (
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/config/enginefacts"
	"tombolo/tests/tier"
)

// TestControllersAreThoseOfTheManifest: what runs on the host is of the versions that the
// manifests of bootstrap name, and of no other.
func TestControllersAreThoseOfTheManifest(t *testing.T) {
	tier.Short(t, "the controllers that run are those that the manifests name")
	root, err := filepath.Abs("..")
	assert.NilError(t, err)
	tools := filepath.Join(root, ".tools")
	image := regexp.MustCompile(`image: \S+/([\w-]+):(v[\w.]+)`)
	for manifest, controllers := range map[string][]string{
		"flux-install.yaml":   {"helm-controller", "kustomize-controller", "notification-controller", "source-controller"},
		"argocd-install.yaml": {"argocd"},
	} {
		text, err := os.ReadFile(filepath.Join(tools, "share", manifest))
		assert.NilError(t, err)
		var named []string
		for _, found := range image.FindAllStringSubmatch(string(text), -1) {
			name, version := found[1], found[2]
			if !slices.Contains(controllers, name) {
				continue
			}
			named = append(named, name)
			built, err := buildinfo.ReadFile(filepath.Join(tools, "bin", name))
			assert.NilError(t, err)
			assert.Equal(t, built.Main.Version, version, "%s of %s", name, manifest)
		}
		slices.Sort(named)
		assert.DeepEqual(t, slices.Compact(named), controllers)
	}
	// New clusters begin with these releases. Flux's released manifest is another file, of the same controllers.
	text, err := os.ReadFile(filepath.Join(tools, "share", "argocd-install.yaml"))
	assert.NilError(t, err)
	assert.Equal(t, fmt.Sprintf("%x", sha256.Sum256(text)), enginefacts.Install("argocd").SHA256)
	text, err = os.ReadFile(filepath.Join(tools, "share", "flux-install.yaml"))
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(text), "app.kubernetes.io/version: "+enginefacts.Install("flux").Version+"\n"))
}
