package gitaddress

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestSame(t *testing.T) {
	for _, same := range [][]string{
		{
			"https://git.example.com/platform.git", "https://git.example.com/Platform", "https://user@git.example.com/platform.git",
			"https://GIT.example.com:443/platform/", "https://git.example.com/platform.git/",
		},
		{
			"ssh://git@git.example.com/acme/platform.git", "git@git.example.com:acme/platform.git", "git.example.com:acme/platform",
			"ssh://git.example.com:22/acme/platform", "git@git.example.com:/acme/platform.git",
		},
		{"ssh://git@git.example.com:7999/acme/platform.git", "ssh://git@git.example.com:7999/acme/platform"},
		{
			"https://dev.azure.com/org/project/_git/repo", "https://org@dev.azure.com/org/project/_git/repo",
			"https://org.visualstudio.com/project/_git/repo", "https://org.visualstudio.com/DefaultCollection/project/_git/repo",
		},
		{
			"git@ssh.dev.azure.com:v3/org/project/repo", "ssh://git@ssh.dev.azure.com/v3/org/project/repo",
			"org@vs-ssh.visualstudio.com:v3/org/project/repo",
		},
	} {
		for _, other := range same {
			assert.Check(t, Same(same[0], other), "%s and %s are taken for two", same[0], other)
		}
	}
	for _, other := range []string{
		"https://git.example.com/apps.git", "ssh://git@git.example.com/platform", "https://git.example.com:8443/platform", "https://platform",
	} {
		assert.Check(t, !Same("https://git.example.com/platform.git", other), "%s is taken for the same", other)
	}
}
