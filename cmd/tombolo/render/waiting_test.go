package render

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const reason = "HelmRelease reporting/cluster-reporter: Progressing: Running 'install' action with timeout of 5m0s"

// waits shows a verification: one that waits for two things, 12 seconds in all.
func waits(o Options) {
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o.Now = func() time.Time { return clock }
	p := New(o)
	p.Waiting("demo", "GitRepository flux-system/platform: not reconciled yet")
	clock = clock.Add(12 * time.Second)
	p.Waiting("demo", reason)
	p.Waiting("demo", "")
	p.Close()
}

func TestWaitingInLines(t *testing.T) {
	var out bytes.Buffer
	waits(Options{Err: &out, Format: Plain, Style: Style{Unicode: true}})
	want := "◎ demo: waiting for GitRepository flux-system/platform: not reconciled yet\n◎ demo: waiting for " + reason + "\n"
	assert.Check(t, is.Equal(out.String(), want))
}

func TestWaitingForMachines(t *testing.T) {
	var out bytes.Buffer
	waits(Options{Out: &out, Format: JSON})
	if got := strings.Count(out.String(), `"type":"waiting"`); got != 2 || !strings.Contains(out.String(), reason) {
		t.Errorf("got %s", out.String())
	}
}

// TestWaitingOnATerminal reads what is drawn while it waits, cut to the width,
// and that nothing of it stays.
func TestWaitingOnATerminal(t *testing.T) {
	s := &screen{t: t, width: 60}
	var drawn bytes.Buffer
	waits(Options{
		Err: writers{s, &drawn}, Terminal: true, Width: func() int { return s.width }, Style: Style{Unicode: true},
	})
	assert.Check(t, is.Contains(drawn.String(), "◎ demo  waiting 12s for HelmRelease reporting/cluster-repo…"))
	assert.Check(t, len(s.lines) == 0, "lines stay: %q", s.lines)
}

type writers struct {
	s     *screen
	drawn *bytes.Buffer
}

func (w writers) Write(p []byte) (int, error) {
	w.drawn.Write(p)
	return w.s.Write(p)
}
