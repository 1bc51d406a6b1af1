package status

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/factory"
)

func TestLastDrift(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{".tombolo", ".lab"} {
		assert.NilError(t, os.MkdirAll(filepath.Join(root, dir, "drift"), 0o755))
	}
	assert.NilError(t, os.WriteFile(filepath.Join(root, "Pulumi.yaml"), []byte("name: tombolo\n"), 0o644))
	report := `{"cluster": "demo", "at": "2026-01-02T03:04:05Z", "differences": [
  {"class": "missing", "resource": "aws:ec2/eip:Eip", "name": "nat"},
  {"class": "changed", "resource": "aws:ec2/vpc:Vpc", "name": "demo"},
  {"class": "unexpected", "resource": "ec2:volume", "name": "vol-1"}], "seconds": 3}`
	assert.NilError(t, os.WriteFile(filepath.Join(root, ".lab", "drift", "demo.json"), []byte(report), 0o644))
	f := &factory.Factory{Globals: &factory.Globals{Root: root, Lab: true}, Dir: root}
	got, err := lastDrift(f, "demo")
	assert.NilError(t, err)
	want := &Drift{
		At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Missing: 1, Changed: 1, Unexpected: 1,
		Resources: []string{"missing aws:ec2/eip:Eip nat", "changed aws:ec2/vpc:Vpc demo", "unexpected ec2:volume vol-1"},
	}
	assert.Check(t, is.DeepEqual(got, want))
	f.Globals.Lab = false
	if got, err = lastDrift(f, "demo"); got != nil || err != nil {
		t.Errorf("outside of the lab: got %+v, %v; want nothing", got, err)
	}
	assert.NilError(t, os.WriteFile(filepath.Join(root, ".tombolo", "drift", "demo.json"), []byte("{"), 0o644))
	if _, err = lastDrift(f, "demo"); err == nil || !strings.Contains(err.Error(), "delete the file, `tombolo drift` writes it again") {
		t.Errorf("a torn file: got %v", err)
	}
}
