package lab

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestGitHost: a host that is known by its name sends its own events, in the lab too.
func TestGitHost(t *testing.T) {
	assert.Equal(t, gitHost("dev.azure.com"), "azure-devops")
	assert.Equal(t, gitHost(GitHost), "github")
	t.Setenv(gitHostVariable, "gitlab")
	assert.Equal(t, gitHost(GitHost), "gitlab")
	assert.Equal(t, gitHost("git.acme.com"), "gitlab")
	assert.Equal(t, gitHost("github.com"), "github")
}
