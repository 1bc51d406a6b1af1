package status

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"tombolo/automation"
	"tombolo/automation/backend"
	"tombolo/automation/health"
	"tombolo/automation/rollout"
	"tombolo/internal/wording"
)

// Standing is the status of a cluster.
type Standing struct {
	Name        string `json:"cluster"`
	Environment string `json:"environment,omitempty"`
	Region      string `json:"region,omitempty"`
	Wave        int    `json:"wave"`
	// Hub that runs it, or "".
	Hub string `json:"hub,omitempty"`
	// Engine and its version as in the file; a spoke has none of its own.
	Engine        string `json:"engine,omitempty"`
	EngineVersion string `json:"engineVersion,omitempty"`
	// Kubernetes is the control plane's version.
	Kubernetes Kubernetes `json:"kubernetes"`
	// Stacks that exist.
	Stacks []backend.StackInfo `json:"stacks"`
	// Last is the last operation in a journal; nil when there is none.
	Last *Last `json:"last,omitempty"`
	// Drift is the last comparison; nil when there was none.
	Drift *Drift `json:"drift,omitempty"`
	// GitOps is whether what Git declares is ready.
	GitOps GitOps `json:"gitops"`
	// Systems of teams, by name. One that is not ready is no problem of the cluster.
	Systems []health.System `json:"systems,omitempty"`
}

// Kubernetes is a version as the file has it, and as it was deployed.
type Kubernetes struct {
	File     string `json:"file,omitempty"`
	Deployed string `json:"deployed,omitempty"`
}

// String is the deployed version, and the file's when that is another one.
func (k Kubernetes) String() string {
	switch {
	case k.File == "" && k.Deployed == "":
		return "-"
	case k.Deployed == "" || k.Deployed == k.File:
		return k.File
	case k.File == "":
		return k.Deployed
	}
	return k.Deployed + ", file has " + k.File
}

// Last is the outcome of the last run on a cluster.
type Last struct {
	Operation string          `json:"operation"`
	Outcome   rollout.Outcome `json:"outcome,omitempty"`
	Phase     string          `json:"phase,omitempty"`
	Changes   map[string]int  `json:"changes,omitempty"`
	At        time.Time       `json:"at"`
	Seconds   float64         `json:"seconds"`
	Cause     string          `json:"cause,omitempty"`
	// OutsideWindow is the reason for which it began outside of the cluster's change windows.
	OutsideWindow string `json:"outsideWindow,omitempty"`
}

// Drift is what a comparison with the cloud has found.
type Drift struct {
	At         time.Time `json:"at"`
	Missing    int       `json:"missing"`
	Changed    int       `json:"changed"`
	Unexpected int       `json:"unexpected"`
	// Resources are what differs, such as "changed aws:ec2/vpc:Vpc demo".
	Resources []string `json:"resources,omitempty"`
	// Error says why the comparison is incomplete.
	Error string `json:"error,omitempty"`
}

func (d *Drift) count() int { return d.Missing + d.Changed + d.Unexpected }

// The states of what Git declares.
const (
	gitopsReady    = "ready"
	gitopsNotReady = "not ready"
	gitopsUnknown  = "unknown"
	gitopsNone     = "not deployed"
	// gitopsIncomplete is that of a cluster of which only a part is left.
	gitopsIncomplete = "incomplete"
)

// GitOps is whether what Git declares is ready.
type GitOps struct {
	// State is ready, not ready, unknown, not deployed, or incomplete for what a
	// destruction has left.
	State string `json:"state"`
	// Ready objects of Total.
	Ready int `json:"ready"`
	Total int `json:"total"`
	// Cause is the first one of what is not ready, or why it is not known.
	Cause string `json:"cause,omitempty"`
	// Waiting are the objects that are not ready.
	Waiting []string `json:"waiting,omitempty"`
	// Remaining are the resources of a cluster that is incomplete.
	Remaining []string `json:"remaining,omitempty"`
}

// left is the state of a cluster of which only this is left.
func left(cluster string, r automation.Remains) GitOps {
	what := "core has no resource left, but the cluster's identity, which marks resources that were kept or left over"
	if n := len(r.Resources); n > 0 {
		what = "the control plane is gone, and " + wording.Plural(n, "resource remains", "resources remain")
	}
	return GitOps{
		State: gitopsIncomplete, Remaining: r.Resources,
		Cause: fmt.Sprintf("%s; `tombolo destroy %s` takes away the rest, `tombolo up %s` makes the cluster", what, cluster, cluster),
	}
}

// Text says whether what Git declares is ready.
func (g GitOps) Text() string {
	if g.Total == 0 {
		return g.State
	}
	return fmt.Sprintf("%s, %d/%d", g.State, g.Ready, g.Total)
}

// Runs is the engine and its version, or whose it is.
func (s Standing) Runs() string {
	switch {
	case s.Engine == "":
		return "-"
	case s.Hub != "":
		return s.Engine + " of " + s.Hub
	}
	return strings.TrimSpace(s.Engine + " " + s.EngineVersion)
}

// lastText is the last operation in short. Without one in a journal, it is when
// the stacks were changed.
func (s Standing) lastText(now time.Time) string {
	if s.Last != nil {
		return fmt.Sprintf("%s %s %s", s.Last.Operation, s.Last.OutcomeText(), ago(now, s.Last.At))
	}
	if at := s.changed(); !at.IsZero() {
		return "changed " + ago(now, at)
	}
	return "-"
}

// OutcomeText is how the operation ended.
func (l Last) OutcomeText() string { return cmp.Or(string(l.Outcome), "did not end") }

// good says whether the operation has succeeded.
func (l Last) good() bool { return l.Outcome == rollout.Succeeded }

// changed is when one of the stacks was changed last.
func (s Standing) changed() time.Time {
	var last time.Time
	for _, stack := range s.Stacks {
		if stack.LastUpdate.After(last) {
			last = stack.LastUpdate
		}
	}
	return last
}

// DriftText says what the last comparison has found.
func (s Standing) DriftText() string {
	switch {
	case s.Drift == nil:
		return "not checked"
	case s.Drift.count() > 0:
		return fmt.Sprintf("%d differ", s.Drift.count())
	case s.Drift.Error != "":
		return "unknown"
	}
	return "none"
}

// Troubles are the problems of the cluster, one line each.
func (s Standing) Troubles() []string {
	var out []string
	if s.Last != nil && !s.Last.good() && s.Last.Cause != "" {
		out = append(out, fmt.Sprintf("%s %s: %s", s.Last.Operation, s.Last.OutcomeText(), s.Last.Cause))
	} else if s.Last != nil && !s.Last.good() {
		out = append(out, s.Last.Operation+" "+s.Last.OutcomeText())
	}
	if s.Drift != nil && s.Drift.count() > 0 {
		out = append(out, fmt.Sprintf("drift: %d missing, %d changed, %d unexpected; `tombolo drift %s` compares again",
			s.Drift.Missing, s.Drift.Changed, s.Drift.Unexpected, s.Name))
	}
	if s.Drift != nil && s.Drift.Error != "" {
		out = append(out, "drift is not known in full: "+s.Drift.Error)
	}
	switch s.GitOps.State {
	case gitopsNotReady, gitopsUnknown:
		out = append(out, "gitops "+s.GitOps.State+": "+s.GitOps.Cause)
	case gitopsIncomplete:
		out = append(out, "incomplete: "+s.GitOps.Cause)
	}
	return out
}

// ago is how long ago something was, in its largest unit.
func ago(now, at time.Time) string {
	d := now.Sub(at)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}
