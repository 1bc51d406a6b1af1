package tests

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tombolo/components/flux"
	"tombolo/components/infraconfig"
	"tombolo/config"
	"tombolo/platform/contract/published"
)

// TestContractKnowsWhatIsPublished holds the check of platform trees, which
// may not import the components, to what they publish.
func TestContractKnowsWhatIsPublished(t *testing.T) {
	for want, got := range map[string]string{
		flux.Namespace: published.Namespace, flux.SyncName: published.Sync, flux.AuthName: published.AuthSecret,
		infraconfig.Name: published.InfraConfig, infraconfig.ValuesKey: published.ValuesKey,
	} {
		if got != want {
			t.Errorf("the check says %q, the components %q", got, want)
		}
	}
	var keys []string
	for _, k := range infraconfig.Keys() {
		keys = append(keys, k.Name)
	}
	slices.Sort(keys)
	c, err := config.Load("../config/testdata/good/minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := published.To(c, c)
	if diff := cmp.Diff(keys, slices.Sorted(maps.Keys(p.Variables))); diff != "" {
		t.Errorf("keys (-components +check)\n%s", diff)
	}
	for name, v := range p.Variables {
		if v.Example == "" {
			t.Errorf("%s has no example of a value", name)
		}
	}
}
