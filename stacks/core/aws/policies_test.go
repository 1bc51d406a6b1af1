package aws

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"tombolo/components/identity"
	"tombolo/config/addon"
)

var update = flag.Bool("update", false, "rewrite golden files")

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
			if err != nil {
				t.Fatal(err)
			}
			if n := utf8.RuneCountInString(document); n > maxPolicy {
				t.Errorf("%s: the policy of %s has %d characters, IAM takes %d", a.Name, i.ServiceAccount, n, maxPolicy)
			}
			name := a.Name
			if i.Name != "" {
				name += "-" + i.Name
			}
			path := filepath.Join("testdata", "policies", name+".json")
			written[path] = true
			goldenPolicy(t, path, document)
		}
	}
	paths, err := filepath.Glob(filepath.Join("testdata", "policies", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if !written[path] {
			t.Errorf("%s is of no addon: remove it", path)
		}
	}
	if len(written) == 0 {
		t.Error("no addon has a policy")
	}
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
	if err := yaml.Unmarshal(text, options); err != nil {
		t.Fatalf("sample options of %s: %v", a.Name, err)
	}
	addon.Selection{a.Name: options}.SetDefaults()
	return options
}

// goldenPolicy compares a policy, indented, with a file.
func goldenPolicy(t *testing.T, path, document string) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, []byte(document), "", "  "); err != nil {
		t.Fatalf("%s is no JSON: %v", path, err)
	}
	got.WriteByte('\n')
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("%s is\n%s\nexpected\n%s", path, got.String(), want)
	}
}
