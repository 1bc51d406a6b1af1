package addon

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/golden"
	sigsyaml "sigs.k8s.io/yaml"
)

// TestGolden holds what each addon needs and publishes to a file, for the
// options of testdata/options/<addon>.yaml. The statements of its roles are in
// stacks/core/aws/testdata/policies, as IAM gets them.
func TestGolden(t *testing.T) {
	written, all := map[string]bool{}, Selection{}
	for _, a := range All() {
		all[a.Name] = sampleOptions(t, a)
	}
	for _, a := range All() {
		t.Run(a.Name, func(t *testing.T) {
			options := all[a.Name]
			problems := a.Check(options, all)
			problems = slices.DeleteFunc(problems, func(p Problem) bool { return p.Warning })
			if len(problems) > 0 {
				t.Fatalf("the sample options have problems: %v", problems)
			}
			needs := a.Needs(facts(), options)
			out := sampleOutputs(needs)
			for i := range needs.Identities {
				needs.Identities[i].Statements = nil
			}
			made := map[string]any{}
			if needs := withoutEmpty(t, needs); needs != nil {
				made["needs"] = needs
			}
			keys := map[string]string{}
			for _, k := range a.Keys() {
				keys[k.Name] = k.Value(facts(), options, out)
				made["keys"] = keys
			}
			if a.HasValues() {
				made["values"] = a.Values(facts(), options, out)
			}
			if len(made) > 0 {
				file := "golden/" + a.Name + ".yaml"
				written[golden.Path(file)] = true
				goldenYAML(t, file, made)
			}
		})
	}
	paths, err := filepath.Glob(filepath.Join("testdata", "golden", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if !written[path] {
			t.Errorf("%s is of nothing in the catalogue: remove it", path)
		}
	}
}

// sampleOptions reads an addon's sample options, with defaults. An addon that
// has none needs no file.
func sampleOptions(t *testing.T, a *Addon) any {
	t.Helper()
	options := a.NewOptions()
	text, err := os.ReadFile(filepath.Join("testdata", "options", a.Name+".yaml"))
	switch {
	case errors.Is(err, fs.ErrNotExist) && a.Options().NumField() == 0:
	case err != nil:
		t.Fatal(err)
	default:
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		decoder.KnownFields(true)
		if err := decoder.Decode(options); err != nil {
			t.Fatalf("testdata/options/%s.yaml: %v", a.Name, err)
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
	}
	for _, i := range needs.AzureIdentities {
		made[ClientOutput(i.Name)] = "00000000-0000-4000-8000-0000000000d1"
	}
	if n := needs.NodeRole; n != nil {
		made[InstanceProfile] = n.ProfileName
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
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, string(got), file)
}
