// Package result writes what an operation on a cluster did, for machines.
package result

import (
	"io"

	"tombolo/automation"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/render"
)

// document is the last document of a command in the JSON format.
type document struct {
	Type    string  `json:"type"`
	Command string  `json:"command"`
	Cluster string  `json:"cluster"`
	Stacks  []stack `json:"stacks"`
	// UnchangedSince is the up after which nothing has changed, for which no engine was started.
	UnchangedSince *automation.LastUp `json:"unchangedSince,omitempty"`
	// Unseen are lines about own stacks that a preview has left out.
	Unseen  []string `json:"unseen,omitempty"`
	Seconds float64  `json:"seconds"`
}

type stack struct {
	Stack        string         `json:"stack"`
	Operation    string         `json:"operation"`
	Changes      map[string]int `json:"changes"`
	Changed      int            `json:"changed"`
	Seconds      float64        `json:"seconds"`
	Placeholders bool           `json:"placeholders,omitempty"`
	Removed      bool           `json:"removed,omitempty"`
}

// Write writes the result of a command. Outputs are left out: the command
// outputs has them.
func Write(w io.Writer, command string, r automation.Result) error {
	d := document{Type: "result", Command: command, Cluster: r.Cluster, Stacks: []stack{}, UnchangedSince: r.UnchangedSince, Unseen: r.Unseen, Seconds: r.Duration.Seconds()}
	for _, s := range r.Stacks {
		d.Stacks = append(d.Stacks, stack{
			Stack: s.Stack, Operation: s.Operation, Changes: s.Changes, Changed: s.Changes.Total(),
			Seconds: s.Duration.Seconds(), Placeholders: s.Placeholders, Removed: s.Removed,
		})
	}
	return render.WriteJSON(w, d)
}

// Work is what a run on several clusters says of the result: the phase that was
// reached, and the changes of both stacks.
func Work(r automation.Result) rollout.Work {
	var w rollout.Work
	for _, s := range r.Stacks {
		w.Phase = string(s.Kind)
		for op, n := range s.Changes {
			if w.Changes == nil {
				w.Changes = map[string]int{}
			}
			w.Changes[op] += n
		}
	}
	return w
}

// Changes says whether a preview changes anything. Placeholders stand for changes.
func Changes(r automation.Result) bool {
	for _, s := range r.Stacks {
		if s.Placeholders || s.Changes.Total() > 0 {
			return true
		}
	}
	return false
}

// Plans returns what the progress saw of a preview's stacks, together with
// what the driver knows of them.
func Plans(progress *render.Progress, r automation.Result) []render.Plan {
	seen := map[string]render.Plan{}
	for _, plan := range progress.Plans() {
		seen[plan.Stack] = plan
	}
	plans := make([]render.Plan, 0, len(r.Stacks))
	for _, s := range r.Stacks {
		plan := seen[s.Stack]
		plan.Stack, plan.Changes, plan.Placeholders = s.Stack, s.Changes, s.Placeholders
		plans = append(plans, plan)
	}
	return plans
}
