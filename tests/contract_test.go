package tests

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"tombolo/check/published"
	"tombolo/config"
	"tombolo/internal/names"
)

// TestContractKnowsWhatIsPublished holds the check of platform trees, which
// may not import the components, to what they publish.
func TestContractKnowsWhatIsPublished(t *testing.T) {
	keys := names.InfraKeyNames(names.AWSCloud)
	slices.Sort(keys)
	c, err := config.Load("../config/testdata/good/minimal.yaml")
	assert.NilError(t, err)
	p := published.To(c, c)
	if diff := cmp.Diff(keys, slices.Sorted(maps.Keys(p.Variables))); diff != "" {
		t.Errorf("keys (-published +check)\n%s", diff)
	}
	for name, v := range p.Variables {
		assert.Check(t, v.Example != "", "%s has no example of a value", name)
	}
}
