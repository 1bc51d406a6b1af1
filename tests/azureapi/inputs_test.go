// Package azureapi holds what the programs send to Azure against the descriptions of its APIs.
package azureapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab/azure/apimodel"
	"tombolo/lab/standin"
)

// recorded is a resource in a golden file of a program.
type recorded struct {
	// Resource is its type and its name.
	Resource string         `json:"resource"`
	Inputs   map[string]any `json:"inputs"`
}

// Every input that core makes is one that the APIs of Azure take: in all golden files of the
// program, and in those of AKS but previews, which lack what is not known.
func TestInputsAreWhatAzureTakes(t *testing.T) {
	types := map[string]bool{}
	for _, made := range goldens(t) {
		token, name, _ := strings.Cut(made.Resource, " ")
		if !strings.HasPrefix(token, "azure-native:") {
			continue
		}
		types[token] = true
		in := standin.Props(made.Inputs)
		for _, path := range apimodel.Unmapped(token, in) {
			t.Errorf("%s %s: the API has no %s; see lab/azure/apimodel/types.json", token, name, path)
		}
		for _, p := range apimodel.Check(token, in) {
			t.Errorf("%s %s: %s", token, name, p.Reason)
		}
		for _, fault := range apimodel.Faults(token, in) {
			t.Errorf("%s %s: %s", token, name, fault.Reason)
		}
	}
	// What is made nowhere would be checked nowhere.
	assert.Check(t, len(types) > 12, "only %d types were made: %v", len(types), types)
}

func goldens(t *testing.T) []recorded {
	t.Helper()
	var all []recorded
	for _, pattern := range []string{"stacks/core/azure/testdata/*.json", "components/aks/testdata/private.json", "components/aks/testdata/public.json"} {
		files, err := filepath.Glob(filepath.Join("..", "..", pattern))
		assert.NilError(t, err)
		assert.Assert(t, len(files) > 0, "there is no %s", pattern)
		for _, file := range files {
			data, err := os.ReadFile(file)
			assert.NilError(t, err)
			var list []recorded
			assert.NilError(t, json.Unmarshal(data, &list), file)
			all = append(all, list...)
		}
	}
	return all
}
