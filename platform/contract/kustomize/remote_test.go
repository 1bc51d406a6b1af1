package kustomize

import "testing"

func TestIsRemote(t *testing.T) {
	for reference, want := range map[string]bool{
		"https://example.com/all.yaml": true, "github.com/example/tree": true, "git@github.com:example/tree": true,
		"ssh://git@example.com/tree?ref=main": true, "key=https://example.com/a": true,
		"../base": false, "release.yaml": false, "key=settings.yaml": false, "github.com.yaml": false,
	} {
		if got := IsRemote(reference); got != want {
			t.Errorf("%s: remote is %v, want %v", reference, got, want)
		}
	}
}
