package aws

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/iam"
	"tombolo/tests/files"
)

func TestStored(t *testing.T) {
	a := newAccount(t)
	a.Make(ec2.VPCType, "vpc", props{"cidrBlock": "10.0.0.0/16", "tags": map[string]any{"Name": "demo"}})
	a.Make(iam.RoleType, "role", props{"assumeRolePolicy": nodeTrust})
	// A write that a crash has cut short, which Open removes.
	cut := filepath.Join(a.Dir, "resources", "ec2", ".new-1")
	assert.NilError(t, os.WriteFile(cut, []byte("{"), 0o600))
	stored, err := Stored(a.Dir)
	assert.NilError(t, err)
	if diff := cmp.Diff(a.Cloud.Inventory(), stored); diff != "" || len(stored) != 2 {
		t.Errorf("stored are %d resources (-exist +stored):\n%s", len(stored), diff)
	}
	if _, err := os.Stat(cut); err != nil {
		t.Errorf("looking has changed what is stored: %v", err)
	}
}

func TestStoredWithoutState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "aws")
	if stored, err := Stored(dir); err != nil || len(stored) > 0 {
		t.Errorf("stored are %v, %v", stored, err)
	}
	damaged := filepath.Join(dir, "resources", "ec2", "Vpc-1.json")
	files.Write(t, damaged, "{")
	want := "read the state of the AWS stand-in: " + damaged + " is damaged: "
	if _, err := Stored(dir); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s…", err, want)
	}
}
