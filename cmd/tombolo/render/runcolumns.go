package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"
)

// The widths of a run's columns, in cells: the state is mostly a kind of stack,
// the times are as duration writes them.
const (
	stateWidth   = len("bootstrap")
	elapsedWidth = len("59m59s")
	leftWidth    = len("~59m59s left")
	leastName    = 12
	columnSpace  = 2
	leastStep    = 8
)

// almost is the most that a bar shows of what is not over.
const almost = 0.99

// columns are the columns of a run's lines. The same for all lines of one
// drawing, so that they stand below each other.
type columns struct {
	style            Style
	now              time.Time
	width            int
	name, state, bar int
}

// columns fits the columns to the terminal: names give way to a quarter of it,
// bars to what is left.
func (v *liveView) columns(r *runState) columns {
	c := columns{style: v.o.Style, now: v.o.Now(), width: v.width() - 2, state: stateWidth}
	for _, cluster := range r.clusters {
		c.name = max(c.name, lipgloss.Width(cluster.Cluster))
		if cluster.end != nil {
			c.state = max(c.state, lipgloss.Width(string(cluster.result())))
		}
	}
	c.name = min(c.name, max(leastName, c.width/4))
	switch {
	case c.width >= 100:
		c.bar = 20
	case c.width >= 72:
		c.bar = 10
	}
	return c
}

// row is the line of one cluster.
func (c columns) row(r *runState, cluster *clusterState) row {
	sym := c.style.symbols()
	switch {
	case cluster.end != nil && cluster.verifying():
		op := cluster.op
		return row{sym.waiting, c.line(cluster.Cluster, verification, "", op.elapsed(c.now), "", "for "+op.waiting)}
	case cluster.end != nil:
		return row{cluster.result().symbol(c.style), c.ended(r, cluster)}
	case cluster.begun:
		return row{sym.waiting, c.working(cluster)}
	}
	left := ""
	if cluster.Expected > 0 {
		left = "~" + duration(cluster.Expected)
	}
	return row{" ", c.line(cluster.Cluster, "waiting", c.drawBar(0), 0, left, fmt.Sprintf("wave %d", cluster.Wave))}
}

// line puts the parts of a line into their columns.
func (c columns) line(name, state, bar string, elapsed time.Duration, left string, rest ...string) string {
	parts := []string{pad(c.style.fit(name, c.name), c.name), pad(state, c.state)}
	if c.bar > 0 {
		parts = append(parts, pad(bar, c.bar))
	}
	took := ""
	if elapsed > 0 {
		took = duration(elapsed)
	}
	parts = append(parts, pad(took, elapsedWidth), pad(left, leftWidth))
	space := strings.Repeat(" ", columnSpace)
	head := strings.Join(parts, space)
	if room := c.width - lipgloss.Width(head) - columnSpace; room >= leastStep {
		head += space + c.style.fit(longest(rest, room), room)
	}
	return strings.TrimRight(head, " ")
}

// ended is the line of a cluster that is finished.
func (c columns) ended(r *runState, cluster *clusterState) string {
	end := cluster.end
	rest, bar := end.Cause(), ""
	if cluster.result().good() {
		bar = c.drawBar(1)
		if end.Changes != nil {
			rest = summary(end.Changes, r.looks())
		}
	}
	return c.line(cluster.Cluster, string(cluster.result()), bar, end.Duration, "", rest)
}

// working is the line of a cluster in progress.
func (c columns) working(cluster *clusterState) string {
	elapsed := c.now.Sub(cluster.started)
	left := ""
	switch rest := cluster.Expected - elapsed; {
	case cluster.Expected == 0:
	case rest > 0:
		left = "~" + duration(rest) + " left"
	default:
		left = "late " + duration(-rest)
	}
	bar := c.drawBar(min(cluster.share(c.now), almost))
	return c.line(cluster.Cluster, cluster.phase(), bar, max(elapsed, time.Millisecond), left, cluster.steps(c.now)...)
}

// drawBar draws how much is done, from 0 to 1.
func (c columns) drawBar(share float64) string {
	full, empty := "#", "."
	if c.style.Unicode {
		full, empty = "█", "░"
	}
	filled := int(share * float64(c.bar))
	return strings.Repeat(full, filled) + strings.Repeat(empty, max(0, c.bar-filled))
}

// share is how much of a cluster's operation is done: of the time that it is
// expected to take, or, if that is not known, of the changes to its present stack.
func (c *clusterState) share(now time.Time) float64 {
	if c.Expected > 0 {
		return float64(now.Sub(c.started)) / float64(c.Expected)
	}
	if c.op == nil || c.op.planned <= 0 {
		return 0
	}
	return float64(c.op.done) / float64(c.op.planned)
}

// steps say what is done about a cluster now: how far its stack is, and what
// takes longest. The first says most, the last takes the least room.
func (c *clusterState) steps(now time.Time) []string {
	if c.op == nil || c.op.over {
		return []string{""}
	}
	if c.op.waiting != "" {
		return []string{"for " + c.op.waiting}
	}
	count := progress(c.op)
	s, running := c.op.slowest()
	if running == 0 || c.op.preview() {
		return []string{count}
	}
	took, kind := duration(now.Sub(s.started)), s.typ[strings.LastIndex(s.typ, ":")+1:]
	return []string{
		fmt.Sprintf("%s %s %s %s %s", count, words(s.op).doing, s.typ, s.name, took),
		fmt.Sprintf("%s %s %s %s %s", count, words(s.op).doing, kind, s.name, took),
		fmt.Sprintf("%s %s %s %s", count, kind, s.name, took),
		fmt.Sprintf("%s %s %s", count, kind, s.name),
	}
}

// headRow is the line above the clusters: how far the run is. What there is no
// room for is left out, the least important first.
func (v *liveView) headRow(r *runState) row {
	now := v.o.Now()
	_, running := r.tally()
	wave, place := r.wave()
	count := r.Operation + "  " + runCount(r)
	where := fmt.Sprintf("  wave %d", wave)
	if r.gate != nil {
		where = fmt.Sprintf("  gate of wave %d", wave)
	}
	times := "  " + duration(now.Sub(r.started))
	if left, ok := r.remaining(); ok && left > 0 {
		times += ", ~" + duration(left) + " left"
	}
	of, work := fmt.Sprintf(" (%d of %d)", place, len(r.waves)), ""
	if running > 0 {
		work = fmt.Sprintf(", %d in work", running)
	}
	return row{v.o.Style.symbols().doing, longest([]string{
		count + work + where + of + times, count + work + where + times, count + where + times, count + times,
	}, v.width()-2)}
}

// longest is the first text, of ever shorter ones, that fits into a width; the
// last when none does.
func longest(texts []string, width int) string {
	for _, text := range texts {
		if lipgloss.Width(text) <= width {
			return text
		}
	}
	return texts[len(texts)-1]
}

// group shows several clusters in one line.
func group(n int, state string, names []string) string {
	return fmt.Sprintf("%d %s: %s", n, state, strings.Join(names, ", "))
}
