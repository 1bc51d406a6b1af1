package upgrade

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/automation/upgrade"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/notice"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// driver plans as it is told, and remembers whether it was to upgrade.
type driver struct {
	plan automation.UpgradePlan
	err  error
	fail error
	got  automation.UpgradeOptions
	ran  bool
	// channel is the URL of the cluster's channel; "" for none.
	channel string
}

func (d *driver) PlanUpgrade(_ context.Context, c *config.Cluster, o automation.UpgradeOptions) (automation.UpgradePlan, error) {
	d.got, d.plan.Cluster = o, c.Name
	return d.plan, d.err
}

func (d *driver) Upgrade(_ context.Context, _ *config.Cluster, p automation.UpgradePlan, o automation.UpgradeOptions) error {
	d.ran = true
	for i, s := range p.Steps {
		o.Began(i, s)
		if d.fail != nil {
			return d.fail
		}
		o.Asked([]upgrade.Insight{{Name: "skew", Status: upgrade.Passing}})
		o.Ended(i, s)
	}
	return nil
}

func oneMinor() automation.UpgradePlan {
	has := upgrade.Versions{ControlPlane: "1.34", Nodes: "1.34"}
	return automation.UpgradePlan{
		Terms: upgrade.Terms{ManagedAddons: true, Cloud: "AWS", Service: "EKS", RollbackDays: 7},
		Has:   has, To: "1.35", Steps: upgrade.Steps(has, "1.35", upgrade.Ways{}),
		Insights: []upgrade.Insight{
			{Name: "addons", Status: upgrade.Warning, Reason: "old", Recommendation: "Update them."}, {Name: "skew", Status: upgrade.Passing},
		},
	}
}

type ended struct {
	out, errOut string
	err         error
}

func run(t *testing.T, d *driver, format render.Format, answer string, args ...string) ended {
	t.Helper()
	f := clitest.New(t, format)
	f.Answer(answer)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cmd := NewCmdUpgrade(f.Factory, func(ctx context.Context, o *Options) error {
		o.Clusters = func(names []string) ([]*config.Cluster, error) {
			c := &config.Cluster{Name: names[0], File: "clusters/demo.yaml"}
			c.GitOps.Channel = &config.Channel{Type: config.GenericChannel, Notices: config.RunNotices}
			return []*config.Cluster{c}, nil
		}
		if d.channel != "" {
			o.Notices = func() *notice.Sender {
				return &notice.Sender{
					Warn:    func(err error) { t.Error(err) },
					Address: func(context.Context, *config.Cluster) (string, error) { return d.channel, nil },
				}
			}
		}
		o.Tools = func([]*config.Cluster) error { return nil }
		o.Driver = func(context.Context, automation.Observer) (Driver, error) { return d, nil }
		o.Now = func() time.Time { now = now.Add(time.Minute); return now }
		return upgradeRun(ctx, o)
	})
	err := clitest.Execute(t, cmd, args...)
	return ended{f.Out.String(), f.ErrOut.String(), err}
}

const shown = `► demo: asking what Kubernetes it has, and what is in the way
step   Kubernetes     what                             in the file
1      1.34 -> 1.35   control plane                    version 1.35, nodeVersion 1.34
2      1.34 -> 1.35   managed addons and node groups   version 1.35
✗ AWS: addons: WARNING: old
    Update them.
✔ AWS insights: 1 of 2 pass
`

func TestUpgrade(t *testing.T) {
	d := &driver{plan: oneMinor()}
	got := run(t, d, render.Text, "y", "demo", "--to", "1.35", "--accept", "insights,pinned-addons")
	assert.NilError(t, got.err)
	assert.DeepEqual(t, d.got.Accept, []upgrade.Risk{upgrade.BadInsights, upgrade.PinnedAddons})
	assert.Equal(t, got.errOut, shown+`Upgrade demo from 1.34 to 1.35 in these steps? [y/N] ► demo: step 1 of 2: control plane to 1.35
✔ AWS insights: 1 of 1 pass
✔ demo: step 1 of 2: control plane to 1.35, in 1m0s
► demo: step 2 of 2: managed addons and node groups to 1.35
✔ AWS insights: 1 of 1 pass
✔ demo: step 2 of 2: managed addons and node groups to 1.35, in 1m0s
✔ demo: the control plane has 1.35, and the node groups 1.35
  Commit clusters/demo.yaml: it says so now.
`)
}

func TestUpgradeAsks(t *testing.T) {
	d := &driver{plan: oneMinor()}
	got := run(t, d, render.Text, "n", "demo", "--to", "1.35")
	assert.Assert(t, fault.Is(got.err, fault.Declined), "%v", got.err)
	assert.Check(t, !d.ran)
	got = run(t, d, render.Text, "", "demo", "--to", "1.35")
	assert.ErrorContains(t, got.err, "upgrade needs confirmation, and this is not a terminal; pass --yes")
	got = run(t, d, render.Text, "", "demo", "--to", "1.35", "--dry-run")
	assert.NilError(t, got.err)
	assert.Equal(t, got.errOut, shown)
	assert.Check(t, !d.ran)
}

func TestUpgradeForPrograms(t *testing.T) {
	d := &driver{plan: oneMinor()}
	got := run(t, d, render.JSON, "", "demo", "--to", "1.35", "--yes")
	assert.NilError(t, got.err)
	assert.Equal(t, got.errOut, "")
	lines := strings.Split(got.out, "\n")
	assert.Check(t, is.Contains(lines[0], `{"type":"upgrade-plan","cluster":"demo","has":{"controlPlane":"1.34","nodes":"1.34"},"to":"1.35","steps":[{"phase":"control plane","from":"1.34","to":"1.35"`))
	assert.Equal(t, lines[2], `{"type":"upgrade-step","cluster":"demo","phase":"node groups","from":"1.34","to":"1.35","file":{"controlPlane":"1.35","nodes":"1.35"},"seconds":60}`)
	assert.Equal(t, lines[3], `{"type":"upgrade","cluster":"demo","has":{"controlPlane":"1.35","nodes":"1.35"},"steps":2}`)
}

// TestUpgradeHasNothingToDo: the file may still have to follow the cluster.
func TestUpgradeHasNothingToDo(t *testing.T) {
	d := &driver{plan: automation.UpgradePlan{Has: upgrade.Versions{ControlPlane: "1.35", Nodes: "1.35"}, To: "1.35"}}
	got := run(t, d, render.Text, "y", "demo", "--to", "1.35")
	assert.NilError(t, got.err)
	assert.Check(t, is.Contains(got.errOut, "✔ demo: nothing to upgrade: the control plane has 1.35, and the node groups 1.35\n"))
	assert.Check(t, d.ran && !strings.Contains(got.errOut, "[y/N]"))
}

func TestUpgradeFails(t *testing.T) {
	d := &driver{plan: oneMinor(), fail: errors.New("the cloud is down")}
	got := run(t, d, render.Text, "y", "demo", "--to", "1.35")
	assert.Error(t, got.err, "the cloud is down")
	assert.Check(t, !strings.Contains(got.errOut, "Commit"))
	d = &driver{plan: oneMinor(), err: errors.New("AWS sees trouble")}
	got = run(t, d, render.Text, "y", "demo", "--to", "1.35")
	assert.Error(t, got.err, "AWS sees trouble")
	assert.Equal(t, got.errOut, shown, "the reasons are shown")
	assert.Check(t, !d.ran)
}

func TestUpgradeUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"no version is named":                 {"demo"},
		"no cluster is named":                 {"--to", "1.35"},
		"--rollback and --hold-nodes":         {"demo", "--rollback", "--hold-nodes"},
		"--accept all: there is no such risk": {"demo", "--to", "1.35", "--accept", "all"},
		"--node-timeout is 0s":                {"demo", "--to", "1.35", "--node-timeout", "0"},
		"too many arguments: other":           {"demo", "other", "--to", "1.35"},
	} {
		got := run(t, &driver{}, render.Text, "", args...)
		assert.Check(t, fault.Is(got.err, fault.Usage), "%v: %v", args, got.err)
		assert.ErrorContains(t, got.err, want)
	}
}

// TestUpgradeIsTold: the channel hears of one that did something or failed.
func TestUpgradeIsTold(t *testing.T) {
	channel, told := clitest.Channel(t)
	nothing := oneMinor()
	nothing.Steps = nil
	for _, test := range []struct {
		driver driver
		args   string
		want   string
	}{
		{driver{plan: oneMinor()}, "--yes", ": Kubernetes 1.34 to 1.35 in 2 steps"},
		{driver{plan: oneMinor(), fail: errors.New("no quota")}, "--yes", ": no quota"},
		{driver{plan: nothing}, "--yes", ""},
		{driver{plan: oneMinor()}, "--dry-run", ""},
	} {
		*told = nil
		test.driver.channel = channel.URL
		_ = run(t, &test.driver, render.Text, "", "demo", "--to", "1.35", test.args)
		if test.want == "" {
			assert.Check(t, is.Len(*told, 0))
			continue
		}
		assert.Assert(t, is.Len(*told, 1))
		assert.Check(t, is.Contains((*told)[0], test.want))
	}
}
