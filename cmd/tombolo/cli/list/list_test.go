package list

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/automation/backend"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/streams"
	"tombolo/cmd/tombolo/render"
)

type driver struct {
	found []automation.ClusterInfo
	dir   string
}

func (d *driver) List(_ context.Context, dir string) ([]automation.ClusterInfo, error) {
	d.dir = dir
	return d.found, nil
}

func run(t *testing.T, d *driver, json bool) (out, errOut string) {
	t.Helper()
	s, _, stdout, stderr := streams.Test()
	f := &factory.Factory{Streams: s, Globals: &factory.Globals{Output: render.Text}}
	cmd := NewCmdList(f, func(ctx context.Context, o *Options) error {
		o.Root = func() (string, error) { return "project", nil }
		o.Driver = func(context.Context, automation.Observer) (Driver, error) { return d, nil }
		o.JSON = func() bool { return json }
		return listRun(ctx, o)
	})
	cmd.SetArgs([]string{})
	assert.NilError(t, cmd.ExecuteContext(t.Context()))
	return stdout.String(), stderr.String()
}

func TestList(t *testing.T) {
	updated := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	d := &driver{found: []automation.ClusterInfo{
		{Name: "demo", Environment: "dev", Region: "eu-central-1", File: "clusters/demo.yaml", Stacks: []backend.StackInfo{
			{Name: "demo-core", Kind: "core", Resources: 31, LastUpdate: updated.Add(-time.Hour)},
			{Name: "demo-bootstrap", Kind: "bootstrap", Resources: 14, LastUpdate: updated, Updating: true},
		}},
		{Name: "prod", Environment: "prod", Region: "eu-west-1", Wave: 2, File: "clusters/prod.yaml"},
		{Name: "old", Stacks: []backend.StackInfo{{Name: "old-core", Kind: "core", Resources: 3}}},
	}}
	out, _ := run(t, d, false)
	want := `CLUSTER         ENVIRONMENT   REGION         WAVE   CORE   BOOTSTRAP       LAST UPDATE
demo            dev           eu-central-1   0      31     14 (updating)   2026-01-02 03:04:05
prod            prod          eu-west-1      2      -      -               -
old (no file)   -             -              0      3      -               -
`
	assert.Check(t, is.Equal(out, want))
	assert.Check(t, d.dir == filepath.Join("project", "clusters"), "the driver looked into %s", d.dir)
}

func TestListEmpty(t *testing.T) {
	out, errOut := run(t, &driver{}, false)
	if want := "there is no cluster: neither a file in clusters/ nor a stack in the backend\n"; out != "" || errOut != want {
		t.Errorf("got %q and %q, want %q", out, errOut, want)
	}
	out, _ = run(t, &driver{}, true)
	assert.Check(t, is.Equal(out, `{"type":"clusters","clusters":[]}`+"\n"))
}
