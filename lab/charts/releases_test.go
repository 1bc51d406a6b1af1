package charts

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"

	"tombolo/config/addon"
)

// catalogue is what the catalogue gives for its sample options.
const catalogue = "../../config/addon/testdata/golden"

// TestReleases holds the stand-in charts to the platform tree: each release of
// an addon finds its chart in its version, and the chart takes the values that
// the tree and the catalogue give together, on each cloud.
func TestReleases(t *testing.T) {
	found := objects(t, "HelmRelease")
	if len(found) < 10 {
		t.Fatalf("the tree has %d releases, expected 10 or more", len(found))
	}
	for _, r := range found {
		if !strings.HasPrefix(r.file, "addons/") {
			continue // values of a service, which no catalogue gives
		}
		for _, cloud := range []string{"", addon.Azure} {
			t.Run(path.Join(r.Metadata.Name, cloud), func(t *testing.T) { takesValues(t, r, cloud) })
		}
	}
}

// takesValues of the catalogue on a cloud; "" is AWS. On Azure, an addon has none of its own that
// has no golden file there.
func takesValues(t *testing.T, r object, cloud string) {
	spec := r.Spec.Chart.Spec
	var chart struct{ Name, Version string }
	read(t, filepath.Join(spec.Chart, "Chart.yaml"), &chart)
	if chart.Name != spec.Chart || chart.Version != spec.Version {
		t.Errorf("%s wants %s %s, the stand-in is %s %s", r.file, spec.Chart, spec.Version, chart.Name, chart.Version)
	}
	values := map[string]any{}
	read(t, filepath.Join(spec.Chart, "values.yaml"), &values)
	for _, from := range r.Spec.ValuesFrom {
		file := filepath.Join(catalogue, cloud, strings.TrimSuffix(from.Name, "-values")+".yaml")
		if _, err := os.Stat(file); err != nil && cloud != "" {
			t.Skip("it has the values of AWS")
		}
		var published struct{ Values map[string]any }
		read(t, file, &published)
		assert.Assert(t, len(published.Values) > 0, from.Name)
		values = merged(values, published.Values)
	}
	values = merged(values, r.Spec.Values)
	err := schemaOf(t, spec.Chart).Validate(values)
	assert.Check(t, err == nil, "%s: %#v", r.file, err)
}

// schemaOf is the schema in a packaged chart.
func schemaOf(t *testing.T, chart string) *jsonschema.Schema {
	t.Helper()
	c, err := Package(os.DirFS(chart), os.DirFS(shared))
	assert.NilError(t, err)
	schema, err := jsonschema.CompileString(chart, string(contents(t, c)[chart+"/"+schemaFile]))
	assert.NilError(t, err)
	return schema
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	assert.NilError(t, err)
	err = yaml.Unmarshal(data, into)
	assert.Assert(t, err == nil, "%s: %v", file, err)
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
