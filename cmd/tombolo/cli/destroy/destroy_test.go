package destroy

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/automation/drift"
	"tombolo/automation/teardown"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

type driver struct {
	mu    sync.Mutex
	calls []string
	empty bool // the stacks are there, and nothing is in them
	none  bool
	// leftover is what stops a destruction that may not delete it.
	leftover []teardown.Leftover
}

func (d *driver) Destroy(_ context.Context, c *config.Cluster, o automation.DestroyOptions) (automation.Result, error) {
	call := fmt.Sprintf("%s only=%q remove=%v", c.Name, o.Only, o.Remove)
	if o.Unreachable {
		call += " unreachable"
	}
	if o.Leftovers == teardown.DeleteLeftovers {
		call += " delete"
	}
	if o.KeepData {
		call += " keep"
	}
	if o.Confirmed {
		call += " confirmed"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, call)
	r := automation.Result{Cluster: c.Name}
	if d.leftover != nil && o.Leftovers != teardown.DeleteLeftovers {
		return r, &teardown.LeftoversError{Cluster: c.Name, Left: d.leftover, Core: true}
	}
	switch {
	case d.none:
	case d.empty:
		r.Stacks = []automation.StackResult{{Stack: c.Name + "-bootstrap", Operation: "destroy", Changes: automation.Changes{}}}
	default:
		r.Stacks = []automation.StackResult{{Stack: c.Name + "-bootstrap", Operation: "destroy", Changes: automation.Changes{"delete": 2}}}
	}
	return r, nil
}

func parse(t *testing.T, args ...string) (o *Options, d *driver, in, errOut *bytes.Buffer, err error) {
	t.Helper()
	f := clitest.New(t, render.Text)
	cmd := NewCmdDestroy(f.Factory, func(_ context.Context, parsed *Options) error { o = parsed; return nil })
	if err := clitest.Execute(t, cmd, args...); err != nil {
		return nil, nil, nil, nil, err
	}
	d = &driver{}
	o.Driver = func(context.Context, automation.Observer) (Driver, error) { return d, nil }
	o.Clusters = clitest.Named(func(name string) *config.Cluster {
		return &config.Cluster{Name: name, File: name + ".yaml", Protect: name == "vault"}
	})
	return o, d, f.In, f.ErrOut, nil
}

// destruction is a command line, and what comes of it.
type destruction struct {
	name     string
	args     []string
	terminal bool
	answer   string
	// leftover is what the driver finds left over.
	leftover []teardown.Leftover
	calls    []string
	err      string
	says     string
}

func (test destruction) run(t *testing.T) {
	o, d, in, errOut, err := parse(t, test.args...)
	assert.NilError(t, err)
	d.leftover = test.leftover
	if test.terminal {
		o.Streams.SetTerminal(100)
	}
	in.WriteString(test.answer)
	err = destroyRun(t.Context(), o)
	if (err == nil) != (test.err == "") || (err != nil && err.Error() != test.err) {
		t.Errorf("got the error %v, want %q", err, test.err)
	}
	assert.Check(t, slices.Equal(d.calls, test.calls), "got the calls %q, want %q", d.calls, test.calls)
	assert.Check(t, strings.Contains(errOut.String(), test.says), "people read %q, want %q in it", errOut, test.says)
}

func TestDestroy(t *testing.T) {
	for _, test := range []destruction{
		{name: "yes", args: []string{"demo", "--yes", "--remove"}, calls: []string{`demo only="" remove=true`}},
		{
			name: "the reverse of the waves", args: []string{"canary", "prod", "--yes", "--parallel", "1"},
			calls: []string{`prod only="" remove=false`, `canary only="" remove=false`},
		},
		{name: "one stack", args: []string{"demo", "--yes", "--only", "bootstrap"}, calls: []string{`demo only="bootstrap" remove=false`}},
		{name: "a dead cluster", args: []string{"demo", "--yes", "--unreachable"}, calls: []string{`demo only="" remove=false unreachable`}},
		{name: "no terminal", args: []string{"demo"}, err: "destroy needs confirmation, and this is not a terminal; pass --yes"},
		{
			name: "named", args: []string{"demo"}, terminal: true, answer: "demo\n",
			calls: []string{`demo only="" remove=false confirmed`}, says: "Type demo to destroy its core and bootstrap permanently:",
		},
		{
			name: "several by their number", args: []string{"canary", "prod", "--parallel", "1"}, terminal: true, answer: "2\n",
			calls: []string{`prod only="" remove=false confirmed`, `canary only="" remove=false confirmed`},
			says:  "prod\ncanary\nType 2 to destroy core and bootstrap of these clusters permanently:",
		},
		{
			name: "several, and another number", args: []string{"canary", "prod"}, terminal: true, answer: "3\n",
			err: "2 clusters were not destroyed",
		},
		{
			name: "a plain yes is not enough", args: []string{"demo", "--only", "core"}, terminal: true, answer: "yes\n",
			err: "demo was not destroyed", says: "Type demo to destroy its core permanently:",
		},
		{
			name: "yes is not enough for what is protected", args: []string{"demo", "vault", "--yes"}, terminal: true,
			err: "vault is protected, and --yes does not destroy what is protected; pass --yes-destroy vault, or type the name on a terminal",
		},
		{
			name: "protected, and nobody to ask", args: []string{"vault"},
			err: "vault is protected, and --yes does not destroy what is protected; pass --yes-destroy vault, or type the name on a terminal",
		},
		{
			name: "protected and named", args: []string{"vault", "demo", "--yes", "--yes-destroy", "vault", "--parallel", "1"},
			calls: []string{`demo only="" remove=false`, `vault only="" remove=false confirmed`},
		},
		{
			name: "protected and typed", args: []string{"vault"}, terminal: true, answer: "vault\n",
			calls: []string{`vault only="" remove=false confirmed`}, says: "Type vault to destroy its core and bootstrap permanently:",
		},
		{
			name: "named and not meant", args: []string{"demo", "--yes-destroy", "vault"},
			err: "--yes-destroy names vault, which is not among the clusters to destroy; name it as an argument, too",
		},
	} {
		t.Run(test.name, test.run)
	}
}

// TestDestroyForgetsDrift of a cluster that is gone, and of no other.
func TestDestroyForgetsDrift(t *testing.T) {
	for args, left := range map[string]bool{"": false, "--only core": false, "--only bootstrap": true} {
		o, d, _, _, err := parse(t, append(strings.Fields(args), "demo", "--yes")...)
		assert.NilError(t, err)
		looks, err := o.Looks()
		assert.NilError(t, err)
		assert.NilError(t, looks.Save(drift.Report{Cluster: "demo"}))
		d.leftover = []teardown.Leftover{{Kind: "volume", ID: "vol-1"}}
		has := func() bool {
			report, err := looks.Load("demo")
			assert.NilError(t, err)
			return report != nil
		}
		assert.Check(t, destroyRun(t.Context(), o) != nil && has(), args)
		d.leftover = nil
		assert.NilError(t, destroyRun(t.Context(), o))
		assert.Check(t, is.Equal(has(), left), args)
	}
}

func TestDestroyNothing(t *testing.T) {
	for _, none := range []bool{true, false} {
		o, d, _, errOut, err := parse(t, "demo", "--yes")
		assert.NilError(t, err)
		d.none, d.empty = none, true
		assert.NilError(t, destroyRun(t.Context(), o))
		if got, want := errOut.String(), "✔ demo: nothing to destroy\n"; got != want {
			t.Errorf("without stacks %v: got %q, want %q", none, got, want)
		}
	}
}

// TestDestroyNamesOwnStacks: whoever is asked reads that they go, or stay.
func TestDestroyNamesOwnStacks(t *testing.T) {
	for says, args := range map[string][]string{
		"! demo: own stack demo-database (program in own/database) goes with it, and all that it has\nType demo to destroy its core, bootstrap and own stacks permanently:": {"demo"},
		"! demo: own stack demo-database (program in own/database) stays, with --keep-data\nType demo to destroy its core and bootstrap permanently:":                       {"demo", "--keep-data"},
		"Type demo to destroy its bootstrap permanently:": {"demo", "--only", "bootstrap"},
	} {
		o, _, in, errOut, err := parse(t, args...)
		assert.NilError(t, err)
		o.OwnStacks = func() ([]config.OwnStack, error) {
			return []config.OwnStack{
				{Name: "database", Program: "own/database", Clusters: "tombolo/cluster=demo"}, {Name: "bucket", Program: "own/bucket", Clusters: "tombolo/cluster=other"},
			}, nil
		}
		o.Streams.SetTerminal(100)
		in.WriteString("demo\n")
		assert.NilError(t, destroyRun(t.Context(), o))
		assert.Check(t, strings.Contains(errOut.String(), says), "people read %q, want %q in it", errOut, says)
	}
}

func TestDestroyUnknownStack(t *testing.T) {
	_, _, _, _, err := parse(t, "demo", "--only", "everything")
	want := `invalid argument "everything" for "--only" flag: must be one of: core, bootstrap`
	assert.Check(t, is.Error(err, want))
}

func TestLeftovers(t *testing.T) {
	const stopped = "destroy demo: controllers have left over volume vol-1; delete what is not needed and run the same command again, " +
		"or have it done with --leftovers delete (stack demo-core was kept)"
	for _, test := range []destruction{
		{name: "nobody to ask", args: []string{"--keep-data"}, calls: []string{`demo only="" remove=false keep`}, err: stopped},
		{name: "told to stop", args: []string{"--leftovers", "stop"}, terminal: true, calls: []string{`demo only="" remove=false`}, err: stopped},
		{name: "told to delete", args: []string{"--leftovers", "delete"}, calls: []string{`demo only="" remove=false delete`}},
		{
			name: "asked, and deleted", terminal: true, answer: "delete\n",
			calls: []string{`demo only="" remove=false`, `demo only="" remove=false delete`},
		},
		{name: "asked, and left", terminal: true, answer: "yes\n", calls: []string{`demo only="" remove=false`}, err: stopped},
	} {
		test.args = append([]string{"demo", "--yes"}, test.args...)
		test.leftover = []teardown.Leftover{{Kind: "volume", ID: "vol-1"}}
		t.Run(test.name, test.run)
	}
}
