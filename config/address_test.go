package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestAddressOfTheRepository: Argo CD takes scp's form, and Flux's definition of a GitRepository does not.
func TestAddressOfTheRepository(t *testing.T) {
	const auth = "\n  auth:\n    type: ssh\n    privateKey: {env: TOMBOLO_KEY}\n    knownHosts: git.example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
	const noPort = "gitops.url: has a colon after the host, and no port follows it"
	for address, want := range map[string]struct{ argocd, flux string }{
		"ssh://git@git.example.com/acme/platform.git":      {},
		"ssh://git@git.example.com:7999/acme/platform.git": {},
		"git@git.example.com:acme/platform.git":            {"", "gitops.url: has scp's form, which Flux does not take"},
		"git@git.example.com:/acme/platform.git":           {"", "gitops.url: has scp's form, which Flux does not take"},
		"git@ssh.dev.azure.com:v3/org/project/repo":        {"", "gitops.url: has scp's form, which Flux does not take"},
		"ssh://git@git.example.com:acme/platform.git":      {noPort, noPort},
		"ssh://git@ssh.dev.azure.com:v3/org/project/repo":  {noPort, noPort},
		"git@git.example.com":                              {"gitops.url: is not a Git URL", "gitops.url: is not a Git URL"},
		"git.example.com:acme/platform.git":                {"gitops.url: is not a Git URL", "gitops.url: is not a Git URL"},
		"git://git.example.com/acme/platform.git":          {"gitops.url: is not a Git URL", "gitops.url: is not a Git URL"},
	} {
		for base, want := range map[string]string{"good/mgmt.yaml": want.argocd, "base.yaml": want.flux} {
			text := readGood(t, "../"+base)
			text = strings.Replace(text, "url: https://git.example.com/platform.git", "url: "+address+auth, 1)
			dir := t.TempDir()
			write(t, dir, filepath.Base(base), text)
			_, err := Load(filepath.Join(dir, filepath.Base(base)))
			assert.Check(t, err == nil == (want == "") && strings.Contains(fmt.Sprint(err), want), "%s in %s: %v, want %q", address, base, err, want)
		}
	}
}
