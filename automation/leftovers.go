package automation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/automation/backend"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/stacks"
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

// LeftoversError says that cloud resources are left over which nobody takes
// away.
type LeftoversError struct {
	// Cluster is the cluster's name.
	Cluster string
	// Left are the resources.
	Left []teardown.Leftover
	// Core says that core is still there: what is left over may be in its way.
	Core bool
}

func (e *LeftoversError) Error() string {
	what, consequence := "after everything was destroyed, the cloud still has", ""
	if e.Core {
		what = "controllers have left over"
		consequence = fmt.Sprintf(" (stack %s was kept)", stacks.Name(e.Cluster, stacks.Core))
	}
	keep := ""
	if slices.ContainsFunc(e.Left, teardown.Leftover.Data) {
		keep = "; with --keep-data what holds data stays"
	}
	return fmt.Sprintf("destroy %s: %s %s; delete what nobody needs and run the same command again, or have it done with --leftovers delete%s%s",
		e.Cluster, what, teardown.Names(e.Left), keep, consequence)
}

// inventory finds what carries a cluster's tags in the cloud, and deletes it.
type inventory interface {
	// find lists what the search finds, but for what is known; what the provider
	// can look at was looked at.
	find(ctx context.Context, c *config.Cluster, q search) ([]teardown.Leftover, error)
	// remove deletes resources that were found.
	remove(ctx context.Context, c *config.Cluster, all []teardown.Leftover) error
}

// search is what to look for besides tags, and what to leave out.
type search struct {
	// vpc that core has made; its load balancers' network interfaces are found
	// by it. "" for none.
	vpc string
	// known resources are none's concern.
	known func(teardown.Leftover) bool
}

// finding is what a search of the cloud has found.
type finding struct {
	// left is left over.
	left []teardown.Leftover
	// kept is kept on purpose.
	kept []teardown.Leftover
}

// clearCloud waits until the cloud has taken away what controllers gave back,
// and deals with what is left over, before core is destroyed.
func (d *Driver) clearCloud(ctx context.Context, c *config.Cluster, o DestroyOptions) error {
	core, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil || core.Resources() == 0 {
		return err
	}
	bootstrap, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap))
	if err != nil {
		return err
	}
	q := search{vpc: ownVPC(core), known: func(l teardown.Leftover) bool {
		return l.GoesWithCore() || has(core, l) || has(bootstrap, l)
	}}
	found, err := d.clear(ctx, c, o, q)
	if err != nil || len(found.left) == 0 {
		return err
	}
	return &LeftoversError{Cluster: c.Name, Left: found.left, Core: true}
}

// proveEmpty searches the cloud once more when core is gone. Only what is kept
// on purpose may be found, and is returned.
func (d *Driver) proveEmpty(ctx context.Context, c *config.Cluster, o DestroyOptions) (kept []teardown.Leftover, err error) {
	found, err := d.clear(ctx, c, o, search{known: func(teardown.Leftover) bool { return false }})
	if err != nil || len(found.left) == 0 {
		return found.kept, err
	}
	return nil, &LeftoversError{Cluster: c.Name, Left: found.left}
}

// clear returns what is left over, after it has deleted what it may.
func (d *Driver) clear(ctx context.Context, c *config.Cluster, o DestroyOptions, q search) (finding, error) {
	found, err := d.awaitCloud(ctx, c, o, q)
	if err != nil || len(found.left) == 0 || o.Leftovers != DeleteLeftovers {
		return found, err
	}
	stack := stacks.Name(c.Name, stacks.Core)
	d.opts.Observer.Note(stack, "deletes what is left over: "+teardown.Names(found.left))
	if err := d.inventory.remove(ctx, c, found.left); err != nil {
		return finding{}, err
	}
	return d.awaitCloud(ctx, c, o, q)
}

// awaitCloud searches until nothing is left, or nothing that goes by itself.
func (d *Driver) awaitCloud(ctx context.Context, c *config.Cluster, o DestroyOptions, q search) (finding, error) {
	defer d.opts.Observer.Waiting(c.Name, "")
	d.opts.Observer.Waiting(c.Name, "a search of the cloud for what is left over")
	var found finding
	timeout := cmp.Or(o.DrainTimeout, cloudTimeout)
	// Even a short wait has several looks.
	err := wait.PollUntilContextTimeout(ctx, min(cloudPoll, timeout/10), timeout, true, func(context.Context) (bool, error) {
		// A search that has begun is not cut short: it would find nothing.
		all, err := d.inventory.find(ctx, c, q)
		if err != nil {
			return false, err
		}
		found = sorted(all, o)
		if !slices.ContainsFunc(found.left, teardown.Leftover.Passes) {
			return true, nil
		}
		d.opts.Observer.Waiting(c.Name, "the cloud to take away "+teardown.Names(found.left))
		return false, nil
	})
	if err != nil && (!wait.Interrupted(err) || ctx.Err() != nil) {
		return finding{}, err
	}
	return found, nil
}

// sorted puts what is kept on purpose apart.
func sorted(all []teardown.Leftover, o DestroyOptions) (f finding) {
	teardown.Sort(all)
	for _, l := range all {
		if o.KeepData && l.Data() {
			f.kept = append(f.kept, l)
		} else {
			f.left = append(f.left, l)
		}
	}
	return f
}

// has says that the stack manages the resource.
func has(s *backend.State, l teardown.Leftover) bool {
	if s == nil {
		return false
	}
	for _, r := range s.Deployment.Resources {
		if arn, _ := r.Outputs["arn"].(string); !r.External && (arn != "" && arn == l.ARN || r.ID != "" && string(r.ID) == l.ID) {
			return true
		}
	}
	return false
}

// ownVPC is the id of the VPC that the stack has made; "" when it uses another's.
func ownVPC(s *backend.State) string {
	r, _ := s.Object("aws:ec2/vpc:Vpc", func(id string) bool { return strings.HasPrefix(id, "vpc-") })
	if r.External {
		return ""
	}
	return string(r.ID)
}
