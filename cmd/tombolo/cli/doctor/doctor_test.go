package doctor

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/automation/preflight"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/config/strict"
)

type driver []preflight.Report

func (d driver) Doctor(context.Context, []*config.Cluster) ([]preflight.Report, error) { return d, nil }

func run(t *testing.T, format render.Format, reports ...preflight.Report) (stdout, stderr string, err error) {
	t.Helper()
	return runOn(t, &config.Cluster{Name: "one"}, format, reports...)
}

func runOn(t *testing.T, c *config.Cluster, format render.Format, reports ...preflight.Report) (stdout, stderr string, err error) {
	t.Helper()
	f := clitest.New(t, format)
	cmd := NewCmdDoctor(f.Factory, func(ctx context.Context, o *Options) error {
		o.Clusters = clitest.Clusters(c)
		o.Driver = func(context.Context, automation.Observer) (Driver, error) { return driver(reports), nil }
		return doctorRun(ctx, o)
	})
	return f.Run(t, cmd, "one", "two")
}

var (
	tools = preflight.Good("tools", "all are there")
	token = preflight.Bad("credentials", preflight.Warn, "renew them", "they end soon")
	quota = preflight.Bad("quota", preflight.Fail, "ask for more", "5 of 5 are used")
)

func TestDoctor(t *testing.T) {
	stdout, stderr, err := run(t, render.Text,
		preflight.Report{Cluster: "one", Findings: []preflight.Finding{tools, token}},
		preflight.Report{Cluster: "two", Findings: []preflight.Finding{tools, quota}},
		preflight.Report{Cluster: "three", Findings: []preflight.Finding{tools}},
	)
	const want = `RESULT   CLUSTER           CHECK         FOUND
ok       one, two, three   tools         all are there
warn     one               credentials   they end soon
fail     two               quota         5 of 5 are used
`
	assert.Check(t, is.Equal(stdout, want))
	if want := "► one: credentials: they end soon; renew them\n✗ two: quota: 5 of 5 are used; ask for more\n" +
		"✔ one: ready, with 1 warning\n✗ two: 1 of 2 checks failed\n✔ three: ready\n"; stderr != want {
		t.Errorf("got:\n%s\nwant:\n%s", stderr, want)
	}
	const wantErr = "an up would fail: two; follow the remedy of each finding, and run `tombolo doctor` again"
	if !fault.Is(err, fault.Precondition) || err.Error() != wantErr {
		t.Errorf("error is %v", err)
	}
}

func TestDoctorJSON(t *testing.T) {
	stdout, stderr, err := run(t, render.JSON, preflight.Report{Cluster: "one", Findings: []preflight.Finding{tools, token}})
	const want = `{"type":"doctor","ready":true,"cluster":"one","findings":[{"check":"tools","level":"ok","message":"all are there"},{"check":"credentials","level":"warn","message":"they end soon","remedy":"renew them"}]}
`
	if err != nil || stdout != want || stderr != "" {
		t.Errorf("got %v:\n%s\nwant:\n%s\nstderr:\n%s", err, stdout, want, stderr)
	}
}

// TestWarningsOfTheFile: doctor shows what the cluster file has warnings for, and is not
// less ready for it.
func TestWarningsOfTheFile(t *testing.T) {
	c := &config.Cluster{Name: "one", File: "one.yaml", Warnings: strict.Problems{
		{File: "one.yaml", Line: 9, Column: 12, Path: "kubernetes.version", Message: "1.34 is old", Remedy: "upgrade it"},
	}}
	report := preflight.Report{Cluster: "one", Findings: []preflight.Finding{tools}}
	_, stderr, err := runOn(t, c, render.Text, report)
	assert.NilError(t, err)
	assert.Equal(t, stderr, "one.yaml:9:12: warning: kubernetes.version: 1.34 is old; upgrade it\n✔ one: ready\n")

	stdout, stderr, err := runOn(t, c, render.JSON, report)
	assert.NilError(t, err)
	assert.Equal(t, stderr, "")
	assert.Equal(t, stdout, `{"type":"doctor","ready":true,"cluster":"one","findings":[{"check":"tools","level":"ok","message":"all are there"}],`+
		`"warnings":[{"file":"one.yaml","line":9,"column":12,"path":"kubernetes.version","message":"1.34 is old","remedy":"upgrade it"}]}
`)
}
