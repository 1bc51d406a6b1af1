//go:build lab

package automation

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/automation/drift"
	"tombolo/stacks/owner"
	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// TestDriftWithTheRealCLI: drift is found while somebody else has the lock, and
// the backend is the same afterwards, to the byte.
func TestDriftWithTheRealCLI(t *testing.T) {
	tier.Short(t, "a look for drift beside somebody with the lock changes no byte of a backend")
	t.Parallel()
	d, _ := realBench(t, func(p *pulumi.Context) error {
		if _, err := owner.New(p, ""); err != nil {
			return err
		}
		return roles("kept", "lost")(p)
	})
	c, attach := serveCloud(t)
	d.env["PULUMI_DEBUG_PROVIDERS"] = attach
	_, err := d.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.NilError(t, err)
	delete(c.roles, "lost")
	backend, _ := d.backend.Directory()
	lock := filepath.Join(backend, ".pulumi", "locks", "organization", "tombolo", "demo-core", "other.json")
	files.Write(t, lock, `{"pid":1,"hostname":"elsewhere","username":"ada"}`)
	before := contents(t, backend)
	report, err := d.Drift(t.Context(), demo(), DriftOptions{})
	assert.NilError(t, err)
	assert.DeepEqual(t, contents(t, backend), before)
	// The program is that of both stacks.
	assert.DeepEqual(t, report.Differences, []drift.Difference{
		{Class: drift.Missing, Stack: "demo-core", Type: "aws:iam/role:Role", Name: "lost", ID: "lost", URN: "urn:pulumi:demo-core::tombolo::aws:iam/role:Role::lost"},
		{Class: drift.Missing, Stack: "demo-bootstrap", Type: "aws:iam/role:Role", Name: "lost", ID: "lost", URN: "urn:pulumi:demo-bootstrap::tombolo::aws:iam/role:Role::lost"},
		{Class: drift.Unexpected, Type: "ec2:vpc", Name: "vpc-1", CloudID: "arn:aws:ec2:eu-central-1:111122223333:vpc/vpc-1"},
	})
	if report.Stacks[0].Resources != 2 || report.Stacks[0].Busy == "" {
		t.Errorf("core: %+v", report.Stacks[0])
	}
	assert.NilError(t, os.Remove(lock))
	if result, err := d.Up(t.Context(), demo(), UpOptions{Refresh: true}); err != nil || len(c.roles) != 2 {
		t.Errorf("after an up that refreshes there are %v, %v, %v", c.roles, result, err)
	}
}

// contents of all files below a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		out[path] = string(text)
		return err
	})
	assert.NilError(t, err)
	return out
}
