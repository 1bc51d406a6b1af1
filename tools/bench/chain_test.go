package main

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"
)

// TestLongestChain: through dependencies, components and providers; what takes longest alone is
// not in it.
func TestLongestChain(t *testing.T) {
	urn := func(name string) resource.URN { return resource.URN("urn:pulumi:s::p::t::" + name) }
	of := func(name string, custom bool, provider string, waits ...string) apitype.ResourceV3 {
		r := apitype.ResourceV3{URN: urn(name), Type: "t", Custom: custom}
		if provider != "" {
			r.Provider = string(urn(provider)) + "::id"
		}
		for _, w := range waits {
			r.Dependencies = append(r.Dependencies, urn(w))
		}
		return r
	}
	took := map[string]float64{}
	for name, seconds := range map[string]float64{
		"network": 1, "alone": 10, "cluster": 9, "nodes": 3, "component": 100, "provider": 0, "object": 2,
	} {
		took[string(urn(name))] = seconds
	}
	calls := longest("demo-core", []apitype.ResourceV3{
		of("network", true, ""), of("alone", true, ""),
		of("cluster", true, "", "network", "elsewhere"),
		of("component", false, "", "cluster"),
		of("nodes", true, "", "network"),
		of("provider", true, "", "component", "nodes"),
		of("object", true, "provider"),
	}, took)
	assert.DeepEqual(t, calls, []call{
		{"demo-core", "t", "network", 1}, {"demo-core", "t", "cluster", 9}, {"demo-core", "t", "object", 2},
	})
}
