package teardown

import (
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"sigs.k8s.io/yaml"
)

// TestAzureKindsAreThoseOfSystems: what systems may make is what is given back.
func TestAzureKindsAreThoseOfSystems(t *testing.T) {
	text, err := os.ReadFile("../../platform/flux/systems/base/roles.yaml")
	assert.NilError(t, err)
	first, _, _ := strings.Cut(string(text), "\n---\n")
	var role struct {
		Rules []struct{ APIGroups, Resources []string }
	}
	assert.NilError(t, yaml.Unmarshal([]byte(first), &role))
	var want, got []string
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			if strings.HasSuffix(rule.APIGroups[0], ".azure.com") {
				want = append(want, rule.APIGroups[0]+"/"+resource)
			}
		}
	}
	for _, target := range azureTargets() {
		plural := strings.ToLower(target.kind.Kind) + "s"
		if stem, is := strings.CutSuffix(plural, "ys"); is {
			plural = stem + "ies"
		}
		got = append(got, target.kind.Group+"/"+plural)
	}
	slices.Sort(want)
	slices.Sort(got)
	assert.DeepEqual(t, got, want)
}
