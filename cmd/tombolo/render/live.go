package render

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// liveView draws one line per stack and redraws them in place. Messages and
// finished operations scroll away above them. It reads no input, changes no
// terminal mode and hides no cursor, so that an end at any moment leaves the
// terminal as it was.
type liveView struct {
	o     Options
	model *model
	// drawn are the widths of the lines on the screen that the next drawing
	// replaces.
	drawn  []int
	closed bool
}

func (v *liveView) started(*operation) { v.draw() }
func (v *liveView) waiting(*operation) { v.draw() }
func (v *liveView) tick()              { v.draw() }

// resource leaves it to the next tick to draw many clusters: they bring more
// events than an eye can follow.
func (v *liveView) resource(*operation, change) {
	if v.model.run == nil || v.o.Refresh <= 0 {
		v.draw()
	}
}

func (v *liveView) message(op *operation, d diagnostic) {
	symbol, ok := severitySymbol(v.o.Style, d.severity)
	if !ok || op.hold(d) {
		return
	}
	if d.name != "" {
		d.text = d.name + ": " + d.text
	}
	d.name = op.stack
	v.above(symbol, messageLines(d, v.width()-2))
}

func (v *liveView) note(stack, message string) {
	if stack != "" {
		message = stack + ": " + message
	}
	v.above(v.o.Style.symbols().doing, wrap(message, v.width()-2))
}

// finished lets the operation's last line scroll away with what is above. In a
// run that is the cluster's to tell.
func (v *liveView) finished(op *operation) {
	for _, d := range op.unreported() {
		v.message(op, d)
	}
	if r := v.model.run; r != nil && r.owns(op) {
		v.draw()
		return
	}
	symbol, text := closing(v.o.Style, op)
	v.above(symbol, wrap(op.stack+": "+text, v.width()-2))
}

func (v *liveView) close() {
	if !v.closed {
		v.erase()
		v.closed = true
	}
}

// width is the widest line: one cell less than the terminal, because some
// terminals wrap on writing the last one.
func (v *liveView) width() int { return max(20, v.o.Width()) - 1 }

// above writes lines that stay, over the block that moves.
func (v *liveView) above(symbol string, lines []string) {
	var b strings.Builder
	b.WriteString(v.clearing())
	v.drawn = nil
	for i, line := range lines {
		lead := "  "
		if i == 0 {
			lead = v.o.Style.symbol(symbol) + " "
		}
		b.WriteString(lead + v.o.Style.clean(line) + "\n")
	}
	fmt.Fprint(v.o.Err, b.String())
	v.draw()
}

func (v *liveView) erase() {
	fmt.Fprint(v.o.Err, v.clearing())
	v.drawn = nil
}

// clearing moves to the block's first row and clears from there. Lines that a
// narrowed terminal has wrapped take more rows than one.
func (v *liveView) clearing() string {
	rows := 0
	for _, w := range v.drawn {
		rows += 1 + max(0, w-1)/max(1, v.o.Width())
	}
	if rows == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", rows)
}

// draw replaces the block by the present state.
func (v *liveView) draw() {
	if v.closed {
		return
	}
	var b strings.Builder
	b.WriteString(v.clearing())
	v.drawn = v.drawn[:0]
	for _, r := range v.rows() {
		text := v.o.Style.fit(v.o.Style.clean(r.text), v.width()-2)
		b.WriteString(v.o.Style.symbol(r.symbol) + " " + text + "\n")
		v.drawn = append(v.drawn, lipgloss.Width(text)+2)
	}
	if b.Len() > 0 {
		fmt.Fprint(v.o.Err, b.String())
	}
}

// rows are the lines of the block: those of the run that is on, or one for each
// stack in progress.
func (v *liveView) rows() []row {
	if v.model.run != nil {
		return v.runRows(v.model.run)
	}
	var rows []row
	name := v.nameWidth()
	for _, op := range v.model.ops {
		if !op.over {
			rows = append(rows, row{v.o.Style.symbols().waiting, v.line(op, name)})
		}
	}
	return rows
}

func (v *liveView) nameWidth() int {
	widest := 0
	for _, op := range v.model.ops {
		widest = max(widest, lipgloss.Width(op.stack))
	}
	return widest
}

// line is one stack: phase, progress, elapsed, and what takes longest.
func (v *liveView) line(op *operation, name int) string {
	now := v.o.Now()
	if op.waiting != "" {
		return fmt.Sprintf("%s  waiting %s for %s", pad(op.stack, name), duration(op.elapsed(now)), op.waiting)
	}
	count := progress(op)
	if op.failed > 0 {
		count += fmt.Sprintf(", %d failed", op.failed)
	}
	head := fmt.Sprintf("%s  %s  %s  %s", pad(op.stack, name), op.name, pad(count, 7), pad(duration(op.elapsed(now)), 5))
	s, running := op.slowest()
	if running == 0 || op.preview() {
		return strings.TrimRight(head, " ")
	}
	tail := fmt.Sprintf("%s %s %s", words(s.op).doing, s.typ, s.name)
	took := duration(now.Sub(s.started))
	if room := v.width() - 2 - lipgloss.Width(head) - 3 - lipgloss.Width(took); room > 12 {
		return head + " " + v.o.Style.fit(tail, room) + " " + took
	}
	return head
}
