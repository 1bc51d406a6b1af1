package clusters

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/tests/bounded"
)

// TestManySpokes: a hub's file is read once for all of its spokes, and what is wrong with it is
// told once.
func TestManySpokes(t *testing.T) {
	dir := t.TempDir()
	text := func(name string) string {
		content, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "config", "testdata", "good", name))
		assert.NilError(t, err)
		return string(content)
	}
	write := func(name, text string) string {
		file := filepath.Join(dir, name+".yaml")
		assert.NilError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	var values strings.Builder
	values.WriteString("values:\n")
	for i := range 5000 {
		fmt.Fprintf(&values, "  key_%d: value\n", i)
	}
	hub := text("mgmt.yaml") + values.String()
	files := []string{write("mgmt", hub)}
	for i := range 100 {
		name := fmt.Sprintf("spoke-%d", i)
		files = append(files, write(name, strings.Replace(text("spoke.yaml"), "name: spoke\n", "name: "+name+"\n", 1)))
	}
	var all []*config.Cluster
	bounded.Read(t, func() {
		loaded, err := Load(files)
		assert.NilError(t, err)
		all, err = WithFleets(loaded)
		assert.NilError(t, err)
	})
	assert.Check(t, is.Len(all, 101))
	write("mgmt", hub+"more: 1\n")
	_, err := Load(files)
	assert.Check(t, is.Equal(strings.Count(err.Error(), "more: is not a known key"), 1))
}
