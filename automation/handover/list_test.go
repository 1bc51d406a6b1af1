package handover

import (
	"strings"
	"testing"
)

func TestAddResources(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"listed", "resources:   [ ./flux-system/ ]\n", "resources:   [ ./flux-system/ ]\n"},
		{
			"comments stay", "# head\nresources:\n  # first\n  - a.yaml # why\nkind: Kustomization\n",
			"# head\nresources:\n  # first\n  - a.yaml # why\n  - flux-system\nkind: Kustomization\n",
		},
		{"no resources", "kind: Kustomization\n", "kind: Kustomization\nresources:\n  - flux-system\n"},
		{"nothing after resources", "resources:\nkind: Kustomization\n", "resources:\n  - flux-system\nkind: Kustomization\n"},
		{"in brackets", "resources: [a.yaml]\n", "resources: [a.yaml, flux-system]\n"},
	} {
		got, err := addResources([]byte(test.text), []string{"flux-system"})
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", test.name, err, got, test.want)
		}
	}
	for text, want := range map[string]string{
		"":               "it is no kustomization: expected a mapping with resources",
		"- a\n":          "it is no kustomization: expected a mapping with resources",
		"resources: a\n": "line 1: resources is no list",
		"a: [":           "yaml: line 1",
	} {
		if _, err := addResources([]byte(text), []string{"x"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, expected %q", text, err, want)
		}
	}
}
