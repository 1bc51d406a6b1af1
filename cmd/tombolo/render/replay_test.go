package render

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"

	"tombolo/automation/rollout"
)

// record is a line of a recording: what the observer was told, and when.
type record struct {
	At     float64              `json:"at"`
	Stack  string               `json:"stack"`
	Start  string               `json:"start"`
	Event  *apitype.EngineEvent `json:"event"`
	Finish map[string]int       `json:"finish"`
	Error  string               `json:"error"`
	Note   string               `json:"note"`

	// What only runs of several clusters have.
	Run             *rollout.Plan `json:"run"`
	ClusterStarted  string        `json:"clusterStarted"`
	ClusterFinished *recordedEnd  `json:"clusterFinished"`
	GateStarted     *struct {
		Wave     int
		Clusters []string
	} `json:"gateStarted"`
	GateFinished *rollout.GateEnd `json:"gateFinished"`
	RunFinished  *recordedSummary `json:"runFinished"`
	Planned      int              `json:"planned"`
	Cluster      string           `json:"cluster"`
	Waiting      string           `json:"waiting"`
	// Frame names a moment at which the screen is looked at.
	Frame string `json:"frame"`
}

// recordedEnd is an End whose error is written as a text.
type recordedEnd struct {
	rollout.End
	Failure string
}

func (r recordedEnd) end() rollout.End {
	if r.Failure != "" {
		r.Err = errors.New(r.Failure)
	}
	return r.End
}

// recordedSummary is a Summary of recorded ends.
type recordedSummary struct {
	rollout.Summary
	Clusters []recordedEnd
}

func (r recordedSummary) summary() rollout.Summary {
	for _, c := range r.Clusters {
		r.Summary.Clusters = append(r.Summary.Clusters, c.end())
	}
	return r.Summary
}

// clock is set by the recording.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func readRecords(t *testing.T, path string) []record {
	t.Helper()
	file, err := os.Open(path)
	assert.NilError(t, err)
	defer file.Close()
	var records []record
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: line %d: %v", path, len(records)+1, err)
		}
		records = append(records, r)
	}
	assert.NilError(t, lines.Err())
	return records
}

// replay tells a recording to a Progress; after runs behind each record.
func replay(t *testing.T, path string, o Options, after func(record)) *Progress {
	t.Helper()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := &clock{at: start}
	o.Now = c.now
	p := New(o)
	for _, r := range readRecords(t, path) {
		c.at = start.Add(time.Duration(r.At * float64(time.Second)))
		tell(p, r)
		if after != nil {
			after(r)
		}
	}
	return p
}

func tell(p *Progress, r record) {
	switch {
	case r.Start != "":
		p.StackStarted(r.Stack, r.Start)
	case r.Event != nil:
		p.EngineEvent(r.Stack, events.EngineEvent{EngineEvent: *r.Event})
	case r.Finish != nil:
		var err error
		if r.Error != "" {
			err = errors.New(r.Error)
		}
		p.StackFinished(r.Stack, r.Finish, err)
	case r.Note != "":
		p.Note(r.Stack, r.Note)
	default:
		tellRun(p, r)
	}
}

func tellRun(p *Progress, r record) {
	switch {
	case r.Run != nil:
		p.RunStarted(*r.Run)
	case r.ClusterStarted != "":
		p.ClusterStarted(r.ClusterStarted)
	case r.ClusterFinished != nil:
		p.ClusterFinished(r.ClusterFinished.end())
	case r.GateStarted != nil:
		p.GateStarted(r.GateStarted.Wave, r.GateStarted.Clusters)
	case r.GateFinished != nil:
		p.GateFinished(*r.GateFinished)
	case r.RunFinished != nil:
		p.RunFinished(r.RunFinished.summary())
	case r.Planned != 0:
		p.StackPlanned(r.Stack, r.Planned)
	case r.Cluster != "":
		p.Waiting(r.Cluster, r.Waiting)
	case r.Frame != "":
		p.view.tick()
	}
}
