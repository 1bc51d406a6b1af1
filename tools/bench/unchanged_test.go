package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation"
	"tombolo/automation/approved"
	"tombolo/automation/clouds"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/programs"
)

// BenchmarkUnchanged is an up of many clusters of which nothing has changed since their last. One
// cluster is made. All others have its states under their names, recorded as an up by the program
// that is measured would have left them: an up without a refresh compares the states and the files
// alone.
func BenchmarkUnchanged(b *testing.B) {
	ofThisCommit(b)
	names := make([]string, 100)
	for i := range names {
		names[i] = fmt.Sprintf("bench%03d", i+1)
	}
	c := newCheckout(b, share, names...)
	c.run("up", names[0], "--lab", "--yes")
	c.copyStates(names[0], names[1:])
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("clusters=%d", n), func(b *testing.B) {
			cmd := c.command(c.ctx, c.tombolo, append([]string{"up", "--lab", "--yes", "--output", "json"}, names[:n]...)...)
			var told bytes.Buffer
			cmd.Stdout = &told
			u, err := measure(c.ctx, cmd)
			assert.NilError(b, err)
			assert.Equal(b, bytes.Count(told.Bytes(), []byte(`"unchangedSince"`)), n)
			u.report(b, "up")
		})
	}
}

// copyStates gives clusters the states of another one, in which their names take the place of its,
// and has them recorded.
func (c *checkout) copyStates(of string, to []string) {
	c.b.Helper()
	driver, err := automation.New(automation.Options{
		Root: c.dir, Programs: programs.All(), Clouds: clouds.All(), Env: c.labEnv(), Program: func() (approved.Program, error) { return approved.ProgramOf(c.tombolo) },
	})
	assert.NilError(c.b, err)
	dir := filepath.Join(c.dir, ".lab", "state", ".pulumi", "stacks", stacks.Project)
	for _, name := range to {
		for _, k := range stacks.Kinds() {
			text, err := os.ReadFile(filepath.Join(dir, stacks.Name(of, k)+".json"))
			assert.NilError(c.b, err)
			file := filepath.Join(dir, stacks.Name(name, k)+".json")
			assert.NilError(c.b, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), of, name)), 0o600))
		}
		cluster, err := config.Load(c.clusterFile(name))
		assert.NilError(c.b, err)
		assert.NilError(c.b, driver.Record(c.ctx, cluster))
	}
}
