package aws

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"tombolo/components/identity"
	"tombolo/components/recorder"
	"tombolo/config/addon"
)

// maxPolicy is IAM's limit for a role's inline policies, in characters without
// white space. Source: "IAM and AWS STS quotas" in the IAM User Guide.
const maxPolicy = 10240

// TestAddonPolicies holds the policy of each identity of the catalogue's addons
// to a file, as IAM gets it, for the catalogue's sample options.
func TestAddonPolicies(t *testing.T) {
	f := addon.Facts{
		Cluster: "demo", Environment: "dev", Region: "eu-central-1", Account: "111122223333", Partition: "aws", OwnNetwork: true,
	}
	written := map[string]bool{}
	for _, a := range addon.All() {
		for _, i := range a.Needs(f, sampleOptions(t, a)).Identities {
			document, err := identity.Document(statements(i.Statements))
			assert.NilError(t, err)
			n := utf8.RuneCountInString(document)
			assert.Check(t, n <= maxPolicy, "%s: the policy of %s has %d characters, IAM takes %d", a.Name, i.ServiceAccount, n, maxPolicy)
			name := a.Name
			if i.Name != "" {
				name += "-" + i.Name
			}
			file := "policies/" + name + ".json"
			written[golden.Path(file)] = true
			recorder.Golden(t, file, document)
		}
	}
	paths, err := filepath.Glob(filepath.Join("testdata", "policies", "*.json"))
	assert.NilError(t, err)
	for _, path := range paths {
		assert.Check(t, written[path], "%s is of no addon: remove it", path)
	}
	assert.Check(t, len(written) != 0, "no addon has a policy")
}

// sampleOptions reads the catalogue's sample options of an addon, with
// defaults. An addon that has none needs no file.
func sampleOptions(t *testing.T, a *addon.Addon) any {
	t.Helper()
	options := a.NewOptions()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "addon", "testdata", "options", a.Name+".yaml"))
	if err != nil && (!errors.Is(err, fs.ErrNotExist) || a.Options().NumField() > 0) {
		t.Fatal(err)
	}
	assert.NilError(t, yaml.Unmarshal(text, options), "sample options of %s", a.Name)
	addon.Selection{a.Name: options}.SetDefaults()
	return options
}
