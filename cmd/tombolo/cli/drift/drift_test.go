package drift

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/automation/drift"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// looks has a report for each cluster. It changes none.
type looks map[string]drift.Report

// driver is what the command gets: it looks only, but in tests of the remediation.
type driver struct {
	looks
	Driver
}

func (d driver) Drift(ctx context.Context, c *config.Cluster, o automation.DriftOptions) (drift.Report, error) {
	return d.looks.Drift(ctx, c, o)
}

func (d looks) Drift(_ context.Context, c *config.Cluster, _ automation.DriftOptions) (drift.Report, error) {
	r := d[c.Name]
	r.Cluster = c.Name
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

var reports = looks{
	"clean": {Stacks: []drift.Stack{{Stack: "clean-core", Resources: 3}, {Stack: "clean-bootstrap", Skipped: "it was not deployed"}}},
	"demo": {
		Stacks: []drift.Stack{{Stack: "demo-core", Resources: 3}, {Stack: "demo-bootstrap", Resources: 2, Busy: "it is locked by ada"}},
		Differences: []drift.Difference{
			{Class: drift.Missing, Stack: "demo-core", Type: "aws:ec2/vpc:Vpc", Name: "demo", ID: "vpc-1"},
			{Class: drift.Changed, Stack: "demo-core", Type: "aws:ec2/subnet:Subnet", Name: "a", Properties: []drift.Property{
				{Path: "tags.owner", Expected: "ada", Actual: "bob"}, {Path: "tags.more", Actual: true}, {Path: "tags.less", Expected: 1.0},
			}},
			{Class: drift.Changed, Stack: "demo-bootstrap", Type: "kubernetes:core/v1:Secret", Name: "s", Properties: []drift.Property{
				{Path: "data.key", Expected: drift.Masked, Actual: drift.Masked},
			}},
			{Class: drift.Unexpected, Type: "ec2:security-group", Name: "sg-1", CloudID: "arn:aws:ec2:r:a:security-group/sg-1"},
		},
		LeftOut: []drift.LeftOut{{Maker: "Karpenter", Count: 2}},
	},
	"broken": {Error: "preview refresh broken-core: denied", Stacks: []drift.Stack{{Stack: "broken-core", Skipped: "denied"}}},
}

// run runs the command, and returns what it wrote and the store.
func run(t *testing.T, format render.Format, names ...string) (stdout, stderr string, store drift.Store, err error) {
	t.Helper()
	f := clitest.New(t, format)
	store = drift.Store{Dir: t.TempDir()}
	cmd := NewCmdDrift(f.Factory, func(ctx context.Context, o *Options) error {
		o.Clusters = clitest.Named(func(name string) *config.Cluster { return &config.Cluster{Name: name} })
		o.Driver = func(context.Context, automation.Observer) (Driver, error) { return driver{looks: reports}, nil }
		o.Looks = func() (drift.Store, error) { return store, nil }
		return driftRun(ctx, o)
	})
	err = clitest.Execute(t, cmd, names...)
	return f.Out.String(), f.ErrOut.String(), store, err
}

func TestDrift(t *testing.T) {
	stdout, stderr, store, err := run(t, render.Text, "demo")
	const wantErr = "drift in demo; put back what is missing or changed with `tombolo up demo --refresh`, or change the cluster file; " +
		"what is unexpected is for you to delete"
	if !fault.Is(err, fault.Drift) || err.Error() != wantErr {
		t.Errorf("error is %v", err)
	}
	const want = `FOUND        STACK            RESOURCE                    NAME   DIFFERENCE
missing      demo-core        aws:ec2:Vpc                 demo   vpc-1 is gone
changed      demo-core        aws:ec2:Subnet              a      tags.owner: "bob", expected "ada"
                                                                 tags.more: true was added
                                                                 tags.less: 1 is gone
changed      demo-bootstrap   kubernetes:core/v1:Secret   s      data.key: [secret], expected [secret]
unexpected   -                ec2:security-group          sg-1   arn:aws:ec2:r:a:security-group/sg-1
`
	assert.Check(t, is.Equal(stdout, want))
	const wantStatus = `! demo-bootstrap: it is locked by ada: the differences may be temporary
  left out: 2 made by Karpenter
✗ demo: 1 missing, 2 changed, 1 unexpected, 5 resources compared
`
	assert.Check(t, stderr == wantStatus, "got:\n%s\nwant:\n%s", stderr, wantStatus)
	if r, err := store.Load("demo"); err != nil || r == nil || len(r.Differences) != 4 {
		t.Errorf("kept: %v, %v", r, err)
	}
}

func TestDriftOfSeveral(t *testing.T) {
	stdout, stderr, store, err := run(t, render.Text, "clean", "demo")
	assert.Check(t, fault.Is(err, fault.Drift) && strings.HasPrefix(err.Error(), "drift in demo; "), "%v", err)
	for _, want := range []string{
		"! clean-bootstrap was not compared: it was not deployed\n", "✔ clean: no drift, 3 resources compared\n",
		"✗ demo: 1 missing, 2 changed, 1 unexpected, 5 resources compared\n",
	} {
		assert.Check(t, is.Contains(stderr, want))
	}
	if !strings.Contains(stdout, "vpc-1 is gone") || !strings.Contains(stdout, "CLUSTER   WAVE") {
		t.Errorf("got\n%s", stdout)
	}
	for name, differences := range map[string]int{"clean": 0, "demo": 4} {
		if r, err := store.Load(name); err != nil || r == nil || len(r.Differences) != differences {
			t.Errorf("kept of %s: %v, %v", name, r, err)
		}
	}
}

func TestNoDrift(t *testing.T) {
	if stdout, _, _, err := run(t, render.Text, "clean"); err != nil || stdout != "" {
		t.Errorf("got %q, %v", stdout, err)
	}
}

// A failure outweighs drift, and what was found is kept with it.
func TestDriftFails(t *testing.T) {
	_, _, store, err := run(t, render.Text, "demo", "broken")
	if err == nil || !strings.HasSuffix(err.Error(), "first cause: preview refresh broken-core: denied") {
		t.Errorf("error is %v", err)
	}
	if r, err := store.Load("broken"); err != nil || r == nil || r.Error != "preview refresh broken-core: denied" {
		t.Errorf("kept: %v, %v", r, err)
	}
}

func TestDriftJSON(t *testing.T) {
	stdout, stderr, _, _ := run(t, render.JSON, "demo")
	const want = `{"type":"drift","drifted":true,"cluster":"demo","at":"0001-01-01T00:00:00Z","stacks":[{"stack":"demo-core","resources":3},{"stack":"demo-bootstrap","resources":2,"busy":"it is locked by ada"}],"differences":[{"class":"missing","stack":"demo-core","resource":"aws:ec2/vpc:Vpc","name":"demo","id":"vpc-1"},{"class":"changed","stack":"demo-core","resource":"aws:ec2/subnet:Subnet","name":"a","properties":[{"path":"tags.owner","expected":"ada","actual":"bob"},{"path":"tags.more","actual":true},{"path":"tags.less","expected":1}]},{"class":"changed","stack":"demo-bootstrap","resource":"kubernetes:core/v1:Secret","name":"s","properties":[{"path":"data.key","expected":"[secret]","actual":"[secret]"}]},{"class":"unexpected","resource":"ec2:security-group","name":"sg-1","arn":"arn:aws:ec2:r:a:security-group/sg-1"}],"leftOut":[{"maker":"Karpenter","count":2}],"seconds":0}
`
	if stdout != want || stderr != "" {
		t.Errorf("got:\n%s\nwant:\n%s\nstderr:\n%s", stdout, want, stderr)
	}
}

// TestReport: what differs is written for an issue, the same twice, and nothing
// when nothing does.
func TestReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "drift.md")
	want := strings.ReplaceAll(`## broken

It was not compared: preview refresh broken-core: denied

## demo

| found | stack | resource | name | difference |
|---|---|---|---|---|
| missing | 'demo-core' | 'aws:ec2:Vpc' | 'demo' | 'vpc-1 is gone' |
| changed | 'demo-core' | 'aws:ec2:Subnet' | 'a' | 'tags.owner: "bob", expected "ada"' |
|  |  |  |  | 'tags.more: true was added' |
|  |  |  |  | 'tags.less: 1 is gone' |
| changed | 'demo-bootstrap' | 'kubernetes:core/v1:Secret' | 's' | 'data.key: [secret], expected [secret]' |
| unexpected | '-' | 'ec2:security-group' | 'sg-1' | 'arn:aws:ec2:r:a:security-group/sg-1' |

Put back what is missing or changed with 'tombolo up demo --refresh'.

`, "'", "`")
	for range 2 {
		_, _, _, err := run(t, render.Text, "demo", "clean", "broken", "--report", file)
		assert.Check(t, err != nil, "a cluster that cannot be compared is no error")
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("the report is\n%s\nerror %v, want\n%s", got, err, want)
		}
	}
	if _, _, _, err := run(t, render.Text, "clean", "--report", file); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(file); err != nil || len(got) > 0 {
		t.Errorf("nothing differs, and the report is %q, error %v", got, err)
	}
}
