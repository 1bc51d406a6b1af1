//go:build lab

package lab

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/bucket"
	"tombolo/tests/tier"
)

// TestStateInABucket keeps the state in a bucket: the driver makes a cluster and
// finds it as it made it, and so does plain pulumi on a machine that has nothing
// but the project. Who may only read the bucket can preview and look for drift. No
// secret is readable in it, and the state moves on by the runbook.
func TestStateInABucket(t *testing.T) {
	tier.Long(t, "the state in a bucket; automation has its locks and its reads in the short tier")
	p := newProject(t)
	b := bucket.Serve(t)
	another(t, p, "demo", "second", "10.21.0.0/16")
	p.must(t, "lab", "up", "--profile", "light")
	up := func() result {
		return lastResult(t, p.must(t, "up", "demo", "--yes", "--force", "--output", "json", "--backend", b.URL()))
	}
	up().created(t)
	up().unchanged(t)
	plain := newPlain(t, p)
	for _, stack := range []string{"demo-core", "demo-bootstrap"} {
		plain.sh(t, "PULUMI_BACKEND_URL='"+b.URL()+"' pulumi preview --stack "+stack+" --non-interactive --expect-no-changes")
	}
	t.Run("may only be read", func(t *testing.T) { readOnly(t, p, b) })
	secretsAreSecret(t, p, b)
	t.Run("moves", func(t *testing.T) { movesByTheRunbook(t, plain, b) })
	p.must(t, "destroy", "demo", "--yes", "--remove", "--backend", b.URL())
	p.nothingExists(t)
	for key := range b.Objects(t) {
		state := strings.Contains(key, "/stacks/") && strings.HasSuffix(key, ".json")
		assert.Check(t, !state && !strings.Contains(key, "/locks/"), "the bucket still has %s", key)
	}
}

// readOnly previews what there is and what there is not yet, as the pipeline of a
// pull request does, which has a role that reads.
func readOnly(t *testing.T, p project, b *bucket.Bucket) {
	b.SetReadOnly(true)
	defer b.SetReadOnly(false)
	lastResult(t, p.must(t, "preview", "demo", "--output", "json", "--backend", b.URL())).unchanged(t)
	lastResult(t, p.must(t, "preview", "second", "--output", "json", "--backend", b.URL())).created(t)
	p.must(t, "drift", "demo", "--backend", b.URL())
	refused := b.Refused()
	assert.Check(t, len(refused) == 0, "what only looks asked for %q", refused)
	o := p.run(t, "up", "second", "--yes", "--backend", b.URL())
	assert.Check(t, o.code != 0 && strings.Contains(o.stderr, "AccessDenied") && len(b.Refused()) > 0,
		"an up that may not write: exit code %d\n%s", o.code, o.stderr)
}

// secretsAreSecret: the state has the credentials of the repository, encrypted.
func secretsAreSecret(t *testing.T, p project, b *bucket.Bucket) {
	t.Helper()
	env := p.labEnv(t)
	encrypted := 0
	for key, content := range b.Objects(t) {
		for _, name := range []string{"TOMBOLO_GIT_TOKEN", "PULUMI_CONFIG_PASSPHRASE"} {
			assert.Check(t, env[name] != "" && !strings.Contains(content, env[name]), "%s can be read in %s", name, key)
		}
		encrypted += strings.Count(content, `"ciphertext"`)
	}
	if encrypted == 0 {
		t.Errorf("nothing in the bucket is encrypted: %v", slices.Sorted(maps.Keys(b.Objects(t))))
	}
}

// movesByTheRunbook moves the state into the lab's directory, as the runbook says,
// and finds nothing to change.
func movesByTheRunbook(t *testing.T, p plain, b *bucket.Bucket) {
	env := p.labEnv(t)
	core := strings.NewReplacer("<name>", "demo", "<old>", "'"+b.URL()+"'", "<new>", "'"+env["PULUMI_BACKEND_URL"]+"'").
		Replace(runbook(t, "Move state"))
	p.sh(t, core)
	p.sh(t, strings.ReplaceAll(strings.ReplaceAll(core, "demo-core", "demo-bootstrap"), "core.json", "bootstrap.json"))
	lastResult(t, p.project.must(t, "preview", "demo", "--output", "json")).unchanged(t)
	var exported struct {
		Deployment struct{ Resources []json.RawMessage }
	}
	decode(t, p.read(t, "bootstrap.json"), &exported)
	assert.Check(t, len(exported.Deployment.Resources) > 0, "bootstrap's state was moved, and had nothing in it")
}

// runbook is the first block of commands below a heading of the runbooks.
func runbook(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/guide/recovery.md")
	assert.NilError(t, err)
	_, rest, found := strings.Cut(string(text), "\n### "+heading+"\n")
	_, rest, fenced := strings.Cut(rest, "\n```\n")
	block, _, closed := strings.Cut(rest, "```")
	assert.Assert(t, found && fenced && closed, "the runbooks have no commands below %q", heading)
	return block
}
