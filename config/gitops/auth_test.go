package gitops

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestGitHubAPI: what an App signs goes to the host that has the repository, and to no other.
func TestGitHubAPI(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/acme/platform.git":              "",
		"https://acme.ghe.com/acme/platform.git":            "https://api.acme.ghe.com",
		"https://github.example.com/acme/platform.git":      "https://github.example.com/api/v3",
		"https://github.example.com:8443/acme/platform.git": "https://github.example.com:8443/api/v3",
		"http://git.lab.test/platform.git":                  "http://git.lab.test/api/v3",
		"https://notghe.com/acme/platform.git":              "https://notghe.com/api/v3",
	} {
		assert.Check(t, is.Equal(GitOps{URL: address}.GitHubAPI(), want), address)
	}
}
