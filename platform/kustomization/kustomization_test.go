package kustomization

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestEdit(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"nothing to do", "resources:   [ ./new/ ]\n", "resources:   [ ./new/ ]\n"},
		{
			"comments stay", "# head\nresources:\n  # first\n  - a.yaml # why\nkind: Kustomization\n",
			"# head\nresources:\n  # first\n  - a.yaml # why\n  - new\nkind: Kustomization\n",
		},
		{"one goes, one comes", "resources:\n  - ./old # late\n  - a.yaml\n", "resources:\n  - a.yaml\n  - new\n"},
		{"no resources", "kind: Kustomization\n", "kind: Kustomization\nresources:\n  - new\n"},
		{"nothing after resources", "resources:\nkind: Kustomization\n", "resources:\n  - new\nkind: Kustomization\n"},
		{"a comment after resources", "resources: # none yet\n", "resources: # none yet\n  - new\n"},
		{"empty", "resources: []\n", "resources:\n  - new\n"},
		{"in brackets", "resources: [a.yaml]\n", "resources: [a.yaml, new]\n"},
	} {
		got, err := Edit([]byte(test.text), []string{"new"}, []string{"old"})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if diff := cmp.Diff(test.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestEditRemovesTheLast(t *testing.T) {
	for text, want := range map[string]string{
		"resources:\n  - old\n":    "resources: []\n",
		"kind: Kustomization\n":    "kind: Kustomization\n",
		"resources:\nkind: None\n": "resources:\nkind: None\n",
	} {
		got, err := Edit([]byte(text), nil, []string{"old"})
		assert.Check(t, err == nil && string(got) == want, "%q becomes %q, %v; want %q", text, got, err, want)
	}
}

func TestEditRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":               "is no kustomization: expected a mapping with resources",
		"- a\n":          "is no kustomization: expected a mapping with resources",
		"resources: a\n": "line 1: resources is no list",
		"a: [":           "yaml: line 1",
	} {
		_, err := Edit([]byte(text), []string{"x"}, nil)
		assert.Check(t, is.ErrorContains(err, want))
	}
}
