package gitaddress

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestSame(t *testing.T) {
	for _, same := range [][]string{
		{
			"https://git.example.com/platform.git", "https://git.example.com/Platform", "https://user@git.example.com/platform.git",
			"https://GIT.example.com:443/platform/", "https://git.example.com/platform.git/", "ssh://git@git.example.com/platform",
			"ssh://git@git.example.com:7999/platform", "git@git.example.com:platform.git", "http://git.example.com/platform",
		},
		{
			"ssh://git@git.example.com/acme/platform.git", "git@git.example.com:acme/platform.git", "git.example.com:acme/platform",
			"ssh://git.example.com:22/acme/platform", "git@git.example.com:/acme/platform.git", "https://git.example.com:8443/acme/platform",
		},
		{"ssh://git@git.example.com:7999/acme/platform.git", "ssh://git@git.example.com:7999/acme/platform"},
		{"https://github.com/acme/platform", "ssh://git@ssh.github.com:443/acme/platform.git", "git@github.com:Acme/platform.git"},
		{"ssh://git@altssh.gitlab.com:443/acme/team/platform.git", "https://gitlab.com/acme/team/platform.git"},
		{
			"https://dev.azure.com/org/project/_git/repo", "https://org@dev.azure.com/org/project/_git/repo",
			"https://org.visualstudio.com/project/_git/repo", "https://org.visualstudio.com/DefaultCollection/project/_git/repo",
			"git@ssh.dev.azure.com:v3/org/project/repo", "ssh://git@ssh.dev.azure.com/v3/org/project/repo",
			"org@vs-ssh.visualstudio.com:v3/org/project/repo", "ssh://org@org.visualstudio.com:22/project/_ssh/repo",
		},
		{"https://dev.azure.com/org/my%20project/_git/repo", "git@ssh.dev.azure.com:v3/org/my%20project/repo"},
		{"https://dev.azure.com/org/_git/repo", "git@ssh.dev.azure.com:v3/org/repo/repo"},
	} {
		for _, other := range same {
			assert.Check(t, Same(same[0], other), "%s and %s are taken for two", same[0], other)
		}
	}
	for _, other := range []string{
		"https://git.example.com/apps.git", "ssh://git@git.example.org/platform", "https://git.example.com:8443/platform", "https://platform",
		"git@git.example.com:acme/platform.git", "", "platform", "oci://git.example.com/platform/x", "ssh://git@git.example.com:acme/platform",
	} {
		assert.Check(t, !Same("https://git.example.com/platform.git", other), "%s is taken for the same", other)
	}
}

func TestURL(t *testing.T) {
	for address, want := range map[string]string{
		"git@git.example.com:acme/platform.git":   "ssh://git@git.example.com/acme/platform.git",
		"git.example.com:/acme/platform":          "ssh://git.example.com/acme/platform",
		"org@vs-ssh.visualstudio.com:v3/o/p/r":    "ssh://org@vs-ssh.visualstudio.com/v3/o/p/r",
		"https://git.example.com/platform.git":    "https://git.example.com/platform.git",
		"ssh://git@git.example.com:acme/platform": "ssh://git@git.example.com:acme/platform",
		"./platform": "./platform", "a b:c": "a b:c", "": "",
	} {
		assert.Equal(t, URL(address), want)
	}
	assert.Check(t, IsSCP("git@git.example.com:acme/platform.git") && !IsSCP("https://git.example.com:8443/platform"))
}
