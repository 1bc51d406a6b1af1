package unlock

import (
	"context"
	"errors"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/automation/backend"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/locks"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/stacks"
)

var since = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)

// driver holds locks. It refuses as the real one does.
type driver struct {
	locks   []backend.Lock
	only    stacks.Kind
	removed []string
}

func (d *driver) Locks(_ context.Context, _ *config.Cluster, only stacks.Kind) ([]backend.Lock, error) {
	d.only = only
	return d.locks, nil
}

func (d *driver) Unlock(_ context.Context, l backend.Lock, ownerIsGone bool) error {
	if l.State != backend.OwnerGone && !ownerIsGone {
		return &backend.LockedError{Stack: l.Stack, Owner: l.Owner, Remedy: "wait"}
	}
	d.removed = append(d.removed, l.Stack)
	return nil
}

func lock(stack string, state backend.OwnerState) backend.Lock {
	return backend.Lock{
		Stack: stack, State: state,
		Owner: &backend.Owner{PID: 77, Host: "build-7", User: "ada", Since: since},
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
	cmd := NewCmdUnlock(f.Factory, func(ctx context.Context, o *locks.Options) error {
		o.Clusters = func(names []string) ([]*config.Cluster, error) { return []*config.Cluster{{Name: names[0]}}, nil }
		o.Driver = func(context.Context, automation.Observer) (locks.Driver, error) { return d, nil }
		o.Now = func() time.Time { return since.Add(90 * time.Minute) }
		return locks.Run(ctx, o)
	})
	err := clitest.Execute(t, cmd, append([]string{"demo"}, args...)...)
	return ended{f.Out.String(), f.ErrOut.String(), err}
}

const table = `STACK       USER   HOST      PROCESS   SINCE                           THE OWNER
demo-core   ada    build-7   77        2026-01-02 03:04:05 (1h30m0s)   is gone
`

func TestUnlock(t *testing.T) {
	d := &driver{locks: []backend.Lock{lock("demo-core", backend.OwnerGone)}}
	got := run(t, d, render.Text, "y")
	if got.err != nil || got.out != table || len(d.removed) != 1 {
		t.Errorf("removed %v, error %v, got:\n%s\nwant:\n%s", d.removed, got.err, got.out, table)
	}
	want := "Remove the lock of demo-core? [y/N] ✔ demo-core: removed the lock\n" +
		"the next up or destroy of demo first finds out how the interrupted operation ended\n"
	assert.Check(t, is.Equal(got.errOut, want))
}

func TestUnlockDeclined(t *testing.T) {
	d := &driver{locks: []backend.Lock{lock("demo-core", backend.OwnerGone)}}
	got := run(t, d, render.Text, "n")
	var declined *fault.Error
	if !errors.As(got.err, &declined) || got.err.Error() != "demo-core stays locked" || len(d.removed) > 0 {
		t.Errorf("removed %v, error %v", d.removed, got.err)
	}
}

func TestUnlockRefusesWhatIsNotProven(t *testing.T) {
	for _, state := range []backend.OwnerState{
		backend.OwnerAlive, backend.OwnerOrphan, backend.OwnerElsewhere, backend.OwnerUnknown,
	} {
		d := &driver{locks: []backend.Lock{lock("demo-core", state)}}
		got := run(t, d, render.Text, "", "--yes")
		var locked *backend.LockedError
		if !errors.As(got.err, &locked) || len(d.removed) > 0 {
			t.Errorf("%s: removed %v, error %v", state, d.removed, got.err)
		}
		if got = run(t, d, render.Text, "n", "--owner-is-gone"); len(d.removed) > 0 || got.err == nil {
			t.Errorf("%s: it did not ask: removed %v, error %v", state, d.removed, got.err)
		}
		if got = run(t, d, render.Text, "", "--yes", "--owner-is-gone"); got.err != nil || len(d.removed) != 1 {
			t.Errorf("%s: removed %v, error %v", state, d.removed, got.err)
		}
	}
}

func TestUnlockOwnerNotKnown(t *testing.T) {
	d := &driver{locks: []backend.Lock{{Stack: "demo-core", State: backend.OwnerUnknown}}}
	got := run(t, d, render.Text, "", "--yes", "--owner-is-gone", "--stack", "core")
	want := "STACK       USER   HOST   PROCESS   SINCE   THE OWNER\ndemo-core   -      -      -         -       is not known\n"
	if got.out != want || d.only != stacks.Core {
		t.Errorf("stack %q, got:\n%s\nwant:\n%s", d.only, got.out, want)
	}
}

func TestUnlockNoLock(t *testing.T) {
	got := run(t, &driver{}, render.Text, "", "--yes")
	if want := "✔ demo: there is no lock\n"; got.err != nil || got.errOut != want || got.out != "" {
		t.Errorf("got %+v, want %q", got, want)
	}
	got = run(t, &driver{}, render.JSON, "", "--yes")
	if want := `{"type":"unlock","cluster":"demo","removed":[]}` + "\n"; got.err != nil || got.out != want {
		t.Errorf("got %+v, want %q", got, want)
	}
}

func TestUnlockJSON(t *testing.T) {
	d := &driver{locks: []backend.Lock{{Stack: "demo-core", State: backend.OwnerUnknown}}}
	got := run(t, d, render.JSON, "", "--yes", "--owner-is-gone")
	want := `{"type":"unlock","cluster":"demo","removed":[{"stack":"demo-core","state":"unknown"}]}` + "\n"
	if got.err != nil || got.out != want || got.errOut != "" {
		t.Errorf("got %+v, want %q", got, want)
	}
}

// TestUnlockWithoutATerminal: without --yes the locks are shown, and none is
// removed.
func TestUnlockWithoutATerminal(t *testing.T) {
	d := &driver{locks: []backend.Lock{lock("demo-core", backend.OwnerGone)}}
	got := run(t, d, render.Text, "")
	const said = "no lock was removed; to remove them without a terminal, pass --yes\n"
	if got.err != nil || got.out != table || got.errOut != said || len(d.removed) > 0 {
		t.Errorf("removed %v, error %v, said %q, got:\n%s\nwant:\n%s", d.removed, got.err, got.errOut, got.out, table)
	}
	d = &driver{locks: []backend.Lock{{Stack: "demo-core", State: backend.OwnerUnknown}}}
	got = run(t, d, render.JSON, "")
	want := `{"type":"unlock","cluster":"demo","held":[{"stack":"demo-core","state":"unknown"}],"removed":[]}` + "\n"
	if got.err != nil || got.out != want || len(d.removed) > 0 {
		t.Errorf("removed %v, got %+v, want %q", d.removed, got, want)
	}
}
