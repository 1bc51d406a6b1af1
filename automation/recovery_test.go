package automation

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/recovery"
	"tombolo/config"
)

// interrupted is the state that an interrupted up of core has left.
func interrupted(t *testing.T) (d apitype.DeploymentV3) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("recovery", "testdata", "interrupted.json"))
	assert.NilError(t, err)
	assert.NilError(t, json.Unmarshal(raw, &d))
	return d
}

func TestUpRecoversInterruptedCreations(t *testing.T) {
	b := newBench(t)
	b.cli.states["demo-core"] = interrupted(t)
	b.cloud.lookup = func(context.Context, *config.Cluster, string, []recovery.Query) ([]recovery.Sighting, error) {
		return []recovery.Sighting{{CloudID: arnOf + "vpc/vpc-0new", Tags: map[string]string{"Name": "demo-vpc"}}}, nil
	}
	b.mustUp(t, demo(), UpOptions{})
	assert.DeepEqual(t, b.cli.operations(), []string{"refresh demo-core", "up demo-core", "up demo-bootstrap"})
	notes := strings.Join(b.seen.notes(), "\n")
	assert.Check(t, is.Contains(notes, "recovered: 7 operations were interrupted; adopted aws:ec2/vpc:Vpc demo-vpc vpc-0new"))
}

func TestPreviewOnlyNotesInterruptedOperations(t *testing.T) {
	b := newBench(t)
	b.cli.states["demo-core"] = interrupted(t)
	b.mustPreview(t, demo(), PreviewOptions{})
	want := "note demo-core: 7 operations were interrupted: the next up finds out what became of that"
	notes := b.seen.notes()
	assert.Check(t, len(notes) != 0 && notes[0] == want, "notes are %q", notes)
	got := b.cli.operations()
	assert.Check(t, !strings.Contains(strings.Join(got, " "), "refresh"), "operations are %v", got)
}
