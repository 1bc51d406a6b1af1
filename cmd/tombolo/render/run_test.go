package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

	"tombolo/automation/rollout"
)

// TestRunLive replays an up of eight clusters in three waves, one of which
// fails, into terminals of three widths.
func TestRunLive(t *testing.T) {
	for _, width := range []int{60, 80, 120} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			s := &screen{t: t, width: width}
			var frames strings.Builder
			o := Options{Err: s, Terminal: true, Width: func() int { return width }, Style: Style{Color: true, Unicode: true}}
			p := replay(t, "testdata/run.jsonl", o, func(r record) {
				if r.Frame != "" {
					fmt.Fprintf(&frames, "--- %s\n%s", r.Frame, s)
				}
			})
			p.Close()
			fmt.Fprintf(&frames, "--- closed\n%s", s)
			golden.Assert(t, frames.String(), fmt.Sprintf("run-live-%d.golden", width))
		})
	}
}

// TestRunInASCII reads the same run where the locale has no other letters, and
// no colours are wanted.
func TestRunInASCII(t *testing.T) {
	var b bytes.Buffer
	replay(t, "testdata/run.jsonl", Options{Err: &b, Terminal: true}, nil).Close()
	for _, r := range b.String() {
		if r > 127 {
			t.Fatalf("the view holds %q, which an ASCII locale cannot show", r)
		}
	}
	if colours.MatchString(b.String()) {
		t.Error("the view is coloured, and no colours are wanted")
	}
	for _, want := range []string{"o hub      core       #.........  59s", "+ tools    done       ##########  3m50s"} {
		assert.Check(t, is.Contains(b.String(), want))
	}
}

func TestRunPlain(t *testing.T) {
	var out, err bytes.Buffer
	replay(t, "testdata/run.jsonl", Options{Out: &out, Err: &err, Style: Style{Unicode: true}}, nil).Close()
	golden.Assert(t, err.String(), "run-plain.golden")
	if out.Len() > 0 {
		t.Errorf("standard output holds status: %q", &out)
	}
}

func TestRunJSON(t *testing.T) {
	var out bytes.Buffer
	replay(t, "testdata/run.jsonl", Options{Out: &out, Format: JSON}, nil).Close()
	var kept strings.Builder
	for line := range strings.Lines(out.String()) {
		var document struct{ Type string }
		if err := json.Unmarshal([]byte(line), &document); err != nil {
			t.Fatalf("%q is not a document: %v", line, err)
		}
		if document.Type != "resource" {
			kept.WriteString(line)
		}
	}
	golden.Assert(t, kept.String(), "run-json.golden")
}

// TestRunOfOne: an operation on one cluster looks as it does without a run.
func TestRunOfOne(t *testing.T) {
	for _, format := range []Format{Text, Plain, JSON} {
		shown := map[bool]string{}
		for _, run := range []bool{true, false} {
			var b bytes.Buffer
			p := New(Options{Out: &b, Err: &b, Format: format, Terminal: true, Now: func() time.Time { return time.Unix(0, 0) }})
			if run {
				p.RunStarted(rollout.Plan{Operation: "up", Clusters: []rollout.Job{{Cluster: "demo"}}})
				p.ClusterStarted("demo")
			}
			p.StackStarted("demo-core", "up")
			p.StackFinished("demo-core", map[string]int{"create": 3}, nil)
			if run {
				p.ClusterFinished(rollout.End{Cluster: "demo", Outcome: rollout.Succeeded})
				p.RunFinished(rollout.Summary{Operation: "up"})
			}
			p.Close()
			shown[run] = b.String()
		}
		if shown[true] != shown[false] || shown[true] == "" {
			t.Errorf("%s: a run of one shows %q, and without a run it is %q", format, shown[true], shown[false])
		}
	}
}

// fifty is a run of fifty clusters in five waves, of which the first is done.
func fifty(p *Progress, tick func(seconds int)) {
	r := rollout.Plan{Operation: "up", Parallel: 6}
	for i := range 50 {
		r.Clusters = append(r.Clusters, rollout.Job{
			Cluster: fmt.Sprintf("cluster-%02d", i), Wave: i / 10, Expected: 4 * time.Minute,
		})
	}
	p.RunStarted(r)
	for i := range 18 {
		name := fmt.Sprintf("cluster-%02d", i)
		p.ClusterStarted(name)
		p.StackStarted(name+"-core", "up")
		if i < 12 {
			tick(20)
			p.StackFinished(name+"-core", map[string]int{"create": 31}, nil)
			end := rollout.End{Cluster: name, Outcome: rollout.Succeeded, Phase: "bootstrap", Changes: map[string]int{"create": 31}}
			if i == 11 {
				end.Outcome, end.Phase, end.Err = rollout.Failed, "core", errors.New("no more addresses")
			}
			p.ClusterFinished(end)
		}
	}
	tick(60)
	p.Note("", "look")
}

// TestRunOfFifty draws fifty clusters on terminals that are too small for them,
// and on one that is not.
func TestRunOfFifty(t *testing.T) {
	for _, size := range []struct{ width, height int }{{60, 24}, {80, 24}, {120, 24}, {80, 8}, {80, 60}} {
		name := fmt.Sprintf("run-fifty-%dx%d", size.width, size.height)
		t.Run(name, func(t *testing.T) {
			s := &screen{t: t, width: size.width}
			now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			p := New(Options{
				Err: s, Terminal: true, Style: Style{Unicode: true}, Now: func() time.Time { return now },
				Width: func() int { return size.width }, Height: func() int { return size.height },
			})
			fifty(p, func(seconds int) { now = now.Add(time.Duration(seconds) * time.Second) })
			golden.Assert(t, s.String(), name+".golden")
			moving := p.view.(*liveView).drawn
			if len(moving) >= size.height {
				t.Errorf("the view moves %d lines on a terminal of %d rows", len(moving), size.height)
			}
			p.Close()
		})
	}
}

func TestInterlude(t *testing.T) {
	s := &screen{t: t, width: 80}
	p := New(Options{Err: s, Terminal: true})
	p.StackStarted("demo-core", "up")
	p.Interlude(func() { fmt.Fprintln(s, "a table") })
	assert.Check(t, is.Equal(s.String(), "a table\no demo-core  up  0 done   0s\n"))
	p.Close()
}

func TestRemaining(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		run  rollout.Plan
		want time.Duration
	}{
		"nothing is known": {rollout.Plan{Parallel: 2, Clusters: []rollout.Job{{Cluster: "a"}, {Cluster: "b"}}}, 0},
		"two at once": {rollout.Plan{Parallel: 2, Clusters: []rollout.Job{
			{Cluster: "a", Expected: 3 * time.Minute}, {Cluster: "b", Expected: 2 * time.Minute}, {Cluster: "c", Expected: 2 * time.Minute},
		}}, 4 * time.Minute},
		"waves go one after the other": {rollout.Plan{Parallel: 2, Clusters: []rollout.Job{
			{Cluster: "a", Expected: 3 * time.Minute}, {Cluster: "b", Wave: 1, Expected: 2 * time.Minute},
		}}, 5 * time.Minute},
		"a spoke waits for its hub": {rollout.Plan{Parallel: 2, Clusters: []rollout.Job{
			{Cluster: "hub", Expected: 3 * time.Minute}, {Cluster: "spoke", Hub: "hub", Expected: 2 * time.Minute},
		}}, 5 * time.Minute},
		"a hub waits for its spokes to go": {rollout.Plan{Parallel: 2, Clusters: []rollout.Job{
			{Cluster: "spoke", Hub: "hub", Expected: 2 * time.Minute}, {Cluster: "hub", Expected: 3 * time.Minute},
		}}, 5 * time.Minute},
		"an unknown one is like the others": {rollout.Plan{Parallel: 1, Clusters: []rollout.Job{
			{Cluster: "a", Expected: time.Minute}, {Cluster: "b"},
		}}, 2 * time.Minute},
	} {
		got, ok := newRunState(c.run, func() time.Time { return now }).remaining()
		if got != c.want || ok != (c.want > 0) {
			t.Errorf("%s: got %s, %t; want %s", name, got, ok, c.want)
		}
	}
}

func TestRemainingOfWhatRuns(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := newRunState(rollout.Plan{Parallel: 2, Clusters: []rollout.Job{
		{Cluster: "a", Expected: 3 * time.Minute}, {Cluster: "b", Expected: time.Minute}, {Cluster: "c", Expected: time.Minute},
	}}, func() time.Time { return now })
	r.start(r.cluster("a"))
	r.start(r.cluster("b"))
	now = now.Add(2 * time.Minute)
	r.finish(r.cluster("b"), rollout.End{Cluster: "b", Outcome: rollout.Succeeded})
	if got, _ := r.remaining(); got != time.Minute {
		t.Errorf("got %s, want 1m: a has a minute left, and c takes one beside it", got)
	}
}

func TestWriteSummary(t *testing.T) {
	records := readRecords(t, "testdata/run.jsonl")
	s := records[len(records)-1].RunFinished.summary()
	for name, o := range map[string]SummaryOptions{
		"run-summary":      {},
		"run-summary-100":  {Table: TableOptions{Width: 100, Style: Style{Unicode: true}}},
		"run-summary-80":   {Table: TableOptions{Width: 80, Style: Style{Unicode: true}}},
		"run-summary.json": {JSON: true},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			assert.NilError(t, WriteSummary(&b, s, o))
			golden.Assert(t, b.String(), name+".golden")
		})
	}
}
