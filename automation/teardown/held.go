package teardown

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/stacks"
)

// Held is an object that did not go.
type Held struct {
	// Object is its kind and name, such as "Service shop/front".
	Object string `json:"object"`
	// Finalizers that hold it; none when it is not being deleted at all.
	Finalizers []string `json:"finalizers,omitempty"`
	// Message of the object about itself, if it has one.
	Message string `json:"message,omitempty"`
}

// String says who holds the object.
func (h Held) String() string {
	switch {
	case len(h.Finalizers) > 0:
		return fmt.Sprintf("%s is held by %s", h.Object, strings.Join(h.Finalizers, ", "))
	case h.Message != "":
		return fmt.Sprintf("%s says: %s", h.Object, h.Message)
	}
	return h.Object + " is still there, or was made again"
}

// HeldError says that controllers did not give back in time what they have in
// the cloud.
type HeldError struct {
	// Stage is what they have there: load balancers, volumes or nodes.
	Stage string
	// After is how long they had.
	After time.Duration
	// Left are the objects that did not go.
	Left []Held
	// Err is why it is not known what is left.
	Err error
}

func (e *HeldError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("after %s it is not known which %s are left: %v", e.After, e.Stage, e.Err)
	}
	return fmt.Sprintf("%s were not given back within %s: %s", e.Stage, e.After, kube.Names(e.Left, most))
}

// Unwrap returns the cause.
func (e *HeldError) Unwrap() error { return e.Err }

// RemedyFor says what to do about the error of a Drain.
func RemedyFor(err error) string {
	if held := new(HeldError); errors.As(err, &held) && held.Err == nil {
		return "look at the logs of the controllers that hold them, resolve the cause, and run the same command again; " +
			"--leftovers delete takes the finalizers off, and deletes in the cloud what is left over then"
	}
	return "run the same command again"
}

// BothKept is the error of a teardown that failed before bootstrap was destroyed.
func BothKept(cluster, why, remedy string, err error) error {
	return &fault.Error{
		Class: fault.Deployment, What: fmt.Sprintf("destroy %s: %s", cluster, why), Err: err,
		Remedy: fmt.Sprintf("%s (stacks %s and %s were kept)", remedy, stacks.Name(cluster, stacks.Bootstrap), stacks.Name(cluster, stacks.Core)),
	}
}
