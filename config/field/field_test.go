package field

import (
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/config/strict"
)

type section struct {
	Logs []string
	Days int
	On   *bool
	Tier string `cloud:"azure"`
	Pool pool
}

type pool struct{ Size int }

func described() Set {
	return Join(Of[section](map[string]Descriptor{
		"Logs": {Rule: strict.Rule{Default: []string{"api"}}},
		"Days": {Rule: strict.Rule{Default: 90}, AzureRule: &strict.Rule{Default: 30}},
		"On":   {Rule: strict.Rule{Default: true}},
		"Tier": {Rule: strict.Rule{Default: "standard"}, Change: Changes("the tier changes")},
		"Pool": {},
	}), Of[pool](map[string]Descriptor{"Size": {Rule: strict.Rule{Default: 3}}}))
}

// TestOf: a descriptor of no field, and a second one of a field, end the program.
func TestOf(t *testing.T) {
	ends := func(f func()) (message any) {
		defer func() { message = recover() }()
		f()
		return nil
	}
	assert.Equal(t, ends(func() { Of[pool](map[string]Descriptor{"Width": {}}) }), "the descriptor pool.Width is of no field")
	size := Of[pool](map[string]Descriptor{"Size": {}})
	assert.Equal(t, ends(func() { Join(size, size) }), "the field pool.Size has two descriptors")
	assert.Equal(t, described()["section.Tier"].Cloud, Azure)
}

// TestSetDefaults: each cloud has its own, what is there stays, and no two sections share a list.
func TestSetDefaults(t *testing.T) {
	one, two, azure := section{}, section{Logs: []string{}, Days: 7, On: new(false)}, section{}
	described().SetDefaults(AWS, &one)
	described().SetDefaults(AWS, &two)
	described().SetDefaults(Azure, &azure)
	assert.DeepEqual(t, one, section{Logs: []string{"api"}, Days: 90, On: new(true), Pool: pool{Size: 3}})
	assert.DeepEqual(t, two, section{Logs: []string{}, Days: 7, On: new(false), Pool: pool{Size: 3}})
	assert.DeepEqual(t, azure, section{Logs: []string{"api"}, Days: 30, On: new(true), Tier: "standard", Pool: pool{Size: 3}})
}
