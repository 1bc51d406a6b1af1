package pulumicli

import (
	"fmt"
	"strings"

	"tombolo/automation/fault"
)

// Error says that the Pulumi CLI failed at an operation on a stack.
// It holds the causes the engine reported, never the CLI's whole output.
type Error struct {
	// Stack is the stack's name.
	Stack string
	// Operation: up, preview, destroy, refresh, and so on.
	Operation string
	// Reasons are the first errors that the engine reported; at least one.
	Reasons []string
	// Remedy is what to do about it.
	Remedy string
	// Err is the cause where there is one to compare with: context.Canceled
	// after an interruption, the program's own error when the program failed.
	Err error
	// Causes are all of the engine's errors.
	Causes []string
}

func (e *Error) Error() string {
	what := fmt.Sprintf("%s %s: %s", e.Operation, e.Stack, strings.Join(e.Reasons, "; "))
	return fault.WithRemedy(what, e.Remedy)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
