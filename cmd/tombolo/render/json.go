package render

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"tombolo/internal/wording"
)

// event is a document of the JSON format about progress. Fields that
// do not apply are left out.
type event struct {
	Type      string         `json:"type"`
	Time      string         `json:"time,omitempty"`
	Stack     string         `json:"stack,omitempty"`
	Operation string         `json:"operation,omitempty"`
	Op        string         `json:"op,omitempty"`
	Status    string         `json:"status,omitempty"`
	Resource  string         `json:"resource,omitempty"`
	Name      string         `json:"name,omitempty"`
	URN       string         `json:"urn,omitempty"`
	Severity  string         `json:"severity,omitempty"`
	Message   string         `json:"message,omitempty"`
	Seconds   *float64       `json:"seconds,omitempty"`
	Changes   map[string]int `json:"changes,omitempty"`
	Failed    int            `json:"failed,omitempty"`
}

// jsonView writes one document per event.
type jsonView struct {
	w   io.Writer
	now func() time.Time
}

// WriteJSON writes one document on one line. Nothing in it is obeyed by a terminal or a CI system:
// what is escaped means the same in JSON.
func WriteJSON(w io.Writer, document any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(document); err != nil {
		return err
	}
	_, err := io.WriteString(w, wording.JSON(b.String()))
	return err
}

func (v *jsonView) started(op *operation) {
	v.write(event{Type: "stack-started", Stack: op.stack, Operation: op.name})
}

func (v *jsonView) resource(op *operation, c change) {
	e := event{
		Type: "resource", Stack: op.stack, Operation: op.name, Op: c.op, Status: string(c.phase),
		Resource: c.typ, Name: c.name, URN: c.urn,
	}
	if c.phase != phaseStarted {
		e.Seconds = seconds(c.elapsed)
	}
	v.write(e)
}

func (v *jsonView) message(op *operation, d diagnostic) {
	v.write(event{Type: "diagnostic", Stack: op.stack, Severity: d.severity, Name: d.name, Message: d.text})
}

func (v *jsonView) finished(op *operation) {
	e := event{
		Type: "stack-finished", Stack: op.stack, Operation: op.name, Status: string(phaseDone),
		Changes: op.changes, Failed: op.failed, Seconds: seconds(op.elapsed(op.ended)),
	}
	if op.err != nil {
		e.Status = string(phaseFailed)
	}
	v.write(e)
}

func (v *jsonView) waiting(op *operation) {
	if op.waiting != "" {
		v.write(event{Type: "waiting", Stack: op.stack, Message: op.waiting})
	}
}

func (v *jsonView) note(stack, message string) {
	v.write(event{Type: "note", Stack: stack, Message: message})
}

func (v *jsonView) tick()  {}
func (v *jsonView) close() {}

// write ignores an error: when standard output is closed, the operation continues,
// as its stack matters more than the report of it.
func (v *jsonView) write(e event) {
	e.Time = v.now().UTC().Format(time.RFC3339Nano)
	_ = WriteJSON(v.w, e)
}

func seconds(d time.Duration) *float64 {
	s := d.Round(time.Millisecond).Seconds()
	return &s
}
