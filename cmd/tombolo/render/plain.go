package render

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"tombolo/internal/wording"
)

// heartbeat is how long a stack may be silent before an event that would
// otherwise say nothing brings a line on what still runs.
const heartbeat = 20 * time.Second

// plainView writes one line per finished change: for logs.
type plainView struct {
	w     io.Writer
	style Style
	now   func() time.Time
	last  map[string]time.Time
}

func (v *plainView) started(op *operation) {
	v.line(op.stack, v.style.symbols().doing, op.name)
}

func (v *plainView) resource(op *operation, c change) {
	switch {
	case c.phase == phaseFailed:
		text := fmt.Sprintf("%s %s %s failed after %s", words(c.op).doing, c.typ, c.name, duration(c.elapsed))
		v.line(op.stack, v.style.symbols().failed, text)
	case c.phase == phaseDone && !silent(c.op) && !op.preview():
		v.line(op.stack, " ", v.finishedLine(op, c))
	default:
		v.beat(op)
	}
}

func (v *plainView) finishedLine(op *operation, c change) string {
	return fmt.Sprintf("%s %s %s (%s, %s)", words(c.op).done, c.typ, c.name, progress(op), duration(c.elapsed))
}

// beat prints what still runs after a time without output.
func (v *plainView) beat(op *operation) {
	if v.now().Sub(v.last[op.stack]) < heartbeat {
		return
	}
	if s, running := op.slowest(); running > 0 && !op.preview() {
		text := fmt.Sprintf("still %s %s %s (%s, %d running, %s)", words(s.op).doing, s.typ, s.name,
			progress(op), running, duration(v.now().Sub(s.started)))
		v.line(op.stack, v.style.symbols().waiting, text)
	}
}

func (v *plainView) message(op *operation, d diagnostic) {
	symbol, ok := severitySymbol(v.style, d.severity)
	if !ok || op.hold(d) {
		return
	}
	for i, line := range messageLines(d, 0) {
		if i > 0 {
			symbol = " "
		}
		v.line(op.stack, symbol, line)
	}
}

func (v *plainView) finished(op *operation) {
	for _, d := range op.unreported() {
		v.message(op, d)
	}
	symbol, text := closing(v.style, op)
	v.line(op.stack, symbol, text)
}

func (v *plainView) waiting(op *operation) {
	if op.waiting != "" {
		v.line(op.stack, v.style.symbols().waiting, "waiting for "+op.waiting)
	}
}

func (v *plainView) note(stack, message string) {
	v.line(stack, v.style.symbols().doing, message)
}

func (v *plainView) tick()  {}
func (v *plainView) close() {}

func (v *plainView) line(stack, symbol, text string) {
	v.last[stack] = v.now()
	if stack != "" {
		text = stack + ": " + text
	}
	fmt.Fprintf(v.w, "%s %s\n", v.style.symbol(symbol), wording.Lines(text))
}

// progress is "3/20", or "3 done" when the total is not known.
func progress(op *operation) string {
	if op.preview() {
		return fmt.Sprintf("%d found", op.done)
	}
	if op.planned == unknownCount {
		return fmt.Sprintf("%d done", op.done)
	}
	return fmt.Sprintf("%d/%d", op.done, max(op.planned, op.done))
}

// closing is the line that ends an operation.
func closing(style Style, op *operation) (symbol, text string) {
	took := duration(op.elapsed(op.ended))
	if op.err != nil {
		how := "failed"
		if errors.Is(op.err, context.Canceled) {
			how = "interrupted"
		}
		text = fmt.Sprintf("%s %s after %s: %s", op.name, how, took, summary(op.changes, op.preview()))
		if op.failed > 0 {
			text += fmt.Sprintf(", %d failed", op.failed)
		}
		return style.symbols().failed, text
	}
	return style.symbols().done, fmt.Sprintf("%s done in %s: %s", op.name, took, summary(op.changes, op.preview()))
}

// severitySymbol says whether a message is shown to people, and how it starts.
func severitySymbol(style Style, severity string) (string, bool) {
	switch severity {
	case "error":
		return style.symbols().failed, true
	case "warning":
		return "!", true
	}
	return "", false
}

// maxMessageLines is how much of one message is shown; the rest is in the
// engine's log.
const maxMessageLines = 16

// messageLines breaks a diagnostic into lines of at most width cells.
func messageLines(d diagnostic, width int) []string {
	text := d.text
	if d.name != "" {
		text = d.name + ": " + text
	}
	lines := wrap(text, width)
	if extra := len(lines) - maxMessageLines; extra > 0 {
		lines = append(lines[:maxMessageLines], fmt.Sprintf("(%d more lines)", extra))
	}
	return lines
}
