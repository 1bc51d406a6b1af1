package automation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/wait"

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
	return fmt.Sprintf("destroy %s: %s %s; delete what nobody needs and run the same command again, or have it done with --leftovers delete%s",
		e.Cluster, what, teardown.Names(e.Left), consequence)
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

// clearCloud waits until the cloud has taken away what controllers gave back,
// and deals with what is left over, before core is destroyed.
func (d *Driver) clearCloud(ctx context.Context, c *config.Cluster, o DestroyOptions) error {
	core, err := d.state(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil || core.resources() == 0 {
		return err
	}
	bootstrap, err := d.state(ctx, stacks.Name(c.Name, stacks.Bootstrap))
	if err != nil {
		return err
	}
	q := search{vpc: core.ownVPC(), known: func(l teardown.Leftover) bool {
		return l.GoesWithCore() || o.KeepData && l.Data() || core.has(l) || bootstrap.has(l)
	}}
	left, err := d.clear(ctx, c, o, q)
	if err != nil || len(left) == 0 {
		return err
	}
	return &LeftoversError{Cluster: c.Name, Left: left, Core: true}
}

// proveEmpty searches the cloud once more when core is gone. Only what is kept
// on purpose may be found.
func (d *Driver) proveEmpty(ctx context.Context, c *config.Cluster, o DestroyOptions) error {
	q := search{known: func(l teardown.Leftover) bool { return o.KeepData && l.Data() }}
	left, err := d.clear(ctx, c, o, q)
	if err != nil || len(left) == 0 {
		return err
	}
	return &LeftoversError{Cluster: c.Name, Left: left}
}

// clear returns what is left over, after it has deleted what it may.
func (d *Driver) clear(ctx context.Context, c *config.Cluster, o DestroyOptions, q search) ([]teardown.Leftover, error) {
	left, err := d.awaitCloud(ctx, c, o, q)
	if err != nil || len(left) == 0 || o.Leftovers != DeleteLeftovers {
		return left, err
	}
	stack := stacks.Name(c.Name, stacks.Core)
	d.opts.Observer.Note(stack, "deletes what is left over: "+teardown.Names(left))
	if err := d.inventory.remove(ctx, c, left); err != nil {
		return nil, err
	}
	return d.awaitCloud(ctx, c, o, q)
}

// awaitCloud searches until nothing is left, or nothing that goes by itself.
func (d *Driver) awaitCloud(ctx context.Context, c *config.Cluster, o DestroyOptions, q search) ([]teardown.Leftover, error) {
	defer d.opts.Observer.Waiting(c.Name, "")
	d.opts.Observer.Waiting(c.Name, "a search of the cloud for what is left over")
	var left []teardown.Leftover
	timeout := cmp.Or(o.DrainTimeout, cloudTimeout)
	// Even a short wait has several looks.
	err := wait.PollUntilContextTimeout(ctx, min(cloudPoll, timeout/10), timeout, true, func(context.Context) (bool, error) {
		var err error
		// A search that has begun is not cut short: it would find nothing.
		if left, err = d.inventory.find(ctx, c, q); err != nil {
			return false, err
		}
		teardown.Sort(left)
		if !slices.ContainsFunc(left, teardown.Leftover.Passes) {
			return true, nil
		}
		d.opts.Observer.Waiting(c.Name, "the cloud to take away "+teardown.Names(left))
		return false, nil
	})
	if err != nil && !(wait.Interrupted(err) && ctx.Err() == nil) {
		return nil, err
	}
	return left, nil
}

// has says that the stack manages the resource.
func (s *state) has(l teardown.Leftover) bool {
	if s == nil {
		return false
	}
	for _, r := range s.deployment.Resources {
		if arn, _ := r.Outputs["arn"].(string); !r.External && (arn != "" && arn == l.ARN || r.ID != "" && string(r.ID) == l.ID) {
			return true
		}
	}
	return false
}

// ownVPC is the id of the VPC that the stack has made; "" when it uses another's.
func (s *state) ownVPC() string {
	r, _ := s.object("aws:ec2/vpc:Vpc", func(id string) bool { return strings.HasPrefix(id, "vpc-") })
	if r.External {
		return ""
	}
	return string(r.ID)
}
