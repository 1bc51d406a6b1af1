package argocd

import "testing"

func TestSameRepository(t *testing.T) {
	for _, other := range []string{
		"https://git.example.com/Platform", "https://user@git.example.com/platform.git", "https://git.example.com/platform/",
	} {
		if !sameRepository("https://git.example.com/platform.git", other) {
			t.Errorf("%s is taken for another repository", other)
		}
	}
	if sameRepository("https://git.example.com/platform.git", "https://git.example.com/apps.git") {
		t.Error("another repository is taken for the same")
	}
}
