package teardown

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/automation/kube"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/owner"
)

// LeftoverPolicy says what becomes of cloud resources that are left over.
type LeftoverPolicy string

// The policies.
const (
	// StopAtLeftovers names them, and destroys nothing further.
	StopAtLeftovers LeftoverPolicy = "stop"
	// DeleteLeftovers deletes them.
	DeleteLeftovers LeftoverPolicy = "delete"
)

// LeftoversError says that cloud resources are left over that are not deleted by a
// controller.
type LeftoversError struct {
	// Cluster is the cluster's name.
	Cluster string
	// Left are the resources.
	Left []Leftover
	// Core says that core is still there: what is left over may be in its way.
	Core bool
	// Lost says that the resources are to be kept, and cannot be: core takes them along.
	Lost bool
	// Full says that the resources are core's own, and would be deleted with the data in them.
	Full bool
}

func (e *LeftoversError) Error() string {
	if e.Lost {
		return fmt.Sprintf("destroy %s: --keep-data cannot keep %s: %s would take it along; move it elsewhere, or delete it, and run the same command again (stack %s was kept)",
			e.Cluster, kube.Names(e.Left, most), e.Left[0].LostWith, stacks.Name(e.Cluster, stacks.Core))
	}
	if e.Full {
		return fmt.Sprintf("destroy %s: core would delete %s with the data that is there; keep it with --keep-data, or have it deleted with --leftovers delete (stack %s was kept)",
			e.Cluster, kube.Names(e.Left, most), stacks.Name(e.Cluster, stacks.Core))
	}
	what, consequence := "after everything was destroyed, the cloud still has", ""
	if e.Core {
		what = "controllers have left over"
		consequence = fmt.Sprintf(" (stack %s was kept)", stacks.Name(e.Cluster, stacks.Core))
	}
	keep := ""
	if slices.ContainsFunc(e.Left, func(l Leftover) bool { return l.Data && l.LostWith == "" }) {
		keep = "; with --keep-data what holds data stays"
	}
	if i := slices.IndexFunc(e.Left, func(l Leftover) bool { return l.LostWith != "" }); i >= 0 {
		keep += fmt.Sprintf("; %s takes what is in it along, so move what is to stay elsewhere before", e.Left[i].LostWith)
	}
	return fmt.Sprintf("destroy %s: %s %s; delete what is not needed and run the same command again, or have it done with --leftovers delete%s%s",
		e.Cluster, what, kube.Names(e.Left, most), keep, consequence)
}

// Observer is told what a sweep does.
type Observer interface {
	// Waiting says what is waited for now; "" when it is over.
	Waiting(cluster, what string)
	// Note reports something that people should know.
	Note(stack, message string)
}

// cloudPoll is the time between two searches of the cloud, each of which starts
// a provider.
const cloudPoll = 5 * time.Second

// cloudTimeout is how long the cloud may take to take away what goes by itself:
// the network interfaces of a load balancer stay for a few minutes.
const cloudTimeout = 10 * time.Minute

// Sweep searches the cloud for what is left over of a cluster.
type Sweep struct {
	// Cluster that is destroyed.
	Cluster *config.Cluster
	// Cloud that is searched.
	Cloud Cloud
	// Owner is the identity of the cluster, and ControlPlane the one that its state has
	// or had: see Search.
	Owner        string
	ControlPlane owner.ControlPlane
	// Policy says what becomes of what is left over.
	Policy LeftoverPolicy
	// KeepData leaves what holds data in the cloud.
	KeepData bool
	// Timeout is how long the cloud may take to take away what goes by itself.
	// Default 10m.
	Timeout time.Duration
	// Observer of the sweep.
	Observer Observer
	// Deleted are the resources that the sweep has deleted, Kept those that it has found
	// before core was destroyed and leaves in the cloud.
	Deleted, Kept []Leftover
}

// finding is what a search of the cloud has found.
type finding struct {
	// left is left over.
	left []Leftover
	// kept is kept on purpose, and lost would be, if core did not take it along.
	kept, lost []Leftover
	// unproven has the cluster's name, and nothing that says whose it is.
	unproven []Leftover
}

// BeforeCore waits until the cloud has taken away what controllers gave back,
// and deals with what is left over, before core is destroyed. It is given the
// resources that the stacks have. What is left is a LeftoversError.
func (s *Sweep) BeforeCore(ctx context.Context, core, bootstrap []apitype.ResourceV3) error {
	found, err := s.clear(ctx, s.search(s.Cloud.Network(core), func(l Leftover) bool {
		return l.GoesWithCore || !s.stopsAt(l) && (manages(core, l) || manages(bootstrap, l))
	}))
	if err != nil {
		return err
	}
	s.Kept = found.kept
	var full []Leftover
	found.left = slices.DeleteFunc(found.left, func(l Leftover) bool {
		own := s.stopsAt(l) && manages(core, l)
		if own {
			full = append(full, l)
		}
		return own
	})
	switch {
	case len(found.lost) > 0:
		return &LeftoversError{Cluster: s.Cluster.Name, Left: found.lost, Core: true, Lost: true}
	case len(found.left) > 0:
		return &LeftoversError{Cluster: s.Cluster.Name, Left: found.left, Core: true}
	case len(full) > 0:
		return &LeftoversError{Cluster: s.Cluster.Name, Left: full, Core: true, Full: true}
	}
	return nil
}

// stopsAt says that the data in a resource needs a word from people before core deletes it: the
// cloud itself refuses for others.
func (s *Sweep) stopsAt(l Leftover) bool {
	return l.GoesFull && !s.KeepData && s.Policy != DeleteLeftovers
}

// AfterCore searches the cloud once more when core is gone. Only what is kept
// on purpose may be found, and is returned; what core still has is not looked for.
// Anything else is a LeftoversError.
func (s *Sweep) AfterCore(ctx context.Context, core []apitype.ResourceV3) (kept []Leftover, err error) {
	found, err := s.clear(ctx, s.search("", func(l Leftover) bool { return manages(core, l) }))
	if err != nil {
		return nil, err
	}
	if len(found.unproven) > 0 {
		s.note(fmt.Sprintf("the state has no identity, so it cannot be told whose these are, and they were left alone: %s; delete by hand what is not needed",
			kube.Names(found.unproven, len(found.unproven))))
	}
	if len(found.left) == 0 {
		return found.kept, nil
	}
	return nil, &LeftoversError{Cluster: s.Cluster.Name, Left: found.left}
}

func (s *Sweep) search(network string, known func(Leftover) bool) Search {
	return Search{Owner: s.Owner, ControlPlane: s.ControlPlane, Network: network, Known: known}
}

func (s *Sweep) note(message string) {
	s.Observer.Note(stacks.Name(s.Cluster.Name, stacks.Core), message)
}

// clear returns what is left over, after it has deleted what it may.
func (s *Sweep) clear(ctx context.Context, q Search) (finding, error) {
	found, err := s.await(ctx, q)
	if err != nil || len(found.left) == 0 || s.Policy != DeleteLeftovers {
		return found, err
	}
	for _, l := range found.left {
		s.note(fmt.Sprintf("deletes what is left over: %s: %s", l, l.Proof))
	}
	if err := s.Cloud.Remove(ctx, s.Cluster, q, found.left); err != nil {
		return finding{}, err
	}
	s.Deleted = append(s.Deleted, found.left...)
	return s.await(ctx, q)
}

// await searches until nothing is left, or nothing that goes by itself.
func (s *Sweep) await(ctx context.Context, q Search) (finding, error) {
	defer s.Observer.Waiting(s.Cluster.Name, "")
	s.Observer.Waiting(s.Cluster.Name, "a search of the cloud for what is left over")
	var found finding
	timeout := cmp.Or(s.Timeout, cloudTimeout)
	// Even a short wait has several looks.
	err := wait.PollUntilContextTimeout(ctx, min(cloudPoll, timeout/10), timeout, true, func(context.Context) (bool, error) {
		// A search that has begun is not cut short: it would find nothing.
		all, err := s.Cloud.Find(ctx, s.Cluster, q)
		if err != nil {
			return false, err
		}
		found = s.sorted(all)
		if !slices.ContainsFunc(found.left, func(l Leftover) bool { return l.Passes }) {
			return true, nil
		}
		s.Observer.Waiting(s.Cluster.Name, "the cloud to take away "+kube.Names(found.left, most))
		return false, nil
	})
	if err != nil && !kube.WaitIsOver(ctx, err) {
		return finding{}, err
	}
	return found, nil
}

// sorted puts apart what is kept on purpose, and what cannot be proven.
func (s *Sweep) sorted(all []Leftover) (f finding) {
	Sort(all)
	for _, l := range all {
		switch {
		case l.Proof == "":
			f.unproven = append(f.unproven, l)
		case s.KeepData && l.Data && l.LostWith != "":
			f.lost = append(f.lost, l)
		case s.KeepData && l.Data:
			f.kept = append(f.kept, l)
		default:
			f.left = append(f.left, l)
		}
	}
	return f
}

// manages says that a stack with these resources manages the leftover.
func manages(stack []apitype.ResourceV3, l Leftover) bool {
	return slices.ContainsFunc(stack, func(r apitype.ResourceV3) bool {
		arn, _ := r.Outputs["arn"].(string)
		return !r.External && (arn != "" && arn == l.CloudID || r.ID != "" && (string(r.ID) == l.ID || strings.EqualFold(string(r.ID), l.CloudID)))
	})
}
