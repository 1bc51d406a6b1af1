package up

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/automation/drift"
	"tombolo/automation/health"
	"tombolo/automation/preflight"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/config/strict"
)

// driver records what it is asked for and answers as it is told to.
type driver struct {
	mu      sync.Mutex
	calls   []string
	planned automation.Changes
	preview automation.StackResult
	err     error
	// bad is the cluster that fails; all when empty.
	bad string
	// lacks is what clusters lack that are to be made.
	lacks []preflight.Report
	// same are the clusters that are unchanged since their last up.
	same []string
}

func (d *driver) Unchanged(_ context.Context, c *config.Cluster) (automation.LastUp, bool) {
	return automation.LastUp{At: time.Date(2026, 11, 25, 14, 40, 0, 0, time.UTC), By: "alice@laptop"}, slices.Contains(d.same, c.Name)
}

func (d *driver) call(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, what)
}

func (d *driver) Preview(_ context.Context, c *config.Cluster, _ automation.PreviewOptions) (automation.Result, error) {
	d.call("preview " + c.Name)
	return automation.Result{Cluster: c.Name, Stacks: []automation.StackResult{
		{Stack: c.Name + "-core", Operation: "preview", Changes: d.planned},
		{Stack: c.Name + "-bootstrap", Operation: "preview", Changes: d.planned, Placeholders: d.preview.Placeholders},
	}}, d.err
}

func (d *driver) Up(_ context.Context, c *config.Cluster, o automation.UpOptions) (automation.Result, error) {
	call := "up " + c.Name
	if o.Refresh {
		call += " refresh"
	}
	if o.Force {
		call += " force"
	}
	d.call(call)
	if d.bad != "" && d.bad != c.Name {
		return automation.Result{Cluster: c.Name}, nil
	}
	return automation.Result{Cluster: c.Name, Duration: 2 * time.Second, Stacks: []automation.StackResult{
		{Stack: c.Name + "-core", Operation: "up", Changes: d.planned, Outputs: map[string]any{"token": "s3cr3t"}},
	}}, d.err
}

func (d *driver) Ready(context.Context, []*config.Cluster) ([]preflight.Report, error) {
	return d.lacks, nil
}

func (d *driver) Verify(_ context.Context, c *config.Cluster, o health.Options) (health.Verification, error) {
	d.call("verify " + c.Name + " " + o.Timeout.String())
	return health.Verification{Cluster: c.Name, Checks: []health.Check{{Kind: "Kustomization", Name: "apps", Ready: true}}}, nil
}

func (d *driver) Push(_ context.Context, c *config.Cluster, _ automation.PushOptions) (automation.PushResult, error) {
	d.call("push " + c.Name)
	return automation.PushResult{Cluster: c.Name, Branch: "main", Commit: "abc", Changed: true}, nil
}

// fixture is a command over a fake driver.
type fixture struct {
	factory     *factory.Factory
	opts        *Options
	driver      *driver
	in          *bytes.Buffer
	out, errOut *bytes.Buffer
}

func newFixture(t *testing.T, args ...string) *fixture {
	t.Helper()
	f := clitest.New(t, render.Text)
	fx := &fixture{factory: f.Factory, driver: &driver{planned: automation.Changes{"create": 3}}, in: f.In, out: f.Out, errOut: f.ErrOut}
	cmd := NewCmdUp(f.Factory, func(_ context.Context, o *Options) error { fx.opts = o; return nil })
	assert.NilError(t, clitest.Execute(t, cmd, args...))
	fx.opts.Clusters = clitest.Named(func(name string) *config.Cluster { return &config.Cluster{Name: name, File: name + ".yaml"} })
	fx.opts.Driver = func(context.Context, automation.Observer) (Driver, error) { return fx.driver, nil }
	return fx
}

// TestUpPutsBackWhatHasDrifted: an up that compares with the cloud, and that alone, changes what is
// recorded as drift.
func TestUpPutsBackWhatHasDrifted(t *testing.T) {
	for args, left := range map[string]bool{"demo --yes": true, "demo --yes --refresh": false, "demo --yes --refresh, which fails": true} {
		args, fails := strings.CutSuffix(args, ", which fails")
		fx := newFixture(t, strings.Fields(args)...)
		looks, err := fx.opts.Looks()
		assert.NilError(t, err)
		assert.NilError(t, looks.Save(drift.Report{Cluster: "demo", Differences: []drift.Difference{{Class: drift.Changed, Name: "vpc"}}}))
		if fails {
			fx.driver.err = errors.New("denied")
		}
		assert.Check(t, is.Equal(upRun(t.Context(), fx.opts) != nil, fails))
		report, err := looks.Load("demo")
		assert.NilError(t, err)
		assert.Check(t, is.Equal(report != nil, left), args)
	}
}

func (fx *fixture) json() { fx.opts.JSON = func() bool { return true } }

func TestUp(t *testing.T) {
	for _, test := range []struct {
		name     string
		args     []string
		terminal bool
		answer   string
		setup    func(*fixture)
		calls    []string
		err      string
		says     string
	}{
		{name: "yes", args: []string{"demo", "--yes"}, calls: []string{"up demo"}},
		{name: "several", args: []string{"demo", "prod", "-y", "--refresh", "--parallel", "1"}, calls: []string{"up demo refresh", "up prod refresh"}},
		{
			name: "one of several is not ready", args: []string{"demo", "prod", "-y"},
			setup: func(fx *fixture) {
				fx.driver.lacks = []preflight.Report{
					{Cluster: "demo"},
					{Cluster: "prod", Findings: []preflight.Finding{preflight.Bad("quota", preflight.Fail, "ask for more", "5 of 5 are used")}},
				}
			},
			err:  "an up would fail: prod; nothing was started: follow the remedy of each finding, or leave the cluster out",
			says: "✗ prod: quota: 5 of 5 are used; ask for more",
		},
		{
			name: "verify", args: []string{"demo", "--yes", "--verify", "--timeout", "30s"},
			calls: []string{"up demo", "verify demo 30s"}, says: "✔ demo: 1 object is ready",
		},
		{
			name: "push", args: []string{"demo", "--yes", "--verify", "--push"},
			calls: []string{"up demo", "push demo", "verify demo 10m0s"}, says: "✔ demo: pushed abc to branch main",
		},
		{
			name: "no terminal", args: []string{"demo"},
			err: "up needs confirmation, and this is not a terminal; pass --yes",
		},
		{
			name: "json on a terminal", args: []string{"demo"}, terminal: true, setup: (*fixture).json,
			err: "up needs confirmation, and --output json asks no questions; pass --yes",
		},
		{
			name: "agreed", args: []string{"demo"}, terminal: true, answer: "Yes\n",
			calls: []string{"preview demo", "up demo"}, says: "demo-core: 3 to create",
		},
		{
			name: "declined", args: []string{"demo"}, terminal: true, answer: "\n",
			calls: []string{"preview demo"}, err: "demo was not changed", says: "Change demo as planned? [y/N]",
		},
		{
			name: "nothing to change", args: []string{"demo", "--verify"}, terminal: true,
			setup: func(fx *fixture) { fx.driver.planned = automation.Changes{"same": 30} },
			calls: []string{"preview demo", "verify demo 10m0s"}, says: "✔ demo: nothing to change",
		},
		{
			name: "unchanged since the last up", args: []string{"demo", "--push"}, terminal: true,
			setup: func(fx *fixture) { fx.driver.same = []string{"demo"} },
			calls: []string{"push demo"}, says: "✔ demo: nothing to change, unchanged since the up of 2026-11-25T14:40:00Z by alice@laptop",
		},
		{
			name: "unchanged, and looked at", args: []string{"demo", "--force"}, terminal: true,
			setup: func(fx *fixture) {
				fx.driver.same, fx.driver.planned = []string{"demo"}, automation.Changes{"same": 30}
			},
			calls: []string{"preview demo"}, says: "✔ demo: nothing to change",
		},
		{
			name: "unchanged, and forced", args: []string{"demo", "--force", "--yes"},
			setup: func(fx *fixture) { fx.driver.same = []string{"demo"} }, calls: []string{"up demo force"},
		},
		{
			name: "one is unchanged", args: []string{"demo", "prod", "--parallel", "1"}, terminal: true, answer: "y\n",
			setup: func(fx *fixture) { fx.driver.same = []string{"prod"} },
			calls: []string{"preview demo", "up demo"}, says: "Change demo as planned? [y/N]",
		},
		{
			name: "placeholders are a change", args: []string{"demo"}, terminal: true, answer: "y\n",
			setup: func(fx *fixture) { fx.driver.planned, fx.driver.preview.Placeholders = nil, true },
			calls: []string{"preview demo", "up demo"}, says: "unknown until core exists",
		},
		{
			name: "a failure", args: []string{"demo", "--yes"},
			setup: func(fx *fixture) { fx.driver.err = errors.New("quota exceeded") },
			calls: []string{"up demo"}, err: "quota exceeded",
		},
		{
			name: "a failure spares neighbours", args: []string{"demo", "prod", "--yes", "--parallel", "1"},
			setup: func(fx *fixture) { fx.driver.err, fx.driver.bad = errors.New("quota exceeded"), "demo" },
			calls: []string{"up demo", "up prod"},
			err:   "up: 1 of 2 clusters succeeded, 1 failed; first cause: quota exceeded; `tombolo up --resume` continues with the rest",
		},
		{
			name: "fail fast", args: []string{"demo", "prod", "--yes", "--parallel", "1", "--fail-fast"},
			setup: func(fx *fixture) { fx.driver.err = errors.New("quota exceeded") },
			calls: []string{"up demo"},
			err:   "up: 0 of 2 clusters succeeded, 1 failed, 1 not started; first cause: quota exceeded; `tombolo up --resume` continues with the rest",
		},
		{
			name: "several are asked about once", args: []string{"demo", "prod", "--parallel", "1"}, terminal: true, answer: "y\n",
			calls: []string{"preview demo", "preview prod", "up demo", "up prod"}, says: "Change demo, prod as planned? [y/N]",
		},
		{
			name: "several declined", args: []string{"demo", "prod", "--parallel", "1"}, terminal: true, answer: "n\n",
			calls: []string{"preview demo", "preview prod"}, err: "demo, prod were not changed",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			fx := newFixture(t, test.args...)
			if test.terminal {
				fx.opts.Streams.SetTerminal(100)
			}
			fx.in.WriteString(test.answer)
			if test.setup != nil {
				test.setup(fx)
			}
			err := upRun(t.Context(), fx.opts)
			assert.Check(t, is.Equal(text(err), test.err))
			assert.Check(t, slices.Equal(fx.driver.calls, test.calls), "got the calls %q, want %q", fx.driver.calls, test.calls)
			assert.Check(t, strings.Contains(fx.errOut.String(), test.says), "people read %q, want %q in it", fx.errOut, test.says)
		})
	}
}

// TestGateOfWhatIsUnchanged: a wave in which nothing changes is not waited for, unless another
// one changes something.
func TestGateOfWhatIsUnchanged(t *testing.T) {
	for _, same := range [][]string{{"demo", "prod"}, {"demo"}} {
		fx := newFixture(t, "demo", "prod", "--yes", "--parallel", "1")
		fx.driver.same = same
		load := fx.opts.Clusters
		fx.opts.Clusters = func(names []string) ([]*config.Cluster, error) {
			all, err := load(names)
			all[1].Wave = 1
			return all, err
		}
		assert.NilError(t, upRun(t.Context(), fx.opts))
		gated := slices.ContainsFunc(fx.driver.calls, func(call string) bool { return strings.HasPrefix(call, "verify demo") })
		assert.Check(t, is.Equal(gated, len(same) == 1), "calls %q", fx.driver.calls)
	}
}

func TestUpBadFileStartsNothing(t *testing.T) {
	fx := newFixture(t, "demo", "--yes")
	bad := strict.Problems{{File: "demo.yaml", Line: 1, Column: 1, Message: "bad"}}
	fx.opts.Clusters = func([]string) ([]*config.Cluster, error) { return nil, bad }
	fx.opts.Driver = func(context.Context, automation.Observer) (Driver, error) {
		t.Error("a driver was made, which starts the lab")
		return nil, errors.New("unreachable")
	}
	if err := upRun(t.Context(), fx.opts); text(err) != bad.Error() {
		t.Errorf("got %v", err)
	}
}

func TestUpResultDocument(t *testing.T) {
	fx := newFixture(t, "demo", "--yes")
	fx.json()
	assert.NilError(t, upRun(t.Context(), fx.opts))
	want := `{"type":"result","command":"up","cluster":"demo","stacks":[{"stack":"demo-core","operation":"up",` +
		`"changes":{"create":3},"changed":3,"seconds":0}],"seconds":2}` + "\n"
	assert.Check(t, is.Equal(fx.out.String(), want))
}

func TestUpWithoutCluster(t *testing.T) {
	err := clitest.Execute(t, NewCmdUp(clitest.New(t, render.Text).Factory, nil))
	assert.Check(t, fault.Is(err, fault.Usage) && strings.HasPrefix(err.Error(), "no cluster is selected; "), "%v", err)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
