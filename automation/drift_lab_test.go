//go:build lab

package automation

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tombolo/automation/drift"
)

// TestDriftWithTheRealCLI: drift is found while somebody else has the lock, and
// the backend is the same afterwards, to the byte.
func TestDriftWithTheRealCLI(t *testing.T) {
	d, seen := realBench(t, roles("kept", "lost"))
	c, attach := serveCloud(t)
	d.env["PULUMI_DEBUG_PROVIDERS"] = attach
	if _, err := d.Up(t.Context(), demo(), UpOptions{}); err != nil {
		t.Fatal(err)
	}
	delete(c.roles, "lost")
	backend, _ := d.backend.Directory()
	lock := filepath.Join(backend, ".pulumi", "locks", "organization", "tombolo", "demo-core", "other.json")
	if err := os.MkdirAll(filepath.Dir(lock), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lock, []byte(`{"pid":1,"hostname":"elsewhere","username":"ada"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	before := contents(t, backend)
	report, err := d.Drift(t.Context(), demo())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, contents(t, backend)); diff != "" {
		t.Errorf("drift changed the backend (-before +after):\n%s", diff)
	}
	// The program is that of both stacks.
	want := []drift.Difference{
		{Class: drift.Missing, Stack: "demo-core", Type: "aws:iam/role:Role", Name: "lost", ID: "lost", URN: "urn:pulumi:demo-core::tombolo::aws:iam/role:Role::lost"},
		{Class: drift.Missing, Stack: "demo-bootstrap", Type: "aws:iam/role:Role", Name: "lost", ID: "lost", URN: "urn:pulumi:demo-bootstrap::tombolo::aws:iam/role:Role::lost"},
		{Class: drift.Unexpected, Type: "ec2:vpc", Name: "vpc-1", ARN: "arn:aws:ec2:eu-central-1:111122223333:vpc/vpc-1"},
	}
	if diff := cmp.Diff(want, report.Differences); diff != "" {
		t.Errorf("found (-want +got):\n%s\n%v", diff, seen.lines)
	}
	if report.Stacks[0].Resources != 2 || report.Stacks[0].Busy == "" {
		t.Errorf("core: %+v", report.Stacks[0])
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	return out
}
