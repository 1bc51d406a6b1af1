package charts

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"

	"tombolo/config"
	"tombolo/config/addon"
)

// tree is the platform tree that the charts stand in for.
const tree = "../../platform/flux"

// object is what the tests read of a HelmRelease or a HelmRepository.
type object struct {
	file     string
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		URL, Type   string
		ReleaseName string `yaml:"releaseName"`
		Chart       struct {
			Spec struct {
				Chart, Version string
				SourceRef      struct{ Kind, Name, Namespace string } `yaml:"sourceRef"`
			}
		}
		ValuesFrom []struct{ Name string } `yaml:"valuesFrom"`
		Values     map[string]any
	}
}

// ownChart says that a path has to do with the tree's own chart: its templates, which are no
// manifests yet, and the releases of systems, which need no chart of others.
func ownChart(path string) bool { return path == "charts" || path == "systems" }

// objects of the tree that are of a kind, but for those of its own chart.
func objects(t *testing.T, kind string) []object {
	t.Helper()
	var found []object
	root := os.DirFS(tree)
	err := fs.WalkDir(root, ".", func(file string, _ fs.DirEntry, err error) error {
		if ownChart(file) {
			return fs.SkipDir
		}
		if err != nil || path.Ext(file) != ".yaml" {
			return err
		}
		data, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		for documents := yaml.NewDecoder(bytes.NewReader(data)); ; {
			o := object{file: file}
			err := documents.Decode(&o)
			var otherShape *yaml.TypeError // of another kind
			switch {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil && !errors.As(err, &otherShape):
				return err
			case err == nil && o.Kind == kind:
				found = append(found, o)
			}
		}
	})
	assert.NilError(t, err)
	return found
}

// TestTreesCharts finds releases without a chart repository, and stand-ins
// that no release is of.
func TestTreesCharts(t *testing.T) {
	repositories := map[string]bool{}
	for _, r := range objects(t, "HelmRepository") {
		repositories[r.Metadata.Name] = true
	}
	used := map[string]bool{}
	for _, r := range objects(t, "HelmRelease") {
		spec := r.Spec.Chart.Spec
		used[Chart{Name: spec.Chart, Version: spec.Version}.File()] = true
		if spec.SourceRef.Kind != "HelmRepository" || spec.SourceRef.Namespace != "flux-system" || !repositories[spec.SourceRef.Name] {
			t.Errorf("%s: the tree has no chart repository %+v", r.file, spec.SourceRef)
		}
		if r.Spec.ReleaseName != r.Metadata.Name {
			t.Errorf("%s: releaseName is %q, want the object's name %q", r.file, r.Spec.ReleaseName, r.Metadata.Name)
		}
	}
	standIns, err := Load(os.DirFS("."))
	assert.NilError(t, err)
	for _, c := range standIns {
		if !used[c.File()] {
			t.Errorf("no release of the tree is of %s", c.File())
		}
	}
}

// TestTreesRepositories: addons come from addresses on the internet whose
// content cannot be changed on the way.
func TestTreesRepositories(t *testing.T) {
	for _, r := range objects(t, "HelmRepository") {
		if !strings.HasPrefix(r.file, "addons/") {
			continue
		}
		oci := strings.HasPrefix(r.Spec.URL, "oci://")
		if !oci && !strings.HasPrefix(r.Spec.URL, "https://") {
			t.Errorf("%s: the address %q is neither https:// nor oci://", r.file, r.Spec.URL)
		}
		if oci != (r.Spec.Type == "oci") {
			t.Errorf("%s: %s has type %q", r.file, r.Spec.URL, r.Spec.Type)
		}
	}
}

// TestLabsValues holds what the lab's clusters publish to the schemas: some
// values come only when another addon is on.
func TestLabsValues(t *testing.T) {
	readers := map[string]object{}
	for _, r := range objects(t, "HelmRelease") {
		for _, from := range r.Spec.ValuesFrom {
			readers[r.Metadata.Namespace+"/"+from.Name] = r
		}
	}
	for _, name := range []string{"demo", "full"} {
		c, err := config.Load("../../clusters/" + name + ".yaml")
		assert.NilError(t, err)
		for _, a := range c.Addons.Enabled() {
			if !a.HasValues() {
				continue
			}
			r, ok := readers[a.Namespace+"/"+a.ValuesName()]
			if !ok {
				t.Errorf("%s: no release in %s has its values", a.Name, a.Namespace)
				continue
			}
			given := merged(plain(t, a.Values(c.AddonFacts(), a.Options, made())), r.Spec.Values)
			err := schemaOf(t, r.Spec.Chart.Spec.Chart).Validate(given)
			assert.Check(t, err == nil, "%s in cluster %s: %#v", r.file, name, err)
		}
	}
}

// made is what core could have made for any addon.
func made() addon.Outputs {
	out := addon.Outputs{
		VPCID: "vpc-0123456789abcdef0", PrivateSubnetIDs: []string{"subnet-0aaa"},
		ClusterEndpoint: "https://demo.eks.test", ClusterSecurityGroupID: "sg-0123456789abcdef0",
		Certificate: "arn:aws:acm:eu-central-1:111122223333:certificate/1", Made: map[string]string{},
	}
	for _, identity := range []string{"", "controller", "mount"} {
		out.Made[addon.RoleOutput(identity)] = "arn:aws:iam::111122223333:role/demo-addon"
	}
	for _, name := range []string{addon.InstanceProfile, addon.QueueName, addon.CertificateARN, addon.BucketName, addon.FileSystemID} {
		out.Made[name] = "made"
	}
	return out
}

// plain is values as their ConfigMap carries them.
func plain(t *testing.T, values map[string]any) map[string]any {
	t.Helper()
	text, err := yaml.Marshal(values)
	assert.NilError(t, err)
	var out map[string]any
	assert.NilError(t, yaml.Unmarshal(text, &out))
	return out
}
