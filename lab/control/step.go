package control

import "time"

// StepState is how far a step has got.
type StepState string

// The states of a step.
const (
	StepDoing  StepState = "doing"
	StepDone   StepState = "done"
	StepFailed StepState = "failed"
	// StepNote is no work, but something to know.
	StepNote StepState = "note"
)

// Step is the progress of the lab's start and end. A step is reported when it begins and
// when it ends.
type Step struct {
	// Name of the step, such as "start the lab".
	Name string
	// State of the step.
	State StepState
	// Detail says more, such as what was recovered. It may be empty.
	Detail string
	// Elapsed since the step began; 0 when it begins.
	Elapsed time.Duration
}
