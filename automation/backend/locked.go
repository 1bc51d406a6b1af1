package backend

import (
	"fmt"
	"time"

	"tombolo/automation/fault"
)

// LockedError says that a stack is locked by somebody else.
type LockedError struct {
	// Stack is the stack's name.
	Stack string
	// Owner of the lock; nil when the backend does not tell.
	Owner *Owner
	// Remedy is what to do about it.
	Remedy string
}

func (e *LockedError) Error() string {
	if e.Owner == nil {
		return fault.WithRemedy(fmt.Sprintf("stack %s is locked by another update", e.Stack), e.Remedy)
	}
	return fault.WithRemedy(fmt.Sprintf("stack %s is %s", e.Stack, e.Owner.Locked()), e.Remedy)
}

// Owner is the process that locked a stack.
type Owner struct {
	// PID of the pulumi process on Host.
	PID int `json:"pid"`
	// Host name.
	Host string `json:"hostname"`
	// User name.
	User string `json:"username"`
	// Since is when the lock was taken.
	Since time.Time `json:"timestamp"`
}

func (o Owner) String() string {
	return fmt.Sprintf("%s on %s (process %d, since %s)",
		o.User, o.Host, o.PID, o.Since.UTC().Format(time.RFC3339))
}

// Locked describes a stack that the owner has locked, for a text such as "stack demo-core is …".
func (o Owner) Locked() string { return "locked by " + o.String() }

// same says whether both are one process; a backend tells the time to the second.
func (o Owner) same(other Owner) bool {
	return o.PID == other.PID && o.Host == other.Host && o.User == other.User &&
		o.Since.Truncate(time.Second).Equal(other.Since.Truncate(time.Second))
}

// Lock is a lock on a stack.
type Lock struct {
	// Stack is the stack's name.
	Stack string `json:"stack"`
	// Owner of the lock; nil when the backend does not tell.
	Owner *Owner `json:"owner,omitempty"`
	// State of the owner.
	State OwnerState `json:"state"`

	// file is the lock itself in a directory or a bucket; "" elsewhere.
	file string
}

// OwnerState says whether the owner of a lock can still release it.
type OwnerState string

const (
	// OwnerGone says that the process has ended, or its id belongs to another one.
	OwnerGone OwnerState = "gone"
	// OwnerOrphan says that the Pulumi CLI runs, but the driver that started it is gone.
	OwnerOrphan OwnerState = "orphan"
	// OwnerAlive says that the Pulumi CLI runs.
	OwnerAlive OwnerState = "alive"
	// OwnerElsewhere says that the process is on another host, which cannot be
	// asked from here.
	OwnerElsewhere OwnerState = "elsewhere"
	// OwnerUnknown says that the backend does not tell whose the lock is.
	OwnerUnknown OwnerState = "unknown"
)
