package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	driverfault "tombolo/automation/fault"
	"tombolo/automation/health"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/notice"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// fixture is a command "up" of a project with clusters in three waves.
type fixture struct {
	root        string
	factory     *factory.Factory
	out, errOut *bytes.Buffer
	// refresh is a flag of the command's own, as it was at the last run.
	refresh bool
	// worked on, in order; bad ones fail, and unhealthy ones keep a gate shut.
	worked         []string
	bad, unhealthy []string
	// sender tells channels; nil for none.
	sender *notice.Sender
	// now is the clock, if it is set, and baking sets a bake's.
	now    time.Time
	baking func(*Fleet)
}

// fileOf is the file of a cluster, with the label tier.
func fileOf(name string, wave int, tier string) string {
	return clitest.ClusterFile(name, "dev", wave) + "labels: {tier: " + tier + "}\n"
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := clitest.New(t, render.Plain)
	fx := &fixture{root: f.Dir, factory: f.Factory, out: f.Out, errOut: f.ErrOut}
	fx.write(t, "clusters/canary.yaml", fileOf("canary", 0, "test"))
	for name, wave := range map[string]int{"east": 1, "west": 1, "last": 2} {
		fx.write(t, "clusters/"+name+".yaml", fileOf(name, wave, "live"))
	}
	return fx
}

func (fx *fixture) write(t *testing.T, name, content string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(filepath.Join(fx.root, name), []byte(content), 0o644))
}

// run runs the command; it works on one cluster at a time.
func (fx *fixture) run(t *testing.T, args ...string) error {
	t.Helper()
	fx.worked = nil
	fx.out.Reset()
	fx.errOut.Reset()
	f := New(fx.factory, Operation{Name: "up", Order: rollout.Forward, Changes: true, Undoing: "destroy"})
	f.Notices = func() *notice.Sender { return fx.sender }
	if fx.baking != nil {
		fx.baking(f)
	}
	if !fx.now.IsZero() {
		f.Now = func() time.Time { return fx.now }
	}
	cmd := &cobra.Command{
		Use: "up", Args: f.Args, SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := f.Choose()
			if err != nil || len(all) == 0 {
				return err
			}
			if err := f.Enter(all); err != nil {
				return err
			}
			return With(cmd.Context(), f, open, func(s *Session[struct{}]) error { return s.Run(cmd.Context(), all, fx.tasks(f)) })
		},
	}
	f.AddFlags(cmd)
	f.AddGateFlags(cmd)
	f.AddChangedFlags(cmd)
	cmd.Flags().BoolVar(&fx.refresh, "refresh", false, "")
	cmd.Flags().Bool("yes", false, "")
	cmd.SetArgs(append(args, "--parallel", "1"))
	return cmd.ExecuteContext(t.Context())
}

func open(context.Context, automation.Observer) (struct{}, error) { return struct{}{}, nil }

func (fx *fixture) tasks(f *Fleet) Tasks {
	t := Tasks{
		Changes: func(context.Context, *config.Cluster) bool { return true },
		Work: func(_ context.Context, t Terminal, c *config.Cluster) (rollout.Work, error) {
			fx.worked = append(fx.worked, c.Name)
			t.Status.Done("%s: worked on", c.Name)
			t.Out.Write([]byte("data of " + c.Name + "\n"))
			if slices.Contains(fx.bad, c.Name) {
				return rollout.Work{Phase: "core"}, errors.New("no quota")
			}
			return rollout.Work{Phase: "bootstrap", Changes: map[string]int{"create": 2}}, nil
		},
	}
	if !f.NoGate {
		t.Gate = func(_ context.Context, c *config.Cluster) error {
			if slices.Contains(fx.unhealthy, c.Name) {
				return &health.Error{Cluster: c.Name}
			}
			return nil
		}
		t.Health = t.Gate
	}
	return t
}

func TestChoose(t *testing.T) {
	fx := newFixture(t)
	for _, test := range []struct {
		args string
		want []string
		err  string
	}{
		{args: "east", want: []string{"east"}},
		{args: "west canary", want: []string{"canary", "west"}},
		{args: "--all", want: []string{"canary", "east", "west", "last"}},
		{args: "--selector tier=live --wave 1", want: []string{"east", "west"}},
		{args: "--wave 0,2", want: []string{"canary", "last"}},
		{args: "canary last -l tier=live", want: []string{"last"}},
		{args: "", err: "no cluster is selected; pass names of clusters or paths of cluster files, or --all, --selector, --wave or --status"},
		{args: "--all east", err: "--all and east: name clusters, or take all; see `up --help`"},
		{args: "--selector tier=none", err: "no cluster matches --selector tier=none; `tombolo list` shows the clusters; their labels are in their files"},
		{args: "--selector a==b==c", err: "selector \"a==b==c\": found '==', expected: ',' or 'end of string'; see `up --help`"},
		{args: "--resume east", err: "--resume and east: a resumed run has its own clusters; pass --resume alone"},
		{args: "--all --gate-timeout 0s", err: "--gate-timeout is 0s; pass a duration such as 5m, or --no-gate"},
		{args: "--resume", err: "no run of up is unfinished; run `tombolo up` with the clusters it is about"},
	} {
		err := fx.run(t, strings.Fields(test.args)...)
		// How long this one took is not to decide about the next one's order.
		assert.NilError(t, os.RemoveAll(filepath.Join(fx.root, ".tombolo")))
		if test.err != "" {
			if err == nil || err.Error() != test.err || fx.worked != nil {
				t.Errorf("%s: got %v, want %s", test.args, err, test.err)
			}
			continue
		}
		if err != nil || !slices.Equal(fx.worked, test.want) {
			t.Errorf("%s: worked on %v, %v; want %v", test.args, fx.worked, err, test.want)
		}
	}
}

func TestOneClusterLooksAsItIs(t *testing.T) {
	fx := newFixture(t)
	assert.NilError(t, fx.run(t, "east"))
	if fx.out.String() != "data of east\n" || fx.errOut.String() != "✔ east: worked on\n" {
		t.Errorf("got %q and %q", fx.out, fx.errOut)
	}
	fx.bad = []string{"east"}
	if err := fx.run(t, "east"); err == nil || err.Error() != "no quota" {
		t.Errorf("got %v", err)
	}
}

func TestSeveral(t *testing.T) {
	fx := newFixture(t)
	fx.bad = []string{"east"}
	err := fx.run(t, "--all", "--refresh")
	want := "up: 2 of 4 clusters succeeded, 1 failed, 1 skipped; first cause: no quota; `tombolo up --resume` continues with the rest"
	assert.Check(t, is.Error(err, want))
	table := `CLUSTER   WAVE   PHASE       CHANGES   DURATION   RESULT    FIRST CAUSE`
	if got := fx.out.String(); !strings.HasPrefix(got, "data of canary\n\ndata of east\n\ndata of west\n\n") || !strings.Contains(got, table) ||
		!strings.Contains(got, "not started: east did not succeed") {
		t.Errorf("got\n%s", got)
	}
	if got := fx.errOut.String(); !strings.Contains(got, "✔ west: worked on\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestResumed(t *testing.T) {
	fx := newFixture(t)
	fx.bad = []string{"east"}
	assert.Assert(t, fx.run(t, "--all", "--refresh", "--yes") != nil, "no failure")
	fx.bad, fx.unhealthy = nil, []string{"west"}
	err := fx.run(t, "--resume", "--yes")
	if verification := new(health.Error); !errors.As(err, &verification) || verification.Cluster != "west" {
		t.Errorf("got %v, want the first cause of the gate", err)
	}
	if !slices.Equal(fx.worked, []string{"east"}) || !fx.refresh {
		t.Errorf("worked on %v, with refresh %v", fx.worked, fx.refresh)
	}
	if got := fx.errOut.String(); !strings.Contains(got, "resuming up of ") || !strings.Contains(got, ": 2 of 4 clusters left\n") {
		t.Errorf("got\n%s", got)
	}
	if err := fx.run(t, "--resume", "--no-gate", "--refresh=false"); err != nil {
		t.Error(err)
	}
	if !slices.Equal(fx.worked, []string{"last"}) || fx.refresh {
		t.Errorf("worked on %v, with refresh %v", fx.worked, fx.refresh)
	}
	if got := fx.out.String(); strings.Count(got, "done before") != 3 {
		t.Errorf("got\n%s", got)
	}
}

func TestResumeRefusesAnotherBackend(t *testing.T) {
	fx := newFixture(t)
	fx.factory.Globals.Backend = "file:///here"
	fx.bad = []string{"canary"}
	assert.Assert(t, fx.run(t, "--all") != nil, "no failure")
	fx.factory.Globals.Backend = "s3://there"
	err := fx.run(t, "--resume")
	if f := new(driverfault.Error); !errors.As(err, &f) || f.Class != driverfault.Precondition ||
		!strings.HasSuffix(f.What, "cannot be resumed: its state is in file:///here, and this is s3://there") {
		t.Errorf("got %v", err)
	}
	assert.Check(t, fx.worked == nil, "worked on %v", fx.worked)
}

func TestResumeRefusesChangedFiles(t *testing.T) {
	fx := newFixture(t)
	fx.bad = []string{"canary"}
	assert.Assert(t, fx.run(t, "--all") != nil, "no failure")
	fx.write(t, "clusters/west.yaml", "version: 1\n")
	err := fx.run(t, "--resume")
	var f *driverfault.Error
	if !errors.As(err, &f) || f.Class != driverfault.Precondition || !strings.HasSuffix(f.What, "cannot be resumed: since then clusters/west.yaml changed") {
		t.Errorf("got %v", err)
	}
	assert.Check(t, fx.worked == nil, "worked on %v", fx.worked)
}

func TestJSON(t *testing.T) {
	fx := newFixture(t)
	fx.factory.Globals.Output = render.JSON
	assert.NilError(t, fx.run(t, "east", "west"))
	lines := strings.Split(strings.TrimSpace(fx.out.String()), "\n")
	var types []string
	for _, line := range lines {
		var d struct{ Type string }
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			d.Type = line
		}
		types = append(types, d.Type)
	}
	want := []string{
		"run-started", "cluster-started", "data of east", "cluster-finished", "cluster-started", "data of west", "cluster-finished",
		"run-finished", "summary",
	}
	assert.Check(t, slices.Equal(types, want), "got %v, want %v", types, want)
	if fx.errOut.Len() > 0 {
		t.Errorf("people read %q", fx.errOut)
	}
}

func TestJournalCannotBeWritten(t *testing.T) {
	fx := newFixture(t)
	fx.write(t, ".tombolo", "a file in the directory's place")
	err := fx.run(t, "east")
	assert.Check(t, fault.Is(err, fault.Precondition) && fx.worked == nil, "worked on %v: %v", fx.worked, err)
}
