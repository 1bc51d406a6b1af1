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
	"tombolo/cmd/tombolo/cli/clitest"
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

func run(t *testing.T, d *driver, format render.Format) (out, errOut string) {
	t.Helper()
	f := clitest.New(t, format)
	cmd := NewCmdList(f.Factory, func(ctx context.Context, o *Options) error {
		o.Driver = func(context.Context, automation.Observer) (Driver, error) { return d, nil }
		return listRun(ctx, o)
	})
	assert.NilError(t, clitest.Execute(t, cmd))
	return f.Out.String(), f.ErrOut.String()
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
	out, _ := run(t, d, render.Text)
	want := `CLUSTER         ENVIRONMENT   REGION         WAVE   CORE   BOOTSTRAP       LAST UPDATE
demo            dev           eu-central-1   0      31     14 (updating)   2026-01-02 03:04:05
prod            prod          eu-west-1      2      -      -               -
old (no file)   -             -              0      3      -               -
`
	assert.Check(t, is.Equal(out, want))
	assert.Check(t, filepath.Base(d.dir) == "clusters", "the driver looked into %s", d.dir)
}

func TestListEmpty(t *testing.T) {
	out, errOut := run(t, &driver{}, render.Text)
	if want := "there is no cluster: neither a file in clusters/ nor a stack in the backend\n"; out != "" || errOut != want {
		t.Errorf("got %q and %q, want %q", out, errOut, want)
	}
	out, _ = run(t, &driver{}, render.JSON)
	assert.Check(t, is.Equal(out, `{"type":"clusters","clusters":[]}`+"\n"))
}
