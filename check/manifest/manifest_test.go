package manifest

import (
	"slices"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	for text, want := range map[string][2]string{
		"{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}}": {"v1", "Secret b/a"},
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}":      {"apps", "Deployment a"},
	} {
		o, err := Decode[Object](text)
		if got := [2]string{o.Group(), o.Identity()}; err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := Decode[Object]("kind: ["); err == nil || !strings.HasPrefix(err.Error(), "decoding: ") {
		t.Errorf("error %v", err)
	}
}

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"a: 1\n---\n# nothing\n---\nb: 2\n": {"a: 1\n", "b: 2\n"},
		"a: 1\n---\nb: [\n":                 {"a: 1\n"},
		"":                                  nil,
	} {
		if got := Split([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
