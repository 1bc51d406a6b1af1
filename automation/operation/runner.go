// Package operation runs the Pulumi engine on one stack of a cluster: it opens the stack, runs an
// operation, tells observers of it, gathers what the engine reports, and says which failures pass
// by themselves.
package operation

import (
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/backend"
	"tombolo/automation/cloud"
	"tombolo/automation/pulumicli"
	"tombolo/automation/trace"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// Observer is notified of what a driver does. Calls for one stack come in order;
// calls for different stacks may come from different goroutines.
type Observer interface {
	// StackPlanned is called before an operation whose number of changes is
	// known from the stack's state.
	StackPlanned(stack string, changes int)
	// StackStarted is called before an operation (up, preview, destroy,
	// refresh) on a stack.
	StackStarted(stack, operation string)
	// EngineEvent passes on an event of the Pulumi engine.
	EngineEvent(stack string, e events.EngineEvent)
	// StackFinished is called when the operation is over, with the number of
	// resources by operation (create, update, same, …). The counts are nil
	// when it failed before it made any.
	StackFinished(stack string, counts map[string]int, err error)
	// Waiting says what a verification of a cluster waits for now; "" when it
	// is over.
	Waiting(cluster, what string)
	// Note reports something that people should know, such as what was
	// recovered from an interrupted run.
	Note(stack, message string)
}

// Runner opens stacks and runs operations on them. All fields but Trace and Env are required.
type Runner struct {
	// Backend has the states, and CLI runs the Pulumi engine on them.
	Backend *backend.Backend
	CLI     *pulumicli.CLI
	// Program is what a stack's program is.
	Program func(*config.Cluster, stacks.Kind, catalog.Options) (pulumi.RunFunc, error)
	// Cloud is that of a cluster.
	Cloud func(*config.Cluster) cloud.Cloud
	// Observer of what happens, and Trace of it.
	Observer Observer
	Trace    *trace.Run
	// Env and BackendURL are what programs get of these names.
	Env        map[string]string
	BackendURL string
	// Now is the time.
	Now func() time.Time
	// Pauses before each further try of what fails for causes that pass.
	Pauses []time.Duration
}

// Note tells the observer what people should know of a stack.
func (r *Runner) Note(stack, message string) { r.Observer.Note(stack, message) }
