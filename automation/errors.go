package automation

import (
	"fmt"
	"strings"

	"tombolo/automation/fault"
)

// CommandError says that the Pulumi CLI failed at an operation on a stack.
// It holds the causes the engine reported, never the CLI's whole output.
type CommandError struct {
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
	// causes are all of the engine's errors.
	causes []string
}

func (e *CommandError) Error() string {
	what := fmt.Sprintf("%s %s: %s", e.Operation, e.Stack, strings.Join(e.Reasons, "; "))
	return fault.WithRemedy(what, e.Remedy)
}

// Unwrap returns the cause.
func (e *CommandError) Unwrap() error { return e.Err }

// DeploymentError says that an operation on a cluster failed part of the way.
type DeploymentError struct {
	// Cluster is the cluster's name.
	Cluster string
	// Consequence is what was left undone on purpose, if anything.
	Consequence string
	// Err is the failure, most often a *CommandError.
	Err error
}

func (e *DeploymentError) Error() string {
	if e.Consequence == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%v (%s)", e.Err, e.Consequence)
}

// Unwrap returns the failure.
func (e *DeploymentError) Unwrap() error { return e.Err }
