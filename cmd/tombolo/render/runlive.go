package render

import (
	"fmt"

	"tombolo/automation/rollout"
)

func (v *liveView) runStarted(r *runState) {
	v.above(v.o.Style.symbols().doing, wrap(runHead(r), v.width()-2))
}

func (v *liveView) clusterStarted(*runState, *clusterState) { v.draw() }

// clusterFinished lets what went wrong scroll away above. What went well stays
// in its line.
func (v *liveView) clusterFinished(r *runState, c *clusterState) {
	if c.result().good() || c.result() == runSkipped {
		v.draw()
		return
	}
	symbol, text := clusterClosing(v.o.Style, r, c)
	text = fmt.Sprintf("%s: %s%s", c.Cluster, text, causeTail(c.end.Cause()))
	v.above(symbol, messageLines(diagnostic{text: text}, v.width()-2))
}

func (v *liveView) gateStarted(*runState) { v.draw() }

func (v *liveView) gateFinished(_ *runState, end rollout.GateEnd) {
	symbol, text := gateClosing(v.o.Style, end)
	v.above(symbol, messageLines(diagnostic{text: text}, v.width()-2))
}

func (v *liveView) runFinished(_ *runState, s rollout.Summary) {
	symbol, text := runClosing(v.o.Style, s)
	v.above(symbol, wrap(text, v.width()-2))
}

func (v *liveView) interlude(write func()) {
	v.erase()
	write()
	v.draw()
}

// row is a line of the block that moves.
type row struct{ symbol, text string }

// runRows are the lines of a run: its head, and one for each cluster. What does
// not fit on the screen is told in one line for each state, and what is worked
// on keeps its lines for longest.
func (v *liveView) runRows(r *runState) []row {
	room := max(3, v.o.Height()-1)
	rows := []row{v.headRow(r)}
	columns := v.columns(r)
	if 1+len(r.clusters) <= room {
		for _, c := range r.clusters {
			rows = append(rows, columns.row(r, c))
		}
		return rows
	}
	var active []row
	for _, c := range r.clusters {
		if c.running() || c.verifying() {
			active = append(active, columns.row(r, c))
		}
	}
	rest := v.collapsed(r)
	if most := max(1, room-1-len(rest)); len(active) > most {
		more := len(active) - (most - 1)
		active = append(active[:most-1], row{" ", fmt.Sprintf("and %d more in work", more)})
	}
	rows = append(append(rows, active...), rest...)
	return rows[:min(len(rows), room)]
}

// collapsed shows the clusters that are not in progress: one line for each state
// that there is.
func (v *liveView) collapsed(r *runState) []row {
	groups := map[result][]string{}
	var waiting []string
	for _, c := range r.clusters {
		switch {
		case c.verifying():
		case c.end != nil:
			groups[c.result()] = append(groups[c.result()], c.Cluster)
		case !c.begun:
			waiting = append(waiting, c.Cluster)
		}
	}
	var rows []row
	for _, ended := range results {
		if names := groups[ended]; len(names) > 0 {
			rows = append(rows, row{ended.symbol(v.o.Style), group(len(names), string(ended), names)})
		}
	}
	if len(waiting) > 0 {
		rows = append(rows, row{" ", group(len(waiting), "waiting", waiting)})
	}
	return rows
}
