package fleet

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
)

// nights has the clusters of wave 1 changed at night only.
func (fx *fixture) nights(t *testing.T) {
	t.Helper()
	for _, name := range []string{"east", "west"} {
		path := filepath.Join(fx.root, "clusters", name+".yaml")
		text, err := os.ReadFile(path)
		assert.NilError(t, err)
		fx.write(t, "clusters/"+name+".yaml", string(text)+`changeWindows: [{days: [mon, tue, wed, thu, fri], from: "22:00", to: "04:00", timeZone: Europe/Berlin}]`+"\n")
	}
}

// A Monday in Berlin.
var (
	noon  = time.Date(2026, 1, 5, 11, 0, 0, 0, time.UTC)
	night = time.Date(2026, 1, 5, 21, 30, 0, 0, time.UTC)
)

const opens = "is outside of its change windows: the window opens at Mon 2026-01-05 22:00 +0100 (Europe/Berlin)"

// TestWindow: a run whose first wave is outside of its windows does not begin; a later wave
// is pending, and a resumed run goes on with it when its window is open.
func TestWindow(t *testing.T) {
	fx := newFixture(t)
	fx.nights(t)
	fx.now = noon
	err := fx.run(t, "east", "last")
	assert.Check(t, is.Error(err, "east "+opens+`; wait for it, or say why it cannot wait with --outside-window "<reason>"`))
	assert.Check(t, fault.Is(err, fault.Window), "%v", err)
	assert.Check(t, is.Len(fx.worked, 0))

	err = fx.run(t, "--all")
	assert.Check(t, is.ErrorContains(err, "up: 1 of 4 clusters succeeded, 2 pending, 1 skipped; first cause: east "+opens))
	assert.Check(t, fault.Is(err, fault.Window), "%v", err)
	assert.Check(t, is.DeepEqual(fx.worked, []string{"canary"}))

	assert.Check(t, is.ErrorContains(fx.run(t, "--resume"), "east "+opens+"; so is 1 other;"))
	assert.Check(t, is.Len(fx.worked, 0))
	fx.now = night
	assert.NilError(t, fx.run(t, "--resume"))
	assert.Check(t, is.DeepEqual(fx.worked, []string{"east", "west", "last"}))
}

// TestOutsideWindow: the reason is recorded for each cluster that begins outside of its
// windows, and without one nothing does.
func TestOutsideWindow(t *testing.T) {
	fx := newFixture(t)
	fx.nights(t)
	fx.now = noon
	assert.NilError(t, fx.run(t, "--all", "--outside-window", "incident 4711"))
	assert.Check(t, is.Len(fx.worked, 4))
	assert.Check(t, is.Contains(fx.errOut.String(), "► east "+opens+"; going ahead: incident 4711\n"))
	records, err := fx.factory.Records()
	assert.NilError(t, err)
	want := rollout.Outside{At: noon, Reason: "incident 4711", Window: opens}
	assert.Check(t, is.DeepEqual(records[0].Outside, map[string]rollout.Outside{"east": want, "west": want}))
	assert.Check(t, is.Error(fx.run(t, "--all", "--outside-window", " "), `--outside-window has no reason; say why it cannot wait, such as --outside-window "incident 4711"`))
}

// TestMaxFailures: the next wave starts as long as no more have failed, and then no further
// cluster does.
func TestMaxFailures(t *testing.T) {
	fx := newFixture(t)
	fx.bad = []string{"east", "west"}
	err := fx.run(t, "--all", "--max-failures", "50%")
	assert.Check(t, is.ErrorContains(err, "up: 2 of 4 clusters succeeded, 2 failed; first cause: no quota"))
	assert.Check(t, is.DeepEqual(fx.worked, []string{"canary", "east", "west", "last"}))
	err = fx.run(t, "--all", "--max-failures", "0")
	assert.Check(t, is.ErrorContains(err, "up: 1 of 4 clusters succeeded, 1 failed, 2 not started"))
	assert.Check(t, is.Contains(fx.out.String(), "not started: 1 cluster failed, and --max-failures is 0"))
	// A resumed run has the limit that the run had.
	assert.Check(t, is.ErrorContains(fx.run(t, "--resume"), "1 of 4 clusters succeeded, 1 failed"))
	assert.Check(t, is.DeepEqual(fx.worked, []string{"east"}))
}

// TestBake: a wave that does not stay healthy keeps the next from starting.
func TestBake(t *testing.T) {
	fx := newFixture(t)
	looks := 0
	fx.baking = func(f *Fleet) {
		now := noon
		f.Baking = rollout.Bake{Now: func() time.Time { return now }, Sleep: func(_ context.Context, d time.Duration) error {
			now = now.Add(d)
			if looks++; looks == 3 {
				fx.unhealthy = []string{"canary"}
			}
			return nil
		}}
	}
	err := fx.run(t, "canary", "east", "--bake", "10m")
	assert.Check(t, is.ErrorContains(err, "bake after wave 0: not healthy 1m30s after the gate: 1 of 1 clusters are not healthy: "))
	assert.Check(t, is.DeepEqual(fx.worked, []string{"canary"}))
	assert.Check(t, is.Contains(fx.errOut.String(), "► wave 0 bakes until "))
	fx.unhealthy, looks = nil, 10
	assert.NilError(t, fx.run(t, "--resume"))
	assert.Check(t, is.Equal(looks, 30), "a bake of ten minutes is looked at every 30 s")
	assert.Check(t, is.DeepEqual(fx.worked, []string{"east"}))
}

func TestSafetyUsage(t *testing.T) {
	fx := newFixture(t)
	for args, want := range map[string]string{
		"--fail-fast --max-failures 1":  "--fail-fast and --max-failures: both say when nothing more starts; pass one of them",
		"--max-failures some":           `invalid argument "some" for "--max-failures" flag: "some" is neither a number of clusters, such as 3, nor a percentage from 0% to 100%`,
		"--max-failures 101%":           `invalid argument "101%" for "--max-failures" flag: "101%" is neither a number of clusters, such as 3, nor a percentage from 0% to 100%`,
		"--bake -1s":                    "--bake is -1s; pass a duration such as 30m",
		"--bake 30m --no-gate":          "--bake and --no-gate: a bake looks at the health of a wave; pass one of them",
		"--status broken":               "--status broken: it is one of failed, drifted, pending",
		"--resume --status failed":      "--resume and --status failed: a resumed run has its own clusters; pass --resume alone",
		"--wave 7 --status failed east": "no cluster matches east --wave 7 --status failed; `tombolo list` shows the clusters; their labels are in their files",
	} {
		err := fx.run(t, append(strings.Fields(args), "--refresh")...)
		assert.Check(t, is.ErrorContains(err, want), args)
		assert.Check(t, is.Len(fx.worked, 0))
	}
}

// TestStatus chooses by what the journals and the last looks for drift have recorded.
func TestStatus(t *testing.T) {
	fx := newFixture(t)
	assert.NilError(t, fx.run(t, "--all", "--status", "failed,drifted,pending"))
	assert.Check(t, is.Len(fx.worked, 0))
	assert.Check(t, is.Equal(fx.errOut.String(), "! nothing is recorded here of canary, east, west, last: --status knows what was done from this checkout alone\n"+
		"✔ no cluster is recorded as failed, drifted or pending\n"))

	fx.bad = []string{"east"}
	assert.Check(t, is.ErrorContains(fx.run(t, "--all"), "1 failed, 1 skipped"))
	report, err := json.Marshal(map[string]any{
		"cluster": "canary", "differences": []map[string]string{{"class": "missing", "resource": "aws:ec2/vpc:Vpc", "name": "vpc"}},
	})
	assert.NilError(t, err)
	assert.NilError(t, os.MkdirAll(filepath.Join(fx.root, ".tombolo", "drift"), 0o755))
	fx.write(t, ".tombolo/drift/canary.json", string(report))
	for status, want := range map[string][]string{
		"failed": {"east"}, "pending": {"last"}, "drifted": {"canary"}, "failed,drifted": {"canary", "east"},
	} {
		f := New(fx.factory, Operation{Name: "up", Order: rollout.Forward, Changes: true})
		f.Selection.Status = strings.Split(status, ",")
		all, err := f.Choose()
		assert.NilError(t, err)
		var names []string
		for _, c := range all {
			names = append(names, c.Name)
		}
		assert.Check(t, slices.Equal(names, want), "%s: got %v, want %v", status, names, want)
	}
	fx.bad = nil
	assert.NilError(t, fx.run(t, "--status", "failed,pending"))
	assert.Check(t, is.DeepEqual(fx.worked, []string{"east", "last"}))
	assert.NilError(t, fx.run(t, "--status", "failed,pending"))
	assert.Check(t, is.Len(fx.worked, 0))
}

// TestSingle records one cluster's steps, and holds them to its windows.
func TestSingle(t *testing.T) {
	fx := newFixture(t)
	fx.nights(t)
	all, err := fx.factory.Clusters([]string{"east"})
	assert.NilError(t, err)
	now := noon
	s := NewSingle(fx.factory, "upgrade")
	s.Now = func() time.Time { return now }
	worked := 0
	record := func() error {
		return s.Record(t.Context(), render.Status{W: fx.errOut}, all[0], func(context.Context) error { worked++; return nil })
	}
	assert.Check(t, is.ErrorContains(record(), "east "+opens))
	assert.Check(t, is.Equal(worked, 0))
	s.Reason = "incident 4711"
	assert.NilError(t, record())
	now, s.Reason = night, ""
	assert.NilError(t, record())
	assert.Check(t, is.Equal(worked, 2))
	records, err := fx.factory.Records()
	assert.NilError(t, err)
	assert.Check(t, is.Len(records, 3))
	assert.Check(t, is.Equal(records[0].Ends["east"].Outcome, rollout.Succeeded))
	assert.Check(t, is.Equal(records[1].Outside["east"].Reason, "incident 4711"))
	assert.Check(t, is.Equal(records[2].Ends["east"].Outcome, rollout.Pending))
}
