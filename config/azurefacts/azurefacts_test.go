package azurefacts

import (
	"regexp"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
)

func TestRegions(t *testing.T) {
	assert.Assert(t, slices.IsSorted(Regions()))
	assert.Check(t, HasZones("germanywestcentral") && HasZones("westeurope"))
	assert.Check(t, !HasZones("germanynorth") && !HasZones("eu-central-1"))
}

func TestRoles(t *testing.T) {
	id := regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	seen := map[string]string{}
	for name, definition := range roles {
		assert.Check(t, id.MatchString(definition), name)
		assert.Equal(t, seen[definition], "", name)
		assert.Equal(t, GivesRoles(name), "")
		seen[definition] = name
	}
	got, ok := RoleID(NetworkContributor)
	assert.Check(t, ok)
	assert.Equal(t, got, "4d97b98b-1d4f-4787-a291-c67834d212e7")
	_, ok = RoleID("Owner")
	assert.Check(t, !ok)
	assert.Equal(t, GivesRoles("owner"), "Owner")
	assert.Equal(t, GivesRoles("18D7D88D-d35e-4fb5-a5c3-7773c20a72d9"), "User Access Administrator")
}

func TestReservedBlocks(t *testing.T) {
	for _, block := range ReservedBlocks() {
		assert.Equal(t, block, block.Masked())
	}
}
