// Package upgrade plans how a cluster's Kubernetes goes to another version: one minor
// after another, the control plane before the nodes, and back in the reverse order. It
// judges what it is given, and asks nobody.
package upgrade

import "tombolo/config"

// Versions of Kubernetes that a cluster has, each major.minor.
type Versions struct {
	// ControlPlane is that of the API server.
	ControlPlane string `json:"controlPlane"`
	// Nodes is the oldest of the node groups.
	Nodes string `json:"nodes"`
}

// NodeVersion is what a cluster file has under that key: "" when the nodes are not behind.
func (v Versions) NodeVersion() string {
	if v.Nodes == v.ControlPlane {
		return ""
	}
	return v.Nodes
}

// Keys are those of the cluster file that an upgrade changes.
func Keys() []string { return []string{"kubernetes.version", "kubernetes.nodeVersion"} }

// Phase is what a step of an upgrade changes.
type Phase string

// The phases, in the order of an upgrade.
const (
	// ControlPlane goes first.
	ControlPlane Phase = "control plane"
	// NodeGroups follow, with the managed addons that their nodes need before them: the
	// cloud replaces the nodes, each drained before.
	NodeGroups Phase = "node groups"
	// Together is both in one step, where the cloud takes no control plane on alone.
	Together Phase = "control plane and node groups"
	// Karpenter replaces its own nodes, as its node pools allow.
	Karpenter Phase = "Karpenter's nodes"
)

// MovesControlPlane says that the phase gives the control plane another version.
func (p Phase) MovesControlPlane() bool { return p == ControlPlane || p == Together }

// movesNodeGroups says that the phase gives node groups another version.
func (p Phase) movesNodeGroups() bool { return p == NodeGroups || p == Together }

// Ways are what decides which steps there are.
type Ways struct {
	// Hold leaves the nodes behind the last control plane, and Together takes them on with it.
	Hold, Together bool
	// Karpenter says that Karpenter makes nodes.
	Karpenter bool
}

// Step of an upgrade.
type Step struct {
	// Phase of the step.
	Phase Phase `json:"phase"`
	// From is the version before, and To the one after it.
	From string `json:"from"`
	To   string `json:"to"`
	// File is what the cluster file says during the step, and after it.
	File Versions `json:"file"`
}

// Steps take a cluster from the versions that it has up to another, one minor after
// another.
func Steps(has Versions, to string, w Ways) []Step {
	var steps []Step
	for {
		switch {
		case older(has.Nodes, has.ControlPlane) && (!w.Hold || has.ControlPlane != to):
			from := has.Nodes
			has.Nodes = has.ControlPlane
			steps = append(steps, Step{NodeGroups, from, has.Nodes, has})
			if w.Karpenter {
				steps = append(steps, Step{Karpenter, from, has.Nodes, has})
			}
		case older(has.ControlPlane, to):
			from, phase := has.ControlPlane, ControlPlane
			has.ControlPlane = config.MovedMinors(from, 1)
			if w.Together {
				has.Nodes, phase = has.ControlPlane, Together
			}
			steps = append(steps, Step{phase, from, has.ControlPlane, has})
		default:
			return steps
		}
	}
}

// Back are the steps that take a cluster back by one minor. A node is never newer than
// its control plane, so the nodes go first.
func Back(has Versions) []Step {
	to := config.MovedMinors(has.ControlPlane, -1)
	var steps []Step
	if from := has.Nodes; older(to, from) {
		has.Nodes = to
		steps = append(steps, Step{NodeGroups, from, to, has})
	}
	from := has.ControlPlane
	has.ControlPlane = to
	return append(steps, Step{ControlPlane, from, to, has})
}

// older says that a version is older than another.
func older(a, b string) bool { return config.CompareMinors(a, b) < 0 }
