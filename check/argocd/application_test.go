package argocd

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestSameRepository(t *testing.T) {
	for _, other := range []string{
		"https://git.example.com/Platform", "https://user@git.example.com/platform.git", "https://git.example.com/platform/",
	} {
		assert.Check(t, sameRepository("https://git.example.com/platform.git", other), "%s is taken for another repository", other)
	}
	assert.Check(t, !sameRepository("https://git.example.com/platform.git", "https://git.example.com/apps.git"),
		"another repository is taken for the same")
}
