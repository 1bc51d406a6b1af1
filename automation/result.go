package automation

import (
	"fmt"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/approved"
	"tombolo/automation/fault"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/stacks"
)

// Result is what an operation on a cluster did.
type Result struct {
	// Cluster is the cluster's name.
	Cluster string `json:"cluster"`
	// Stacks in the order they were worked on.
	Stacks []StackResult `json:"stacks"`
	// FileChanges are the keys in which the cluster file differs from what the live
	// cluster was made from.
	FileChanges config.Changes `json:"fileChanges,omitempty"`
	// UnchangedSince is the up after which nothing has changed, so that this one has started no
	// engine; nil for one that has.
	UnchangedSince *LastUp `json:"unchangedSince,omitempty"`
	// Plan is what an up would do; nil where it was not asked for.
	Plan *approved.Cluster `json:"-"`
	// Duration of the whole operation, checks and recovery included.
	Duration time.Duration `json:"duration"`
}

// StackResult is what an operation on one stack did.
type StackResult struct {
	// Stack is the stack's name, such as demo-core.
	Stack string `json:"stack"`
	// Kind of the stack.
	Kind stacks.Kind `json:"kind"`
	// Operation: up, preview or destroy.
	Operation string `json:"operation"`
	// Changes counts the stack's resources by what happened to them.
	Changes Changes `json:"changes"`
	// Duration of the engine's operation.
	Duration time.Duration `json:"duration"`
	// Outputs of the stack after up; secrets are shown as "[secret]".
	Outputs map[string]any `json:"outputs,omitempty"`
	// Placeholders says that a preview ran with typed unknowns in the place
	// of core's outputs.
	Placeholders bool `json:"placeholders,omitempty"`
	// Removed says that the stack itself was removed from the backend.
	Removed bool `json:"removed,omitempty"`
	// Kept are the cloud resources that a destroy left in the cloud on purpose.
	Kept []teardown.Kept `json:"kept,omitempty"`

	// Leftovers are the cloud resources that a destroy found besides and deleted, each
	// with its proof.
	Leftovers []teardown.Leftover `json:"leftovers,omitempty"`

	// lost are the objects that a plan would take away from under Applications.
	lost []string
	// causes are all errors that the engine reported.
	causes []string
	// unanswered are creations that failed and may have happened.
	unanswered []apitype.StepEventMetadata
	// rootOutputs are the stack's outputs as the engine's events told them, with
	// secrets masked; nil when they did not.
	rootOutputs map[string]any
	// differs says that something did not stay, or would not.
	differs bool
	// unseen are the URNs of resources of which a preview did not see all inputs.
	unseen []string
	// told is what a preview has told, for a plan.
	told approved.Preview
}

// Changes counts resources by operation, with the Pulumi engine's words:
// create, update, delete, replace, same and so on.
type Changes map[string]int

// Total is the number of resources that changed, or would change.
func (c Changes) Total() int {
	n := 0
	for op, count := range c {
		if op != "same" && op != "read" {
			n += count
		}
	}
	return n
}

// Stack returns the result of the stack of the given kind.
func (r Result) Stack(k stacks.Kind) (StackResult, bool) {
	for _, s := range r.Stacks {
		if s.Kind == k {
			return s, true
		}
	}
	return StackResult{}, false
}

// run is an operation on a cluster under way.
type run struct {
	driver  *Driver
	cluster *config.Cluster
	start   time.Time
	result  Result
}

func (d *Driver) begin(c *config.Cluster) *run {
	return &run{driver: d, cluster: c, start: d.now(), result: Result{Cluster: c.Name}}
}

// add takes the result of a stack that was worked on.
func (r *run) add(s StackResult) {
	if s.Stack != "" {
		r.result.Stacks = append(r.result.Stacks, s)
	}
}

// end is the result of all, with the error.
func (r *run) end(err error) (Result, error) {
	r.result.Duration = r.driver.now().Sub(r.start)
	return r.result, err
}

// bothKept is the error of a destruction that failed before bootstrap was destroyed.
func bothKept(c *config.Cluster, why, remedy string, err error) error {
	return &fault.Error{
		Class: fault.Deployment, What: fmt.Sprintf("destroy %s: %s", c.Name, why), Err: err,
		Remedy: fmt.Sprintf("%s (stacks %s and %s were kept)", remedy, stacks.Name(c.Name, stacks.Bootstrap), stacks.Name(c.Name, stacks.Core)),
	}
}
