package stackfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/strict"
)

// project is a directory with the file, and with programs by their directories.
func project(t *testing.T, text string, programs map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte("name: tombolo\n"), 0o600))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, File), []byte(text), 0o600))
	for at, project := range programs {
		assert.NilError(t, os.MkdirAll(filepath.Join(dir, at), 0o700))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, at, "Pulumi.yaml"), []byte("name: "+project+"\nruntime: nodejs\n"), 0o600))
	}
	return dir
}

func TestLoad(t *testing.T) {
	dir := project(t, `version: 1
stacks:
  - name: database
    program: stacks/database
    order: after-core
    clusters: environment=prod
  - {name: bucket, program: bucket, order: before-core}
`, map[string]string{"stacks/database": "shop-database", "bucket": "bucket"})
	all, err := Load(dir)
	assert.NilError(t, err)
	assert.Equal(t, len(all), 2)
	database := all[0]
	assert.Check(t, database.Order == AfterCore && database.Dir == filepath.Join(dir, "stacks/database"))
	assert.Check(t, is.Equal(database.Stack("demo"), "demo-database"))
	assert.Check(t, is.Equal(database.Whole("demo"), "organization/shop-database/demo-database"))
	assert.Check(t, database.Has(map[string]string{"environment": "prod"}) && !database.Has(map[string]string{"environment": "dev"}))
	assert.Check(t, all[1].Has(nil))
}

func TestLoadWithoutAFile(t *testing.T) {
	all, err := Load(t.TempDir())
	assert.Check(t, err == nil && all == nil)
}

// TestLoadBad: all that is wrong is reported together, each where it is.
func TestLoadBad(t *testing.T) {
	dir := project(t, `version: 2
stacks:
  - {name: database, program: ours, order: first}
  - {name: database, program: none, order: after-core, cluster: demo}
  - {name: eu-core, program: ../elsewhere, order: after-core}
  - {name: a, program: odd, order: after-core, clusters: "a==b==c"}
  - {name: b, program: x/../.., order: after-core}
  - {name: c, program: linked, order: after-core}
  - {name: d, program: here/x, order: after-core}
  - {name: eu-d, program: there/x, order: after-core}
  - {name: e, program: upper, order: after-core}
  - {name: f-e, program: there/x, order: after-core}
  - {name: g, program: there/x, order: after-core}
  - {name: eu-g, program: there/x, order: after-core}
`, map[string]string{"ours": "tombolo", "odd": "a/b", "there/x": "x", "upper": "Tombolo"})
	assert.NilError(t, os.Symlink(t.TempDir(), filepath.Join(dir, "linked")))
	assert.NilError(t, os.Symlink("there", filepath.Join(dir, "here")))
	_, err := Load(dir)
	var problems strict.Problems
	assert.Assert(t, errors.As(err, &problems), "%v", err)
	for _, want := range []string{
		":1:10: version: ",
		":3:44: stacks[0].order: \"first\" is not a place in the order",
		":3:31: stacks[0].program: the Pulumi.yaml in ours has the name tombolo",
		":4:12: stacks[1].name: \"database\" is already the name of a stack",
		":4:31: stacks[1].program: none has no Pulumi.yaml",
		":4:56: stacks[1].cluster: is not a known key; did you mean \"clusters\"?",
		":5:12: stacks[2].name: \"eu-core\" ends like a stack of Tombolo's",
		":5:30: stacks[2].program: \"../elsewhere\" is not a directory below this file's",
		":6:24: stacks[3].program: the Pulumi.yaml in odd has no name that a project of Pulumi may have",
		":6:58: stacks[3].clusters: \"a==b==c\" is not a selector",
		":7:24: stacks[4].program: \"x/../..\" is not below the directory of this file",
		":8:24: stacks[5].program: linked is a link; name the directory itself",
		":9:24: stacks[6].program: here is a link; name the directory itself",
		":11:24: stacks[8].program: the Pulumi.yaml in upper has the name tombolo",
		":14:12: stacks[11].name: \"eu-g\" ends like \"g\" of the same project, x: two clusters could have one stack; ",
	} {
		assert.Check(t, is.Contains(problems.Error(), want))
	}
	assert.Check(t, is.Len(problems, 15), problems.Error())
}
