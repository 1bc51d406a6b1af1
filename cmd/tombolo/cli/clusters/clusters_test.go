package clusters

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/config"
)

func project(t *testing.T, files ...string) func() (string, error) {
	t.Helper()
	root := t.TempDir()
	assert.NilError(t, os.Mkdir(filepath.Join(root, dir), 0o755))
	for _, name := range files {
		assert.NilError(t, os.WriteFile(filepath.Join(root, dir, name), nil, 0o644))
	}
	return func() (string, error) { return root, nil }
}

func TestKnown(t *testing.T) {
	root, _ := project(t, "staging.yaml", "demo.yaml", "Pulumi.demo-core.yaml", "_defaults.yaml", "README.md")()
	got, err := Known(root)
	if want := []string{"demo", "staging"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if got, err := Known(t.TempDir()); err != nil || len(got) > 0 {
		t.Errorf("without the directory: got %v, %v", got, err)
	}
}

// TestLoadAll: with all clusters, shared settings that none of them has are a problem; with some, they
// may be of the others.
func TestLoadAll(t *testing.T) {
	good, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "config", "testdata", "good", "minimal.yaml"))
	assert.NilError(t, err)
	root := project(t)
	base, _ := root()
	write := func(name, text string) {
		assert.NilError(t, os.WriteFile(filepath.Join(base, dir, name), []byte(text), 0o600))
	}
	write("minimal.yaml", string(good))
	write("_defaults.yaml", "protect: true\n")
	write("_dev.yaml", "labels: {a: b}\n")
	all, err := LoadAll(root)
	assert.NilError(t, err)
	assert.Check(t, is.Len(all, 1))
	assert.Check(t, all[0].Protect && all[0].Labels["a"] == "b")
	write("_dve.yaml", "labels: {a: b}\n")
	_, err = LoadAll(root)
	assert.ErrorContains(t, err, `_dve.yaml:1:1: is for the environment "dve", which no cluster has; did you mean _dev.yaml?`)
	files, err := Files(root, []string{"minimal"})
	assert.NilError(t, err)
	_, err = Load(files)
	assert.NilError(t, err)
}

func TestFiles(t *testing.T) {
	root := project(t, "demo.yaml")
	base, _ := root()
	byName := filepath.Join(base, "clusters", "demo.yaml")
	got, err := Files(root, []string{"demo", byName, "demo"})
	if want := []string{byName}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestPathNeedsNoProject(t *testing.T) {
	base, _ := project(t, "demo.yaml")()
	root := func() (string, error) { return "", errors.New("no project here") }
	if _, err := Files(root, []string{filepath.Join(base, "clusters/demo.yaml")}); err != nil {
		t.Error(err)
	}
	if _, err := Files(root, []string{"demo"}); err == nil || err.Error() != "no project here" {
		t.Errorf("a name without a project: got %v", err)
	}
}

func TestUnknown(t *testing.T) {
	root := project(t, "demo.yaml", "staging.yaml")
	for arg, want := range map[string]string{
		"dmeo":       `cluster "dmeo" is not known, did you mean "demo"?; known are: demo, staging; or give the path of a cluster file`,
		"production": `cluster "production" is not known; known are: demo, staging; or give the path of a cluster file`,
		"./x.yaml":   `cluster file ./x.yaml cannot be read: no such file or directory; check the path`,
	} {
		_, err := Files(root, []string{arg})
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", arg, err, want)
		}
		assert.Check(t, fault.Is(err, fault.Usage), "%s: %v is not of class usage", arg, err)
	}
	_, err := Files(project(t), []string{"demo"})
	want := `cluster "demo" is not known: there is no cluster file in clusters/; write clusters/demo.yaml, or give the path of a cluster file`
	assert.Check(t, is.Error(err, want))
}

func TestNames(t *testing.T) {
	var all []*config.Cluster
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		all = append(all, &config.Cluster{Name: name})
	}
	assert.Check(t, is.Equal(Names(all), "a, b, c, d, e"))
	assert.Check(t, is.Equal(Names(append(all, &config.Cluster{Name: "f"})), "6 clusters"))
}
