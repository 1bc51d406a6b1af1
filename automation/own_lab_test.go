//go:build lab

package automation

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/preview"
	"tombolo/config"
	"tombolo/tests/tier"
)

// TestOwnStacksWithTheRealCLI: a program in a directory of its own is run, previewed in a backend that is thrown away, and
// destroyed, with a state in a directory and in a bucket.
func TestOwnStacksWithTheRealCLI(t *testing.T) {
	tier.Long(t, "a team's own program is run by the real CLI with two backends; unit tests hold the order")
	t.Parallel()
	program := filepath.Join(t.TempDir(), "program")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./testdata/own").CombinedOutput()
	assert.NilError(t, err, string(out))
	for name, backend := range map[string]func(*testing.T) string{"directory": inDirectory, "bucket": inBucket} {
		t.Run(name, func(t *testing.T) {
			d, _ := realBenchIn(t, backend(t), func(p *pulumi.Context) error {
				p.Export("plain", pulumi.String("shown"))
				return nil
			})
			ownTeam{d, filepath.Join(d.opts.Root, "own")}.lives(t, program)
		})
	}
}

// ownTeam has a program in a directory of the project.
type ownTeam struct {
	*Driver
	dir string
}

func (o ownTeam) write(t *testing.T, name, text string) {
	t.Helper()
	assert.NilError(t, os.MkdirAll(o.dir, 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600))
}

// set adds settings to what encrypts the stack's secrets.
func (o ownTeam) set(t *testing.T, host, broken string) {
	t.Helper()
	text, _ := os.ReadFile(filepath.Join(o.dir, "Pulumi.demo-database.yaml"))
	kept, _, _ := strings.Cut(string(text), "config:")
	o.write(t, "Pulumi.demo-database.yaml", kept+"config:\n  database:host: "+host+"\n  database:broken: "+broken+"\n")
}

func (o ownTeam) lives(t *testing.T, program string) {
	o.write(t, "../Pulumi.yaml", "name: tombolo\n")
	o.write(t, "../"+config.StacksFile, "version: 1\nstacks:\n  - {name: database, program: own, order: after-core}\n")
	o.write(t, "Pulumi.yaml", "name: database\nruntime: {name: go, options: {binary: ./program}}\n")
	assert.NilError(t, os.Symlink(program, filepath.Join(o.dir, "program")))
	o.set(t, "one", "true")
	_, err := o.Up(t.Context(), demo(), UpOptions{})
	assert.ErrorContains(t, err, "own stack demo-database, program in own, between core and bootstrap: up demo-database: ")
	assert.ErrorContains(t, err, "no such version of the database")
	first, err := o.own().Of(demo())
	assert.NilError(t, err)
	o.set(t, "one", "false")
	for i := range 2 {
		result, err := o.Up(t.Context(), demo(), UpOptions{})
		assert.NilError(t, err)
		database, _ := result.Stack("database")
		assert.DeepEqual(t, database.Outputs, map[string]any{"host": "one", "core": "shown"})
		t.Logf("up %d: %s, own stack %s", i, result.Duration, database.Duration)
	}
	locks, err := o.backend.Locks(t.Context(), first[0].Whole("demo"))
	assert.Check(t, err == nil && len(locks) == 0, "%v, %v", locks, err)
	o.set(t, "two", "false")
	for _, po := range []preview.Options{{}, {WithoutSecrets: true}, {States: true}} {
		seen, omitted, err := o.own().Preview(t.Context(), demo(), first[0], po)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(omitted, ""))
		assert.DeepEqual(t, seen.NextOutputs(), map[string]any{"host": "two", "core": "shown"})
	}
	_, err = o.Destroy(t.Context(), demo(), DestroyOptions{Remove: true})
	assert.NilError(t, err)
	st, err := o.backend.State(t.Context(), first[0].Whole("demo"))
	assert.Check(t, err == nil && st == nil)
}
