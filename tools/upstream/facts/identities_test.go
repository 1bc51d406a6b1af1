package facts_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tools/upstream/facts"
)

// account is a place in values that names a service account.
type account struct {
	path, name string
	role       any
}

// accounts below values.
func accounts(values map[string]any, below string) []account {
	var out []account
	for key, inner := range values {
		m, _ := inner.(map[string]any)
		path := strings.TrimPrefix(below+"/"+key, "/")
		// KEDA's chart has one for each of its programs below serviceAccount.
		if (key == "serviceAccount" || path == "serviceAccount/"+key) && m["name"] != nil {
			out = append(out, account{path: path, name: text(m, "name"), role: at(m, "annotations", "eks.amazonaws.com/role-arn")})
		}
		out = append(out, accounts(m, path)...)
	}
	return out
}

// TestIdentities: the service account that may assume an addon's role is one that
// its chart makes, and the catalogue's values give it that name, and the role,
// where the chart reads them.
func TestIdentities(t *testing.T) {
	charts := map[string]facts.Chart{} // by the name of the published values
	for file, objects := range documents(t, "platform/flux/addons") {
		for _, o := range objects {
			from, _ := at(o, "spec", "valuesFrom").([]any)
			for _, f := range from {
				c, ok, err := facts.Find(text(o, "spec", "chart", "spec", "chart"), text(o, "spec", "chart", "spec", "version"))
				assert.NilError(t, err)
				assert.Assert(t, ok, file)
				charts[text(f, "name")] = c
			}
		}
	}
	samples, err := filepath.Glob(filepath.Join(root, "config/addon/testdata/golden/*.yaml"))
	assert.NilError(t, err)
	checked := 0
	for _, file := range samples {
		sample := values(t, "config/addon/testdata/golden/"+filepath.Base(file))
		identities, _ := at(sample, "needs", "Identities").([]any)
		if len(identities) == 0 {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		chart, ok := charts[name+"-values"]
		assert.Assert(t, ok, "%s: no release of the tree has its values", name)
		given, _ := sample["values"].(map[string]any)
		for _, identity := range identities {
			checked++
			trusted := text(identity, "ServiceAccount")
			assert.Check(t, slices.Contains(chart.ServiceAccounts, trusted),
				"%s: the role trusts %s; the chart %s makes %v", name, trusted, chart.Name, chart.ServiceAccounts)
			if name == "azure-service-operator" {
				continue // its chart has one name for it, and the identities are in Secrets of systems
			}
			named := accounts(given, "")
			i := slices.IndexFunc(named, func(a account) bool { return a.name == trusted })
			if i < 0 {
				t.Errorf("%s: no value names the service account %s, which the role trusts", name, trusted)
				continue
			}
			assert.Check(t, named[i].role != nil, "%s: %s has no role", name, named[i].path)
			for _, key := range []string{"name", "annotations"} {
				assert.Check(t, chart.Values[named[i].path+"/"+key] != "", "%s: the chart %s does not read %s/%s", name, chart.Name, named[i].path, key)
			}
		}
	}
	assert.Check(t, checked > 5, checked)
}
