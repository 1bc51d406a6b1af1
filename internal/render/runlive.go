package render

import "fmt"

func (v *liveView) runStarted(r *runState) {
	v.above(v.o.Style.symbols().doing, wrap(runHead(r), v.width()-2))
}

func (v *liveView) clusterStarted(*runState, *clusterState) { v.draw() }

// clusterFinished lets the cause scroll away above when there is one. What went
// well stays in its line.
func (v *liveView) clusterFinished(r *runState, c *clusterState) {
	if c.end.Result.good() {
		v.draw()
		return
	}
	symbol, text := clusterClosing(v.o.Style, r, c)
	text = fmt.Sprintf("%s: %s%s", c.Name, text, causeTail(c.end.Cause))
	v.above(symbol, messageLines(diagnostic{text: text}, v.width()-2))
}

func (v *liveView) gateStarted(*runState) { v.draw() }

func (v *liveView) gateFinished(_ *runState, end GateEnd) {
	symbol, text := gateClosing(v.o.Style, end)
	v.above(symbol, wrap(text, v.width()-2))
}

func (v *liveView) runFinished(_ *runState, s Summary) {
	symbol, text := runClosing(v.o.Style, s)
	v.above(symbol, wrap(text, v.width()-2))
}

func (v *liveView) interlude(write func()) {
	v.erase()
	write()
	v.draw()
}
