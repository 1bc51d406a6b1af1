package operation

import (
	"runtime"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestWhoCallsIsNotInTheState: of the calls that lead to a resource, a program sees none from
// before the driver's own.
func TestWhoCallsIsNotInTheState(t *testing.T) {
	var callers []string
	s := &Session{}
	assert.NilError(t, s.watched(func(*pulumi.Context) error {
		pcs := make([]uintptr, 100)
		frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
		for more := true; more; {
			var frame runtime.Frame
			frame, more = frames.Next()
			callers = append(callers, frame.Function)
		}
		return nil
	})(nil))
	assert.Check(t, is.Len(callers, 4), "%v", callers) // the program, caught, the goroutine, and its exit
}

func TestProgramPanics(t *testing.T) {
	s := &Session{}
	err := s.watched(func(*pulumi.Context) error { panic("no such zone") })(nil)
	assert.ErrorContains(t, err, "the program panicked: no such zone")
	assert.Check(t, strings.Contains(err.Error(), "session_test.go"), "the error does not say where: %v", err)
	assert.Check(t, is.Equal(s.programErr, err))
}
