package addon

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
	sigsyaml "sigs.k8s.io/yaml"
)

// TestGolden holds what each addon needs and publishes to a file, for the
// options of testdata/options/<addon>.yaml. The statements of its roles are in
// stacks/core/aws/testdata/policies, as IAM gets them. Those that are otherwise on Azure have
// options in testdata/options/azure, and a file in golden/azure.
func TestGolden(t *testing.T) {
	written := map[string]bool{}
	for folder, f := range map[string]Facts{"": facts(), Azure: azureFacts()} {
		all := Selection{}
		for _, a := range on(folder) {
			all[a.Name] = optionsOn(t, folder, a)
		}
		for _, a := range on(folder) {
			if folder != "" && !hasSample(folder, a) {
				continue
			}
			t.Run(path.Join(folder, a.Name), func(t *testing.T) {
				if made := madeOf(t, a, f, all); len(made) > 0 {
					file := path.Join("golden", folder, a.Name+".yaml")
					written[golden.Path(file)] = true
					goldenYAML(t, file, made)
				}
			})
		}
	}
	for _, folder := range []string{"", Azure} {
		paths, err := filepath.Glob(filepath.Join("testdata", "golden", folder, "*.yaml"))
		assert.NilError(t, err)
		for _, path := range paths {
			assert.Check(t, written[path], "%s is of nothing in the catalogue: remove it", path)
		}
	}
}

// on are the addons of a cloud; "" is AWS.
func on(cloud string) []*Addon {
	return slices.DeleteFunc(All(), func(a *Addon) bool { _, not := a.NotOn[cloud]; return not })
}

// azureFacts are of a cluster on Azure.
func azureFacts() Facts {
	f := facts()
	f.Provider, f.Region, f.Partition = Azure, "germanywestcentral", ""
	f.Account, f.Tenant, f.ResourceGroup = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-00000000000a", "platform-demo"
	return f
}

// madeOf is what an addon needs and publishes.
func madeOf(t *testing.T, a *Addon, f Facts, all Selection) map[string]any {
	t.Helper()
	options := all[a.Name]
	problems := slices.DeleteFunc(a.Check(options, all), func(p Problem) bool { return p.Warning })
	assert.Assert(t, len(problems) == 0, "the sample options have problems: %v", problems)
	needs := a.Needs(f, options)
	out := sampleOutputs(needs)
	for i := range needs.Identities {
		needs.Identities[i].Statements = nil
	}
	made := map[string]any{}
	if needs := withoutEmpty(t, needs); needs != nil {
		made["needs"] = needs
	}
	keys := map[string]string{}
	for _, k := range (Enabled{a, options}).Keys() {
		keys[k.Name] = k.Value(f, options, out)
		made["keys"] = keys
	}
	if a.HasValues() {
		made["values"] = a.Values(f, options, out)
	}
	return made
}

// sampleOptions reads an addon's sample options, with defaults. An addon that
// has none needs no file.
func sampleOptions(t *testing.T, a *Addon) any {
	t.Helper()
	return optionsOn(t, "", a)
}

// hasSample says that an addon has sample options of a cloud.
func hasSample(cloud string, a *Addon) bool {
	_, err := os.Stat(filepath.Join("testdata", "options", cloud, a.Name+".yaml"))
	return err == nil
}

// optionsOn are the sample options on a cloud; the defaults on one that has no sample of its own.
func optionsOn(t *testing.T, cloud string, a *Addon) any {
	t.Helper()
	options := a.NewOptions()
	text, err := os.ReadFile(filepath.Join("testdata", "options", cloud, a.Name+".yaml"))
	switch {
	case errors.Is(err, fs.ErrNotExist) && (a.Options().NumField() == 0 || cloud != ""):
	case err != nil:
		t.Fatal(err)
	default:
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		decoder.KnownFields(true)
		if err := decoder.Decode(options); err != nil {
			t.Fatalf("testdata/options/%s/%s.yaml: %v", cloud, a.Name, err)
		}
	}
	Selection{a.Name: options}.SetDefaults()
	return options
}

// sampleOutputs are core's outputs for an addon with the needs.
func sampleOutputs(needs Needs) Outputs {
	made := map[string]string{}
	for _, i := range needs.Identities {
		made[RoleOutput(i.Name)] = facts().AccountARN("iam", "role/"+RoleOutput(i.Name))
		made[ClientOutput(i.Name)] = "00000000-0000-4000-8000-0000000000b7"
	}
	if n := needs.NodeRole; n != nil {
		made[InstanceProfile] = n.ProfileName
	}
	if v := needs.Vault; v != nil {
		made[VaultURL] = "https://kv-demo.vault.azure.net/"
	}
	if c := needs.Container; c != nil {
		made[AccountName], made[ContainerName] = c.Account, c.Name
	}
	if needs.Queue != nil {
		made[QueueName] = needs.Queue.Name
	}
	if needs.Certificate != nil {
		made[CertificateARN] = facts().ARN("acm", "certificate/01234567-89ab-cdef-0123-456789abcdef")
	}
	if needs.Bucket != nil {
		made[BucketName] = needs.Bucket.Name
	}
	if needs.FileSystem != nil {
		made[FileSystemID] = "fs-0123456789abcdef0"
	}
	return Outputs{
		VPCID: "vpc-0123456789abcdef0", PrivateSubnetIDs: []string{"subnet-0aaa", "subnet-0bbb"},
		ClusterEndpoint:        "https://0123456789ABCDEF.gr7.eu-central-1.eks.amazonaws.com",
		ClusterSecurityGroupID: "sg-0123456789abcdef0",
		Certificate:            facts().ARN("acm", "certificate/01234567-89ab-cdef-0123-456789abcdef"), Made: made,
	}
}

// withoutEmpty turns a value into maps and lists without their empty elements;
// nil if nothing is left.
func withoutEmpty(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	assert.NilError(t, err)
	var plain any
	assert.NilError(t, json.Unmarshal(text, &plain))
	return pruned(plain)
}

func pruned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(key string, value any) bool {
			v[key] = pruned(value)
			return v[key] == nil
		})
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
		if v = slices.DeleteFunc(v, func(e any) bool { return e == nil }); len(v) == 0 {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	}
	return v
}

func goldenYAML(t *testing.T, file string, content any) {
	t.Helper()
	got, err := sigsyaml.Marshal(content)
	assert.NilError(t, err)
	golden.Assert(t, string(got), file)
}
