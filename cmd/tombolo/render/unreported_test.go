package render

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
)

func TestSaidBy(t *testing.T) {
	cut := strings.Repeat("zé", 200)
	end := "up demo-core: aws:sqs/queue:Queue events: CreateQueue: AccessDenied: not you; " +
		"aws:s3/bucketV2:BucketV2 logs: waiting: it broke; aws:s3/bucketV2:BucketV2 logs: x yyy…" + cut + "; and 2 more; allow the action"
	for _, tt := range []struct {
		name string
		d    diagnostic
		want bool
	}{
		{"the same", diagnostic{name: "events", text: "CreateQueue: AccessDenied: not you"}, true},
		{"a list", diagnostic{name: "events", text: "1 error occurred:\n\t* CreateQueue: AccessDenied: not you\n\n"}, true},
		{"a list behind what was done", diagnostic{name: "logs", text: "an unhandled error occurred: 1 error occurred:\n\t* waiting: it broke"}, true},
		{"of the stack", diagnostic{name: "tombolo-demo-core", root: true, text: "program failed: 1 error occurred:\n\t* it broke"}, true},
		{"a long one, cut in the middle", diagnostic{name: "logs", text: "x " + strings.Repeat("y", 2000) + cut}, true},
		{"of another resource", diagnostic{name: "dead-letters", text: "CreateQueue: AccessDenied: not you"}, false},
		{"another of that resource", diagnostic{name: "events", text: "SetQueueAttributes: throttled"}, false},
		{"nothing but a head", diagnostic{name: "events", text: "1 error occurred:"}, false},
	} {
		if got := tt.d.isIn(end); got != tt.want {
			t.Errorf("%s: said is %t, want %t", tt.name, got, tt.want)
		}
	}
}

// errorEvent is an error as the engine reports it.
func errorEvent(name, text string) events.EngineEvent {
	return events.EngineEvent{EngineEvent: apitype.EngineEvent{DiagnosticEvent: &apitype.DiagnosticEvent{
		Severity: "error", URN: "urn:pulumi:demo-core::tombolo::aws:sqs/queue:Queue::" + name, Message: text,
	}}}
}

// TestErrorsAreToldOnce: what the end says is not told before, all else is.
func TestErrorsAreToldOnce(t *testing.T) {
	for name, o := range map[string]Options{"plain": {}, "live": {Terminal: true}} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			o.Err = &out
			p := New(o)
			p.StackStarted("demo-core", "up")
			p.EngineEvent("demo-core", errorEvent("one", "1 error occurred:\n\t* no such queue\n"))
			p.EngineEvent("demo-core", errorEvent("two", "no such bucket"))
			assert.Check(t, !strings.Contains(out.String(), "no such"), "an error is told before the end:\n%s", &out)
			p.StackFinished("demo-core", nil, errors.New("up demo-core: aws:sqs/queue:Queue one: no such queue; make it"))
			p.Close()
			if got := out.String(); strings.Contains(got, "no such queue") || strings.Count(got, "two: no such bucket") != 1 {
				t.Errorf("the errors before the end are\n%s", got)
			}
		})
	}
}

func TestErrorsWithoutAnEndAreTold(t *testing.T) {
	var out bytes.Buffer
	p := New(Options{Err: &out})
	p.StackStarted("demo-core", "up")
	p.EngineEvent("demo-core", errorEvent("one", "no such queue"))
	p.Close()
	p.Close()
	if got := out.String(); strings.Count(got, "one: no such queue") != 1 {
		t.Errorf("the view shows\n%s", got)
	}
}
