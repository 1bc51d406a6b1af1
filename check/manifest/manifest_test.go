package manifest

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestDecode(t *testing.T) {
	for text, want := range map[string][2]string{
		"{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}}": {"v1", "Secret b/a"},
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}":      {"apps", "Deployment a"},
	} {
		o, err := Decode[Object](text)
		got := [2]string{o.Group(), o.Identity()}
		assert.Check(t, err == nil && got == want, "%s is %q, %v; want %q", text, got, err, want)
	}
	_, err := Decode[Object]("kind: [")
	assert.Check(t, err != nil && strings.HasPrefix(err.Error(), "decoding: "), "error %v", err)
}

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"a: 1\n---\n# nothing\n---\nb: 2\n": {"a: 1\n", "b: 2\n"},
		"a: 1\n---\nb: [\n":                 {"a: 1\n"},
		"":                                  nil,
	} {
		got := Split([]byte(text))
		assert.Check(t, slices.Equal(got, want), "%q becomes %q, want %q", text, got, want)
	}
}
