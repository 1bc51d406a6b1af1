package apimodel

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/standin"
)

// That the facts are what the descriptions say is tested where those are: in tools/azuremodels.
func TestFactsAreOfTheseTypes(t *testing.T) {
	facts := read()
	assert.Check(t, is.Equal(facts.Repository, "Azure/bicep-types-az"))
	assert.Check(t, is.Equal(facts.Types, fmt.Sprintf("sha256:%x", sha256.Sum256(typesData))), "types.json has changed: run make azure-models")
	for token, m := range facts.types {
		assert.Check(t, facts.Files[m.File].Objects[m.Resource] != nil, "%s: there is no %s", token, m.Resource)
	}
}

// Paths in types.json lead to properties.
func TestMappingsLeadSomewhere(t *testing.T) {
	for token, m := range read().types {
		paths := map[string]bool{}
		for _, limit := range Limits(token) {
			paths[indices.Replace(limit.Path)] = true
		}
		for input := range m.Codes {
			assert.Check(t, paths[input], "%s: %s has no limit, and a code of its own", token, input)
		}
		for input := range m.Open {
			assert.Check(t, paths[input], "%s: %s has no limit, and is open", token, input)
		}
	}
}

func TestPatternsAreGos(t *testing.T) {
	patterns := 0
	for token := range read().types {
		for _, limit := range Limits(token) {
			if limit.Kind != "pattern" {
				continue
			}
			patterns++
			assert.Check(t, pattern(limit.Allowed[0]) != nil, "%s: %s has the pattern %s", token, limit.Path, limit.Allowed[0])
		}
	}
	assert.Check(t, patterns > 10, "%d patterns", patterns)
}

const pool = "azure-native:containerservice/v20240901:AgentPool"

func TestCheck(t *testing.T) {
	for want, in := range map[string]standin.Props{
		"agentPoolName: 'agentPoolName' does not match expression": {"agentPoolName": "A"},
		"agentPoolName: 'agentPoolName' is too long (13)":          {"agentPoolName": "aaaaaaaaaaaaa"},
		"osDiskSizeGB: 'osDiskSizeGB' is too high (2049.0":         {"osDiskSizeGB": 2049.0},
		"osDiskSizeGB: 'osDiskSizeGB' is too low (-1.0":            {"osDiskSizeGB": -1.0},
		"": {"agentPoolName": "apps", "osDiskSizeGB": 2048.0, "mode": standin.Unknown{}},
	} {
		var got []string
		for _, p := range Check(pool, in) {
			got = append(got, p.Path+": "+p.Reason)
		}
		text := strings.Join(got, "; ")
		assert.Check(t, strings.HasPrefix(text, want) && (want != "" || text == ""), "%q", text)
	}
}

func TestFaults(t *testing.T) {
	in := standin.Props{"mode": "Gateway", "osSKU": "Debian", "upgradeSettings": map[string]any{"maxSurge": "10%"}, "networkProfile": map[string]any{
		"allowedHostPorts": []any{map[string]any{"protocol": "ICMP"}},
	}, "nodeImageVersion": "x"}
	assert.Check(t, is.DeepEqual(Faults(pool, in), []Fault{
		{Path: "mode", ARM: "properties.mode", Value: "Gateway", Allowed: []string{"System", "User"}, Reason: `Error converting value "Gateway" to one of System, User. Path 'properties.mode'.`},
		{Path: "networkProfile.allowedHostPorts[0].protocol", ARM: "properties.networkProfile.allowedHostPorts[0].protocol", Value: "ICMP", Allowed: []string{"TCP", "UDP"}, Reason: `Error converting value "ICMP" to one of TCP, UDP. Path 'properties.networkProfile.allowedHostPorts[0].protocol'.`},
		{Path: "nodeImageVersion", ARM: "properties.nodeImageVersion", Reason: "The property 'properties.nodeImageVersion' can only be read."},
		{Path: "osSKU", ARM: "properties.osSKU", Value: "Debian", Allowed: []string{"AzureLinux", "CBLMariner", "Ubuntu", "Windows2019", "Windows2022"}, Code: "InvalidOSSKU", Reason: `Error converting value "Debian" to one of AzureLinux, CBLMariner, Ubuntu, Windows2019, Windows2022. Path 'properties.osSKU'.`},
	}))
	assert.Check(t, is.DeepEqual(Unmapped(pool, standin.Props{"mode": "User", "kubeletConfig": map[string]any{"cpu": "x"}}), []string{"kubeletConfig.cpu"}))
}
