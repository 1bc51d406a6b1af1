package automation

import (
	"fmt"
	"time"

	"tombolo/automation/fault"
)

// DeploymentError says that an operation on a cluster failed part of the way.
type DeploymentError struct {
	// Cluster is the cluster's name.
	Cluster string
	// Consequence is what was left undone on purpose, if anything.
	Consequence string
	// Err is the failure, most often a *pulumicli.Error.
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

// VerificationError says that the platform was not ready in time.
type VerificationError struct {
	// Cluster is the cluster's name.
	Cluster string
	// Cause is the first cause: the object that waits for no other.
	Cause Check
	// Pending is how many of the Total checks had not passed.
	Pending, Total int
	// Waited is how long the driver waited.
	Waited time.Duration
}

func (e *VerificationError) Error() string {
	what := fmt.Sprintf("verify cluster %s: %d of %s not passed after %s; first cause: %s",
		e.Cluster, e.Pending, count(e.Total, "check", "checks"), e.Waited.Round(time.Second), e.Cause)
	return fault.WithRemedy(what, e.Cause.remedy())
}
