package upgrade

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tombolo/config"
	"tombolo/config/enginefacts"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// Risk is a reason not to upgrade that a person can set aside.
type Risk string

// The risks.
const (
	// PinnedAddons are managed addons that do not follow the version of Kubernetes.
	PinnedAddons Risk = "pinned-addons"
	// UntestedEngine is a GitOps engine that upstream does not test with the version.
	UntestedEngine Risk = "untested-engine"
	// BadInsights are errors that the cloud itself sees, or that it could not be asked.
	BadInsights Risk = "insights"
)

// Risks lists all risks.
func Risks() []Risk { return []Risk{PinnedAddons, UntestedEngine, BadInsights} }

// Refusals are the risks of taking the cluster through the steps, each with its place in
// the cluster file, without those that are accepted.
func Refusals(c *config.Cluster, steps []Step, accepted []Risk) strict.Problems {
	problem := c.Places()
	var out strict.Problems
	if !slices.Contains(accepted, PinnedAddons) && movesControlPlane(steps) {
		out = append(out, pinned(c, problem)...)
	}
	if !slices.Contains(accepted, UntestedEngine) {
		out = append(out, untested(c, steps, problem)...)
	}
	return out.InOrder()
}

// places makes a problem at its place in the cluster file.
type places func(path, message, remedy string) strict.Problem

func movesControlPlane(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return s.Phase.MovesControlPlane() })
}

func pinned(c *config.Cluster, problem places) strict.Problems {
	var out strict.Problems
	for i, a := range c.Kubernetes.Addons {
		if a.Version != "" {
			out = append(out, problem(fmt.Sprintf("kubernetes.addons[%d].version", i),
				fmt.Sprintf("keeps %s at %s, whatever the version of Kubernetes", a.Name, a.Version),
				"remove it, and AWS's default for each version is taken; or look up that it fits all of them, and pass --accept "+string(PinnedAddons)))
		}
	}
	return out
}

// untested names the first version on the way that the engine's release is not tested with.
func untested(c *config.Cluster, steps []Step, problem places) strict.Problems {
	engine, release := string(c.GitOps.Engine), c.GitOps.Distribution.Version
	for _, s := range steps {
		if !s.Phase.MovesControlPlane() {
			continue
		}
		gap, missing := enginefacts.Untested(engine, release, s.To)
		if !missing {
			continue
		}
		remedy := "pass --accept " + string(UntestedEngine)
		if len(gap.Releases) > 0 {
			remedy = "upgrade the engine first, to a release of " + wording.Or(gap.Releases) + ", or " + remedy
		}
		return strict.Problems{problem("gitops.distribution.version",
			fmt.Sprintf("is tested by upstream with Kubernetes %s, not with %s", wording.And(gap.Tested), s.To), remedy)}
	}
	return nil
}

// Status of an insight.
type Status string

// The statuses that EKS knows.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_InsightStatus.html
const (
	Passing Status = "PASSING"
	Warning Status = "WARNING"
	Bad     Status = "ERROR"
	Unknown Status = "UNKNOWN"
)

// Insight is what the cloud sees in the way of an upgrade.
type Insight struct {
	// Name of the insight, such as "Kubelet version skew".
	Name string `json:"name"`
	// Status of it, and the Reason.
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"`
	// Recommendation is what the cloud says to do; "" when it passes.
	Recommendation string `json:"recommendation,omitempty"`
	// Busy says that an operation under way is the reason: the cloud begins no other until it ends.
	Busy bool `json:"busy,omitempty"`
}

// String is the insight on one line.
func (i Insight) String() string {
	text := fmt.Sprintf("%s: %s", i.Name, i.Status)
	if i.Reason != "" {
		text += ": " + i.Reason
	}
	return text
}

// ByGravity compares insights: the gravest comes first.
func ByGravity(a, b Insight) int { return cmp.Compare(gravity(b.Status), gravity(a.Status)) }

func gravity(s Status) int { return slices.Index([]Status{Passing, Unknown, Warning, Bad}, s) }

// Errors are the insights that stand in the way.
func Errors(all []Insight) []Insight {
	return slices.DeleteFunc(slices.Clone(all), func(i Insight) bool { return i.Status != Bad })
}

// AtWork is the insight that tells of an operation under way, and whether there is one.
func AtWork(all []Insight) (Insight, bool) {
	for _, i := range all {
		if i.Busy {
			return i, true
		}
	}
	return Insight{}, false
}

// Question is which insights are asked for.
type Question struct {
	// Version that the control plane is to have, major.minor.
	Version string
	// Back asks whether it can go back, else whether it can go on.
	Back bool
	// Fresh has the cloud look again before it answers; otherwise an answer can be a day
	// old, and know nothing of the step before.
	Fresh bool
}

// Runner starts a program and returns what it writes on standard output.
type Runner func(ctx context.Context, program string, args ...string) (string, error)

// Terms are on which a cloud upgrades its managed clusters, and how it calls things.
type Terms struct {
	// Cloud and Service by their names, such as AWS and EKS.
	Cloud, Service string
	// Versions that the service and this program have, major.minor, the oldest first.
	Versions []string
	// RollbackDays are how many days long the service takes a control plane back by one
	// minor version; 0 for never.
	RollbackDays int
	// ManagedAddons says that the service has addons in versions of their own, which a step
	// of the node groups takes along.
	ManagedAddons bool
	// TellsOfWork says that insights tell of an operation under way, which an upgrade waits for: one
	// that was killed may have left it.
	TellsOfWork bool
	// GroupLabel of nodes has the name of their node group.
	GroupLabel string
	// Rights is what to do where the service does not say what is in the way.
	Rights string
}

// To is a step in words, such as node groups to 1.35.
func (t Terms) To(s Step) string { return t.What(s) + " to " + s.To }

// What a step changes.
func (t Terms) What(s Step) string {
	if s.Phase == NodeGroups && t.ManagedAddons {
		return "managed addons and " + string(s.Phase)
	}
	return string(s.Phase)
}

// Cloud is what an upgrade asks of a provider of clouds.
type Cloud interface {
	// Terms are those of the cloud.
	Terms() Terms
	// Insights are what the cloud sees in the way, the gravest first. It starts the
	// cloud's own command line with run.
	Insights(ctx context.Context, run Runner, c *config.Cluster, q Question) ([]Insight, error)
}
