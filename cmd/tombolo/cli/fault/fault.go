// Package fault holds the errors that commands themselves find. Each is of a
// class, and each class has an exit code; the table is in package cli.
package fault

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"tombolo/internal/wording"
)

// Class groups errors by what the caller can do about them.
type Class string

// The classes that commands find themselves.
const (
	// Usage: the command line is wrong; nothing was started.
	Usage Class = "usage"
	// Precondition: something must be set up or started first.
	Precondition Class = "precondition"
	// Verification: what was deployed is not as it should be.
	Verification Class = "verification"
	// Contract: the platform tree does not fit the clusters that follow it.
	Contract Class = "contract"
	// Drift: the cloud or a cluster differs from the stacks.
	Drift Class = "drift"
	// Changes: a preview with --exit-code found changes.
	Changes Class = "changes"
	// Dangerous: a preview with --exit-code found dangerous changes.
	Dangerous Class = "dangerous"
	// Policy: the project's policy rejects the change.
	Policy Class = "policy"
	// Window: a cluster is outside of its change windows, and was not changed.
	Window Class = "window"
	// Declined: the user answered no at the prompt.
	Declined Class = "declined"
)

// Error is a problem and what to do about it.
type Error struct {
	Class   Class
	Problem string
	// Remedy is what to do, in the imperative. It may be empty.
	Remedy string
	// Err is the cause, if another error was.
	Err error
}

// Error returns problem, cause and remedy on one line.
func (e *Error) Error() string {
	parts := make([]string, 0, 2)
	problem := e.Problem
	if e.Err != nil {
		problem = strings.TrimPrefix(problem+": "+e.Err.Error(), ": ")
	}
	parts = append(parts, problem)
	if e.Remedy != "" {
		parts = append(parts, e.Remedy)
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// NewUsage returns an error in the command line.
func NewUsage(problem, remedy string) error {
	return &Error{Class: Usage, Problem: problem, Remedy: remedy}
}

// NewPrecondition returns an error about something that must be set up first.
func NewPrecondition(problem, remedy string, cause error) error {
	return &Error{Class: Precondition, Problem: problem, Remedy: remedy, Err: cause}
}

// CannotAsk is the error of a command that needs confirmation and cannot prompt
// for it: with --output json, or without a terminal. It is nil when it can prompt.
func CannotAsk(command string, json, terminal bool) error {
	switch {
	case json:
		return NewUsage(command+" needs confirmation, and --output json asks no questions", "pass --yes")
	case !terminal:
		return NewUsage(command+" needs confirmation, and this is not a terminal", "pass --yes")
	}
	return nil
}

// Exit is the error of a command that plays another program and has said why it
// failed, as that program does: the process ends with the code, and says no more.
type Exit struct{ Code int }

// Is says whether an error is of a class.
func Is(err error, class Class) bool {
	var f *Error
	return errors.As(err, &f) && f.Class == class
}

// Meant asks about a word that is not known whether a near one was meant; "" without such a one.
func Meant(word string, known []string) string {
	near := wording.Nearest(word, known)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", near)
}

// Error names the code.
func (e *Exit) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// Refuse writes, on the error output, what the other program would say of a refusal, and is
// the error that ends the process with that program's code.
func Refuse(errOut io.Writer, code int, format string, args ...any) error {
	if _, err := fmt.Fprintf(errOut, format, args...); err != nil {
		return err
	}
	return &Exit{Code: code}
}
