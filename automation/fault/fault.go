// Package fault has the errors that the rooms of the driver share.
package fault

// Precondition says that an operation was not started because something
// it needs is missing or wrong.
type Precondition struct {
	// What is missing or wrong.
	What string
	// Remedy is what to do about it.
	Remedy string
	// Err is the cause, if there is one. Its text is part of What already.
	Err error
}

func (e *Precondition) Error() string { return WithRemedy(e.What, e.Remedy) }

// Unwrap returns the cause.
func (e *Precondition) Unwrap() error { return e.Err }

// WithRemedy is the text of an error with what to do about it; the remedy may be "".
func WithRemedy(what, remedy string) string {
	if remedy == "" {
		return what
	}
	return what + "; " + remedy
}
