package charts

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"gopkg.in/yaml.v3"
)

// The platform tree's addons, and the values that the catalogue gives them.
const (
	addons          = "../../platform/flux/addons"
	catalogueValues = "../../config/addon/testdata/values"
)

// release is what a HelmRelease says of a chart.
type release struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Chart struct {
			Spec struct{ Chart, Version string }
		}
		ValuesFrom []struct{ Name string } `yaml:"valuesFrom"`
		Values     map[string]any
	}
}

// TestReleases holds the stand-in charts to the platform tree: each release
// finds its chart in its version, and the chart takes the values that the tree
// and the catalogue give together.
func TestReleases(t *testing.T) {
	found := releases(t)
	if len(found) < 10 {
		t.Fatalf("the tree has %d releases, expected 10 or more", len(found))
	}
	for file, r := range found {
		t.Run(r.Metadata.Name, func(t *testing.T) {
			spec := r.Spec.Chart.Spec
			var chart struct{ Name, Version string }
			read(t, filepath.Join(spec.Chart, "Chart.yaml"), &chart)
			if chart.Name != spec.Chart || chart.Version != spec.Version {
				t.Errorf("%s wants %s %s, the stand-in is %s %s", file, spec.Chart, spec.Version, chart.Name, chart.Version)
			}
			values := map[string]any{}
			read(t, filepath.Join(spec.Chart, "values.yaml"), &values)
			for _, from := range r.Spec.ValuesFrom {
				var published map[string]any
				read(t, filepath.Join(catalogueValues, from.Name[:len(from.Name)-len("-values")]+".yaml"), &published)
				values = merged(values, published)
			}
			values = merged(values, r.Spec.Values)
			schema, err := jsonschema.Compile(filepath.Join(spec.Chart, "values.schema.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(values); err != nil {
				t.Errorf("%s: %#v", file, err)
			}
		})
	}
}

// releases are the HelmReleases of the tree, by file and name.
func releases(t *testing.T) map[string]release {
	t.Helper()
	found := map[string]release{}
	err := filepath.WalkDir(addons, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for documents := yaml.NewDecoder(bytes.NewReader(data)); ; {
			var r release
			if err := documents.Decode(&r); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if r.Kind == "HelmRelease" {
				found[path+" "+r.Metadata.Name] = r
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// merged lays values over others as Helm does: maps key by key, all else by
// replacement.
func merged(below, above map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range below {
		out[key] = value
	}
	for key, value := range above {
		lower, under := out[key].(map[string]any)
		upper, over := value.(map[string]any)
		if under && over {
			value = merged(lower, upper)
		}
		out[key] = value
	}
	return out
}
