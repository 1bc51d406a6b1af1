// Package fault has the error that the packages of the driver share.
package fault

// Class is what an error means for the caller.
type Class int

// The classes.
const (
	// Precondition: nothing was started, because something that the operation needs
	// is missing or wrong.
	Precondition Class = iota
	// Usage: nothing was started, because the operation was called with something
	// wrong.
	Usage
	// Deployment: the operation failed part of the way; what was done is kept.
	Deployment
)

// Error says what went wrong and what to do about it.
type Error struct {
	// Class of the error. Default: Precondition.
	Class Class
	// What went wrong.
	What string
	// Remedy is what to do about it; it may be "".
	Remedy string
	// Err is the cause, if there is one. Its text is part of What already.
	Err error
}

func (e *Error) Error() string { return WithRemedy(e.What, e.Remedy) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// WithRemedy is the text of an error with what to do about it; the remedy may be "".
func WithRemedy(what, remedy string) string {
	if remedy == "" {
		return what
	}
	return what + "; " + remedy
}
