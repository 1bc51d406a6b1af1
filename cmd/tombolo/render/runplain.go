package render

import (
	"fmt"
	"strings"
	"time"

	"tombolo/automation/rollout"
	"tombolo/internal/wording"
)

func (v *plainView) runStarted(r *runState) {
	v.line("", v.style.symbols().doing, runHead(r))
}

func (v *plainView) clusterStarted(_ *runState, c *clusterState) {
	text := fmt.Sprintf("%s begins (wave %d", c.Cluster, c.Wave)
	if c.Expected > 0 {
		text += ", about " + duration(c.Expected)
	}
	v.line("", v.style.symbols().doing, text+")")
}

func (v *plainView) clusterFinished(r *runState, c *clusterState) {
	symbol, text := clusterClosing(v.style, r, c)
	text += " (" + runCount(r)
	if left, ok := r.remaining(); ok && left > 0 {
		text += ", about " + duration(left) + " left"
	}
	for i, line := range messageLines(diagnostic{text: text + ")" + causeTail(c.end.Cause())}, 0) {
		if i > 0 {
			symbol = " "
		}
		v.line(c.Cluster, symbol, line)
	}
}

func (v *plainView) gateStarted(r *runState) {
	v.line("", v.style.symbols().waiting, gateHead(r.gate))
}

func (v *plainView) gateFinished(_ *runState, end rollout.GateEnd) {
	symbol, text := gateClosing(v.style, end)
	v.line("", symbol, text)
}

func (v *plainView) runFinished(_ *runState, s rollout.Summary) {
	symbol, text := runClosing(v.style, s)
	v.line("", symbol, text)
}

func (v *plainView) interlude(write func()) { write() }

// runHead is the line that begins a run.
func runHead(r *runState) string {
	text := fmt.Sprintf("%s of %d clusters in %s", r.Operation, len(r.clusters), wording.Count(len(r.waves), "wave"))
	if r.Parallel > 0 {
		text += fmt.Sprintf(", %d at once", r.Parallel)
	}
	if left, ok := r.remaining(); ok && left > 0 {
		text += ", about " + duration(left)
	}
	return text
}

// runCount is how far a run is: "3/8 done, 1 failed".
func runCount(r *runState) string {
	ended, _ := r.tally()
	text := fmt.Sprintf("%d/%d done", r.good(), len(r.clusters))
	return text + counted(ended, runFailed, runInterrupted, runSkipped, runPending)
}

// counted lists results that there are any of.
func counted(ended map[result]int, of ...result) string {
	var b strings.Builder
	for _, r := range of {
		if n := ended[r]; n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, r)
		}
	}
	return b.String()
}

// clusterClosing is the line that ends a cluster's part in a run, without the
// cause.
func clusterClosing(style Style, r *runState, c *clusterState) (symbol, text string) {
	changes := ""
	if c.end.Changes != nil {
		changes = ": " + summary(c.end.Changes, r.looks())
	}
	symbol, text = c.result().symbol(style), r.Operation+" "+string(c.result())
	took := duration(c.end.Duration)
	switch {
	case c.result() == runDone:
		text += " in " + took + changes
	case c.result() == runEarlier || c.result() == runSkipped || c.result() == runPending:
	case c.end.Phase != "" && c.end.Phase != r.Operation:
		text += " in " + c.end.Phase + " after " + took + changes
	default:
		text += " after " + took + changes
	}
	return symbol, text
}

// causeTail puts a cause behind what it is the cause of.
func causeTail(cause string) string {
	if cause == "" {
		return ""
	}
	return ": " + cause
}

func gateHead(g *gateState) string {
	return fmt.Sprintf("wave %d: waiting until %s ready", g.wave, wording.Plural(len(g.clusters), "cluster is", "clusters are"))
}

func gateClosing(style Style, end rollout.GateEnd) (symbol, text string) {
	took := duration(end.Duration)
	if end.Err != nil {
		return style.symbols().failed, fmt.Sprintf("wave %d: not ready after %s: %s", end.Wave, took, end.Err)
	}
	return style.symbols().done, fmt.Sprintf("wave %d: ready after %s", end.Wave, took)
}

// runClosing is the line that ends a run.
func runClosing(style Style, s rollout.Summary) (symbol, text string) {
	took := s.Duration.Round(time.Second)
	counts := strings.TrimPrefix(counted(countEnds(s), results...), ", ")
	if s.Succeeded() {
		return style.symbols().done, fmt.Sprintf("%s of %d clusters done in %s: %s", s.Operation, len(s.Clusters), duration(took), counts)
	}
	return style.symbols().failed, fmt.Sprintf("%s of %d clusters ended after %s: %s", s.Operation, len(s.Clusters), duration(took), counts)
}
