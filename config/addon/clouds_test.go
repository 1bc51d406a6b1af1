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

// TestNeedsOfAWSAreNotOnAzure: an addon whose needs are AWS's, or which requires one that is
// not on Azure, is not there either.
func TestNeedsOfAWSAreNotOnAzure(t *testing.T) {
	f := facts()
	for _, a := range All() {
		options := a.NewOptions()
		Selection{a.Name: options}.SetDefaults()
		needs := a.Needs(f, options)
		needs.Zones = nil // they have to exist, and are nobody's need
		needs.AzureIdentities = nil
		_, not := a.NotOn[Azure]
		if !reflect.ValueOf(needs).IsZero() {
			assert.Check(t, not, "%s has needs on AWS: say in NotOn what to do on Azure", a.Name)
		}
		if slices.ContainsFunc(a.Requires, func(other string) bool { _, refused := Find(other).NotOn[Azure]; return refused }) {
			assert.Check(t, not, "%s requires an addon that is not on Azure", a.Name)
		}
	}
}
