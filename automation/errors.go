package automation

import "fmt"

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
