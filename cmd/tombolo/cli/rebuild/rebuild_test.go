package rebuild

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/automation/drift"
	"tombolo/automation/health"
	"tombolo/automation/rebuild"
	"tombolo/automation/teardown"
	"tombolo/automation/upgrade"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/notice"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// driver plans as it is told, and remembers what it was to do.
type driver struct {
	plan automation.RebuildPlan
	err  error
	// fails are the errors of the rebuilds, one after another.
	fails []error
	// unready is why the new cluster is not ready.
	unready error
	planned automation.RebuildOptions
	calls   []string
	// channel is the URL of the clusters' channel; "" for none. It is kept where a rebuild destroys it.
	channel string
	// looks for drift are kept there; in a directory of the run's own without one.
	looks drift.Store
	// busy is what happens in each phase, to which the observer is told, at a time.
	busy     func(automation.RebuildPhase)
	observer automation.Observer
	at       time.Time
}

func (d *driver) PlanRebuild(_ context.Context, c *config.Cluster, o automation.RebuildOptions) (automation.RebuildPlan, error) {
	d.planned, d.plan.Cluster, d.plan.Next = o, c.Name, c
	return d.plan, d.err
}

func (d *driver) Rebuild(ctx context.Context, c *config.Cluster, _ automation.RebuildPlan, o automation.RebuildOptions) error {
	d.calls = append(d.calls, fmt.Sprintf("leftovers=%s confirmed=%v", o.Leftovers, o.Confirmed))
	if len(d.fails) > 0 {
		err := d.fails[0]
		d.fails = d.fails[1:]
		return err
	}
	for _, p := range []automation.RebuildPhase{{Operation: "destroy", Part: "core"}, {Operation: "up", Part: "verify"}} {
		o.Began(p)
		if d.busy != nil {
			d.busy(p)
		}
		if p.Part == "verify" {
			if err := o.Verify(ctx, c); err != nil {
				return err
			}
		}
		o.Ended(p, 90*time.Second)
	}
	return nil
}

func (d *driver) Verify(context.Context, *config.Cluster, health.Options) (health.Verification, error) {
	return health.Verification{Checks: []health.Check{{Kind: "Kustomization", Name: "platform", Ready: d.unready == nil}}}, d.unready
}

type ended struct {
	out, errOut string
	checked     bool
	err         error
}

// run runs the command on the cluster demo, or vault, which is protected. An answer is one
// of a person at a terminal.
func run(t *testing.T, d *driver, format render.Format, answer string, args ...string) (e ended) {
	t.Helper()
	f := clitest.New(t, format)
	f.Answer(answer)
	now := noon
	cmd := NewCmdRebuild(f.Factory, func(ctx context.Context, o *Options) error {
		o.Clusters = func(names []string) ([]*config.Cluster, error) {
			c := &config.Cluster{Name: names[0], File: "clusters/" + names[0] + ".yaml", Protect: names[0] == "vault"}
			c.Kubernetes.Version = "1.35"
			c.GitOps.Channel = &config.Channel{Type: config.GenericChannel, Notices: config.RunNotices}
			return []*config.Cluster{c}, nil
		}
		o.Tools = func([]*config.Cluster) error { return nil }
		o.Check = func(context.Context, *config.Cluster) error {
			e.checked = true
			if names := o.Name; names == "unfit" {
				return errors.New("the tree does not fit")
			}
			return nil
		}
		o.Driver = func(_ context.Context, observer automation.Observer) (Driver, error) {
			d.observer = observer
			return d, nil
		}
		o.Spent = rebuild.NewSpent(func() time.Time { return d.at })
		if d.looks.Dir != "" {
			o.Looks = func() (drift.Store, error) { return d.looks, nil }
		}
		if d.channel != "" {
			o.Notices = func() *notice.Sender {
				return &notice.Sender{Warn: func(err error) { t.Error(err) }, Address: func(context.Context, *config.Cluster) (string, error) {
					if len(d.calls) > 0 {
						return "", errors.New("it was destroyed")
					}
					return d.channel, nil
				}}
			}
		}
		o.Now = func() time.Time { now = now.Add(time.Minute); return now }
		return rebuildRun(ctx, o)
	})
	e.out, e.errOut, e.err = f.Run(t, cmd, args...)
	return e
}

func toNewer() automation.RebuildPlan {
	return automation.RebuildPlan{
		From: "1.35", Record: automation.RebuildRecord{Began: noon, Version: "1.36", KeepData: true},
		Changes: config.Changes{{Path: "network.cidr", Before: "10.0.0.0/16", After: "10.1.0.0/16"}},
	}
}

func TestRebuild(t *testing.T) {
	d := &driver{plan: toNewer()}
	got := run(t, d, render.Text, "demo", "demo", "--version", "1.36", "--keep-data", "--accept", "untested-engine")
	assert.NilError(t, got.err)
	assert.Check(t, got.checked && d.planned.KeepData && d.planned.Version == "1.36" && d.planned.Confirmed)
	assert.DeepEqual(t, d.planned.Accept, []upgrade.Risk{upgrade.UntestedEngine})
	assert.Equal(t, got.errOut, `► demo: looking for what would keep it from being destroyed, or made again
demo: it is destroyed, and made again with Kubernetes 1.36 in place of 1.35
  new: network.cidr: 10.0.0.0/16 -> 10.1.0.0/16
  buckets, file systems and snapshots are kept
Type demo to destroy its core and bootstrap permanently: ► demo: destroy, core
✔ demo: destroy, core, in 1m30s
► demo: up, verify
✔ demo: 1 object is ready, after 0s
✔ demo: up, verify, in 1m30s
operation   part     time
destroy     core     1m30s
up          verify   1m30s
all                  2m0s
✔ demo: rebuilt with Kubernetes 1.36
  Commit clusters/demo.yaml: it says so now.
`)
}

func TestRebuildForPrograms(t *testing.T) {
	d := &driver{plan: toNewer()}
	got := run(t, d, render.JSON, "", "demo", "--version", "1.36", "--yes")
	assert.NilError(t, got.err)
	assert.Equal(t, got.errOut, "")
	assert.Check(t, !d.planned.Confirmed, "--yes does not stand for the name")
	lines := strings.Split(got.out, "\n")
	assert.Check(t, is.Contains(lines[0], `{"type":"rebuild-plan","cluster":"demo","from":"1.35","resumes":false,"began":"2026-01-02T12:00:00Z","version":"1.36","keepData":true,"changes":[`))
	assert.Equal(t, lines[1], `{"type":"rebuild-phase","cluster":"demo","operation":"destroy","part":"core","seconds":90}`)
	assert.Check(t, is.Contains(lines[2], `{"type":"verification"`))
	assert.Equal(t, lines[4], `{"type":"rebuild","cluster":"demo","version":"1.36","began":"2026-01-02T12:00:00Z","resumed":false,"seconds":120}`)
}

// TestRebuildSaysWhatTookTheTime: where a phase's time went to several things.
func TestRebuildSaysWhatTookTheTime(t *testing.T) {
	busy := func(d *driver) func(automation.RebuildPhase) {
		return func(p automation.RebuildPhase) {
			if p.Part != "verify" {
				return
			}
			d.observer.Waiting("demo", "GitRepository flux-system/flux-system: no artifact")
			d.at = d.at.Add(20 * time.Second)
			d.observer.Waiting("demo", "HelmRelease loki/loki: not ready")
			d.at = d.at.Add(70 * time.Second)
		}
	}
	d := &driver{plan: toNewer()}
	d.busy = busy(d)
	got := run(t, d, render.Text, "", "demo", "--yes-destroy", "demo")
	assert.NilError(t, got.err)
	assert.Check(t, is.Contains(got.errOut, `
destroy     core                        1m30s
up          verify                      1m30s
              engine and its sources    20s
              addons and their images   1m10s
all `))
	d = &driver{plan: toNewer()}
	d.busy = busy(d)
	got = run(t, d, render.JSON, "", "demo", "--yes")
	assert.Check(t, is.Contains(got.out, `"part":"verify","seconds":90,"spent":[{"on":"engine and its sources","seconds":20},{"on":"addons and their images","seconds":70}]}`))
}

func TestRebuildAsks(t *testing.T) {
	for name, test := range map[string]struct {
		answer string
		args   []string
		want   string
	}{
		"another answer":             {"yes", []string{"demo"}, "demo was not destroyed"},
		"nobody to ask":              {"", []string{"demo"}, "rebuild needs confirmation, and this is not a terminal; pass --yes"},
		"protected":                  {"", []string{"vault", "--yes"}, "vault is protected, and --yes does not destroy what is protected; pass --yes-destroy vault"},
		"named, and another cluster": {"", []string{"demo", "--yes-destroy", "vault"}, "--yes-destroy names vault"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &driver{plan: toNewer()}
			assert.ErrorContains(t, run(t, d, render.Text, test.answer, test.args...).err, test.want)
			assert.Check(t, is.Len(d.calls, 0))
		})
	}
	d := &driver{plan: toNewer()}
	assert.NilError(t, run(t, d, render.Text, "", "vault", "--yes-destroy", "vault").err)
	assert.DeepEqual(t, d.calls, []string{"leftovers=stop confirmed=true"})
}

// TestRebuildGoesOn: nothing is destroyed any more, and no name is asked for.
func TestRebuildGoesOn(t *testing.T) {
	p := toNewer()
	p.Resumes, p.Destroyed, p.From = true, true, ""
	d := &driver{plan: p}
	got := run(t, d, render.Text, "y", "demo")
	assert.NilError(t, got.err)
	for _, want := range []string{
		"► demo: going on with the rebuild of ", "demo: it was destroyed, and is made again with Kubernetes 1.36\n",
		"Make demo again with Kubernetes 1.36? [y/N]", "the times are those since it was resumed",
	} {
		assert.Check(t, is.Contains(got.errOut, want))
	}
	d = &driver{plan: p}
	got = run(t, d, render.Text, "n", "demo")
	assert.Check(t, fault.Is(got.err, fault.Declined) && len(d.calls) == 0, "%v", got.err)
}

func TestRebuildStartsNothing(t *testing.T) {
	d := &driver{plan: toNewer(), err: errors.New("it is a hub")}
	assert.Error(t, run(t, d, render.Text, "", "demo", "--yes").err, "it is a hub")
	other := &driver{plan: toNewer()}
	assert.Error(t, run(t, other, render.Text, "", "unfit", "--yes").err, "the tree does not fit")
	assert.Check(t, len(d.calls) == 0 && len(other.calls) == 0)
}

// TestRebuildForgetsDrift of the cluster that is gone.
func TestRebuildForgetsDrift(t *testing.T) {
	d := &driver{plan: toNewer(), fails: []error{errors.New("the cloud is down")}, looks: drift.Store{Dir: t.TempDir()}}
	assert.NilError(t, d.looks.Save(drift.Report{Cluster: "demo"}))
	for _, left := range []bool{true, false} {
		assert.Check(t, is.Equal(run(t, d, render.Text, "", "demo", "--yes").err != nil, left))
		report, err := d.looks.Load("demo")
		assert.NilError(t, err)
		assert.Check(t, is.Equal(report != nil, left))
	}
}

func TestRebuildFails(t *testing.T) {
	d := &driver{plan: toNewer(), fails: []error{errors.New("the cloud is down")}}
	got := run(t, d, render.Text, "", "demo", "--yes")
	assert.Error(t, got.err, "the cloud is down")
	assert.Check(t, is.Contains(got.errOut, "`tombolo rebuild demo` goes on with the rebuild."))
	d = &driver{plan: toNewer(), unready: errors.New("not ready")}
	got = run(t, d, render.Text, "", "demo", "--yes")
	assert.Error(t, got.err, "not ready")
	assert.Check(t, !strings.Contains(got.errOut, "rebuilt with"))
}

// TestRebuildAsksAboutLeftovers, as destroy does.
func TestRebuildAsksAboutLeftovers(t *testing.T) {
	left := &teardown.LeftoversError{Cluster: "demo", Left: []teardown.Leftover{{Kind: "volume", ID: "vol-1"}}, Core: true}
	d := &driver{plan: toNewer(), fails: []error{left}}
	assert.NilError(t, run(t, d, render.Text, "delete", "demo", "--yes").err)
	assert.DeepEqual(t, d.calls, []string{"leftovers=stop confirmed=false", "leftovers=delete confirmed=false"})
	d = &driver{plan: toNewer(), fails: []error{left}}
	assert.Check(t, is.ErrorType(run(t, d, render.Text, "", "demo", "--yes").err, left))
	assert.Check(t, is.Len(d.calls, 1))
}

// TestRebuildIsTold: the channel hears of it, though the rebuild takes away where the address is kept.
func TestRebuildIsTold(t *testing.T) {
	channel, told := clitest.Channel(t)
	left := &teardown.LeftoversError{Cluster: "demo", Left: []teardown.Leftover{{Kind: "volume", ID: "vol-1"}}, Core: true}
	for _, test := range []struct {
		fails  []error
		answer string
		want   string
	}{
		{nil, "", "succeeded in 2m0s: Kubernetes 1.36"},
		{[]error{errors.New("the cloud is down")}, "", "failed in 2m0s: the cloud is down"},
		{[]error{left}, "delete", "succeeded in 2m0s: Kubernetes 1.36"},
		{[]error{left}, "stop", "failed in 2m0s: "},
	} {
		*told = nil
		_ = run(t, &driver{plan: toNewer(), fails: test.fails, channel: channel.URL}, render.Text, test.answer, "demo", "--yes")
		assert.Assert(t, is.Len(*told, 1))
		assert.Check(t, is.Contains((*told)[0], `"message":"`+test.want))
	}
}

func TestRebuildUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"no cluster is named":                      {"--version", "1.36"},
		"too many arguments: other":                {"demo", "other"},
		"--timeout is 0s":                          {"demo", "--timeout", "0"},
		"--accept insights: there is no such risk": {"demo", "--accept", "insights"},
	} {
		got := run(t, &driver{}, render.Text, "", args...)
		assert.Check(t, fault.Is(got.err, fault.Usage), "%v: %v", args, got.err)
		assert.ErrorContains(t, got.err, want)
	}
}
