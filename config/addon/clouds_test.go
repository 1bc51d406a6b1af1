package addon

import (
	"reflect"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
)

// TestNotOn: who names an addon on a cloud that it is not for learns why, and what to do.
func TestNotOn(t *testing.T) {
	for _, a := range All() {
		for cloud, instead := range a.NotOn {
			assert.Check(t, (cloud == Azure || cloud == AWS) && instead.Reason != "" && instead.Remedy != "", "%s on %s: %+v", a.Name, cloud, instead)
		}
	}
}

// TestNeedsOnAzure: an addon that is on Azure has no needs there that are AWS's, and who requires
// one that is not there is not there either.
func TestNeedsOnAzure(t *testing.T) {
	for _, a := range All() {
		_, not := a.NotOn[Azure]
		if !not {
			needs := a.Needs(azureFacts(), optionsOn(t, Azure, a))
			for _, i := range needs.Identities {
				assert.Check(t, len(i.Statements) == 0 && len(i.Roles) > 0, "%s: the identity of %s needs roles of Azure", a.Name, i.ServiceAccount)
			}
			needs.Identities, needs.Zones, needs.Vault, needs.Container = nil, nil, nil, nil
			assert.Check(t, reflect.ValueOf(needs).IsZero(), "%s has needs of AWS on Azure: %+v", a.Name, needs)
		}
		if slices.ContainsFunc(a.Required(Azure), func(other string) bool { _, refused := Find(other).NotOn[Azure]; return refused }) {
			assert.Check(t, not, "%s requires an addon that is not on Azure", a.Name)
		}
	}
}
