package automation

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/approved"
	"tombolo/automation/fault"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/tests/files"
)

// ownStacks gives the project of a driver a stack of its own in each place.
func ownStacks(t *testing.T, b *bench) {
	t.Helper()
	root := b.opts.Root
	write := func(name, text string) {
		t.Helper()
		files.Write(t, filepath.Join(root, name), text)
	}
	write("Pulumi.yaml", "name: tombolo\n")
	write(config.StacksFile, `version: 1
stacks:
  - {name: alarm, program: own/alarm, order: after-bootstrap}
  - {name: bucket, program: own/bucket, order: before-core}
  - {name: database, program: own/database, order: after-core, clusters: "tombolo/cluster=demo"}
`)
	for _, name := range []string{"alarm", "bucket", "database"} {
		write("own/"+name+"/Pulumi.yaml", "name: "+name+"\nruntime: nodejs\n")
	}
}

// withOwnStacks is a bench with own stacks, of which nothing is deployed.
func withOwnStacks(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	ownStacks(t, b)
	return b
}

// whole is the whole name of a stack of the demo cluster.
func whole(name string) string { return "organization/" + name + "/demo-" + name }

// eachCall has an operation before the name of each stack.
func eachCall(operation string, names ...string) []string {
	for i := range names {
		names[i] = operation + " " + names[i]
	}
	return names
}

func TestOwnStacksInTheOrder(t *testing.T) {
	b := withOwnStacks(t)
	all := []string{whole("bucket"), "demo-core", whole("database"), "demo-bootstrap", whole("alarm")}
	told := map[string]bool{}
	b.cli.during = func(call string) { told[call] = slices.Contains(b.cli.env, "TOMBOLO_CLUSTER=demo") }
	result := b.mustUp(t, demo(), UpOptions{})
	assert.DeepEqual(t, b.cli.operations(), eachCall("up", slices.Clone(all)...))
	assert.Check(t, told["up "+whole("database")] && !told["up demo-core"])
	assert.Check(t, is.Equal(result.Stacks[2].Stack, "demo-database"))
	assert.Check(t, slices.Contains(b.seen.lines, "started up demo-database"))
	b.cli.calls = nil
	b.mustDestroy(t, demo(), DestroyOptions{Remove: true})
	slices.Reverse(all)
	assert.DeepEqual(t, b.cli.operations(), eachCall("destroy", all...))
	assert.Check(t, is.Len(b.cli.states, 0))
}

// TestOwnStacksOfOtherClusters are not run.
func TestOwnStacksOfOtherClusters(t *testing.T) {
	b := withOwnStacks(t)
	c := demo()
	c.Name = "other"
	b.mustUp(t, c, UpOptions{})
	assert.DeepEqual(t, b.cli.operations(), eachCall("up", "organization/bucket/other-bucket", "other-core", "other-bootstrap", "organization/alarm/other-alarm"))
}

// TestOwnStackFails: what comes after it is not begun, and the next up goes on.
func TestOwnStackFails(t *testing.T) {
	b := withOwnStacks(t)
	b.cli.fail["up "+whole("database")] = failure{once: true, diagnostics: []apitype.DiagnosticEvent{{Severity: "error", Message: "no such engine version"}}}
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	failed := new(fault.Error)
	assert.Assert(t, errors.As(err, &failed) && failed.Class == fault.Deployment, "%v", err)
	assert.Check(t, errors.As(err, new(*pulumicli.Error)))
	for _, want := range []string{"own stack demo-database, program in own/database, between core and bootstrap: up demo-database: ", "no such engine version", "what comes after it was not begun"} {
		assert.Check(t, is.ErrorContains(err, want))
	}
	assert.DeepEqual(t, b.cli.operations(), eachCall("up", whole("bucket"), "demo-core", whole("database")))
	b.mustUp(t, demo(), UpOptions{Previewed: true})
	assert.Check(t, is.Len(b.cli.outputs("demo-bootstrap"), 2))
}

// TestUpRunsOwnStacksEachTime, and leaves core and bootstrap of an unchanged cluster alone, unless an own stack that
// comes before bootstrap has changed.
func TestUpRunsOwnStacksEachTime(t *testing.T) {
	b := raised(t, demo(), nil)
	ownStacks(t, b)
	_, unchanged := b.Unchanged(t.Context(), demo())
	assert.Check(t, !unchanged)
	_, err := b.Up(t.Context(), demo(), UpOptions{}) // which makes them
	assert.NilError(t, err)
	assert.DeepEqual(t, b.cli.operations(), eachCall("up", whole("bucket"), whole("database"), "demo-bootstrap", whole("alarm")))
	b.cli.calls = nil
	b.mustUp(t, demo(), UpOptions{})
	assert.DeepEqual(t, b.cli.operations(), eachCall("up", whole("bucket"), whole("database"), whole("alarm")))
}

// readsDatabase is a cluster that takes a value from its own stack.
func readsDatabase() *config.Cluster {
	c := demo()
	c.Values = map[string]config.Value{"host": {FromStack: "database/demo-database", Output: "stack"}}
	return c
}

// TestUpAwaitsOutputsOfOwnStacks: a stack that comes before bootstrap need not exist.
func TestUpAwaitsOutputsOfOwnStacks(t *testing.T) {
	b := withOwnStacks(t)
	b.mustUp(t, readsDatabase(), UpOptions{})
}

// TestPreviewOfOwnStacks: before core exists, a program that comes after it is not run, and what it puts out is not known.
func TestPreviewOfOwnStacks(t *testing.T) {
	b := withOwnStacks(t)
	result := b.mustPreview(t, readsDatabase(), PreviewOptions{})
	assert.DeepEqual(t, b.cli.operations(), eachCall("preview", whole("bucket"), "demo-core", "demo-bootstrap"))
	assert.DeepEqual(t, result.Unseen, []string{
		"own stack demo-database (program in own/database, between core and bootstrap) is not previewed: core, whose outputs its program may read, does not exist yet",
		"own stack demo-alarm (program in own/alarm, after bootstrap) is not previewed: core, whose outputs its program may read, does not exist yet",
	})
	told, is := b.toldStacks[whole("database")]
	assert.Check(t, is && told == nil)
	assert.Check(t, len(b.cli.states) == 0, "a preview has made %v", b.cli.states)
	c := readsDatabase()
	c.File = filepath.Join(t.TempDir(), "demo.yaml")
	assert.NilError(t, os.WriteFile(c.File, []byte("name: demo\n"), 0o600))
	_, err := b.Preview(t.Context(), c, PreviewOptions{Plan: true})
	assert.ErrorContains(t, err, "a plan has all stacks of a cluster")

	b.mustUp(t, readsDatabase(), UpOptions{})
	b.cli.calls = nil
	result = b.mustPreview(t, readsDatabase(), PreviewOptions{})
	assert.DeepEqual(t, b.cli.operations(), eachCall("preview", whole("bucket"), "demo-core", whole("database"), "demo-bootstrap", whole("alarm")))
	assert.Check(t, b.toldStacks == nil, "it is told what it can read: %v", b.toldStacks)
}

// TestProgramsOfAChangeAreNotRun: without a directory that is trusted, own stacks are named.
func TestProgramsOfAChangeAreNotRun(t *testing.T) {
	b := withOwnStacks(t)
	b.opts.Settings = t.TempDir()
	result := b.mustPreview(t, demo(), PreviewOptions{})
	assert.DeepEqual(t, b.cli.operations(), eachCall("preview", "demo-core", "demo-bootstrap"))
	assert.Check(t, is.Len(result.Unseen, 3))
	assert.Check(t, is.Contains(result.Unseen[0], "own stack demo-bucket (program in own/bucket, before core) is not previewed: a program that a change may have written is not run"))
	b.opts.OwnPrograms = b.opts.Root
	b.mustPreview(t, demo(), PreviewOptions{})
	assert.Check(t, slices.Contains(b.cli.operations(), "preview "+whole("bucket")))
}

// TestOwnStacksWithSecrets are not previewed where nothing is decrypted.
func TestOwnStacksWithSecrets(t *testing.T) {
	b := withOwnStacks(t)
	b.mustUp(t, demo(), UpOptions{})
	b.cli.states[whole("bucket")].Resources[0].Outputs["key"] = map[string]any{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:abc"}
	assert.NilError(t, os.WriteFile(filepath.Join(b.opts.Root, "own/alarm/Pulumi.demo-alarm.yaml"), []byte("config:\n  alarm:token:\n    secure: v1:abc\n"), 0o600))
	result := b.mustPreview(t, demo(), PreviewOptions{WithoutSecrets: true})
	assert.Check(t, is.Len(result.Unseen, 2))
	for _, line := range result.Unseen {
		assert.Check(t, is.Contains(line, "it has secrets, and this preview decrypts none"))
	}
}

// TestPlansHaveOwnStacks: an up does with them what was approved, and nothing else.
func TestPlansHaveOwnStacks(t *testing.T) {
	b := withOwnStacks(t)
	c := demo()
	c.File = filepath.Join(t.TempDir(), "demo.yaml")
	assert.NilError(t, os.WriteFile(c.File, []byte("name: demo\n"), 0o600))
	b.mustUp(t, c, UpOptions{})
	const urn = "urn:pulumi:demo-database::database::random:index/randomPet:RandomPet::name"
	step := func(length int) apitype.EngineEvent {
		return announced(apitype.OpCreate, urn, map[string]any{"length": length})
	}
	b.cli.plan = map[string][]apitype.EngineEvent{"preview " + whole("database"): {step(2)}}
	result := b.mustPreview(t, c, PreviewOptions{Plan: true})
	planned := result.Plan.Stack("database")
	assert.Assert(t, planned != nil && len(planned.Steps) == 1, "%+v", result.Plan)
	b.cli.calls = nil
	b.cli.plan["preview "+whole("database")] = []apitype.EngineEvent{step(3)}
	_, err := b.Up(t.Context(), c, UpOptions{Approved: result.Plan})
	assert.Check(t, errors.As(err, new(*approved.Error)), "%v", err)
	assert.Check(t, !slices.Contains(b.cli.operations(), "up "+whole("database")))
	b.cli.plan["preview "+whole("database")] = []apitype.EngineEvent{step(2)}
	b.cli.calls = nil
	b.mustUp(t, c, UpOptions{Approved: result.Plan})
	assert.Check(t, slices.Contains(b.cli.operations(), "up "+whole("database")))
	assert.Check(t, !slices.Contains(b.cli.operations(), "up "+whole("bucket")))
}

// TestDataOfOwnStacks: with data that is kept own stacks stay, and those after core keep core.
func TestDataOfOwnStacks(t *testing.T) {
	b := withOwnStacks(t)
	b.mustUp(t, demo(), UpOptions{})
	b.cli.calls = nil
	_, err := b.Destroy(t.Context(), demo(), DestroyOptions{KeepData: true})
	assert.ErrorContains(t, err, "destroy --keep-data demo: what own stacks have that are made after core may be in its network: demo-database (program in own/database) and demo-alarm (program in own/alarm)")
	_, err = b.PlanRebuild(t.Context(), demo(), RebuildOptions{})
	assert.ErrorContains(t, err, "rebuild demo: what own stacks have")
	assert.Check(t, is.Len(b.cli.operations(), 0))
	for _, name := range []string{"database", "alarm"} {
		delete(b.cli.states, whole(name))
	}
	b.mustDestroy(t, demo(), DestroyOptions{KeepData: true})
	assert.DeepEqual(t, b.cli.operations(), eachCall("destroy", "demo-bootstrap", "demo-core"))
	assert.Check(t, slices.ContainsFunc(b.seen.notes(), func(line string) bool { return strings.Contains(line, "note demo-bucket: stays as it is") }))
}

// TestBadFileOfOwnStacks: nothing is started.
func TestBadFileOfOwnStacks(t *testing.T) {
	b := newBench(t)
	assert.NilError(t, os.WriteFile(filepath.Join(b.opts.Root, config.StacksFile), []byte("version: 1\n"), 0o600))
	for name, do := range map[string]func(context.Context) error{
		"up":      func(ctx context.Context) error { _, err := b.Up(ctx, demo(), UpOptions{}); return err },
		"preview": func(ctx context.Context) error { _, err := b.Preview(ctx, demo(), PreviewOptions{}); return err },
		"destroy": func(ctx context.Context) error { _, err := b.Destroy(ctx, demo(), DestroyOptions{}); return err },
	} {
		assert.Check(t, is.ErrorContains(do(t.Context()), "stacks: is required and missing"), name)
	}
	assert.Check(t, is.Len(b.cli.operations(), 0))
}
