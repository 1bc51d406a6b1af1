package automation

import (
	"fmt"
	"strings"
	"time"
)

// PreconditionError says that an operation was not started because something
// it needs is missing or wrong.
type PreconditionError struct {
	// What is missing or wrong.
	What string
	// Remedy is what to do about it.
	Remedy string
	// Err is the cause, if there is one. Its text is part of What already.
	Err error
}

func (e *PreconditionError) Error() string { return withRemedy(e.What, e.Remedy) }

// Unwrap returns the cause.
func (e *PreconditionError) Unwrap() error { return e.Err }

// LockedError says that a stack is locked by somebody else.
type LockedError struct {
	// Stack is the stack's name.
	Stack string
	// Owner of the lock; nil when the backend does not tell.
	Owner *LockOwner
	// Remedy is what to do about it.
	Remedy string
}

func (e *LockedError) Error() string {
	if e.Owner == nil {
		return withRemedy(fmt.Sprintf("stack %s is locked by another update", e.Stack), e.Remedy)
	}
	return withRemedy(fmt.Sprintf("stack %s is locked by %s", e.Stack, e.Owner), e.Remedy)
}

// LockOwner is the process that locked a stack.
type LockOwner struct {
	// PID of the pulumi process on Host.
	PID int `json:"pid"`
	// Host name.
	Host string `json:"hostname"`
	// User name.
	User string `json:"username"`
	// Since is when the lock was taken.
	Since time.Time `json:"timestamp"`
}

func (o LockOwner) String() string {
	return fmt.Sprintf("%s on %s (process %d, since %s)",
		o.User, o.Host, o.PID, o.Since.UTC().Format(time.RFC3339))
}

// same says that two are one; a backend tells the time to the second.
func (o LockOwner) same(other LockOwner) bool {
	return o.PID == other.PID && o.Host == other.Host && o.User == other.User &&
		o.Since.Truncate(time.Second).Equal(other.Since.Truncate(time.Second))
}

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
	return withRemedy(what, e.Remedy)
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

func withRemedy(what, remedy string) string {
	if remedy == "" {
		return what
	}
	return what + "; " + remedy
}
