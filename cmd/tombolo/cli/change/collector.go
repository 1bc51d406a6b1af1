// Package change is what the commands have in common that preview clusters together:
// what all of them would become, the policy's verdict on it, and the plan that people
// approve.
package change

import (
	"context"
	"slices"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"

	"tombolo/automation"
	"tombolo/automation/approved"
	"tombolo/automation/plan"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/config"
	"tombolo/stacks"
)

// Collector gathers what previews say, stack by stack.
type Collector struct {
	automation.Observer
	mu      sync.Mutex
	readers map[string]*plan.Reader
	results map[string]automation.Result
	errs    map[string]string
}

// Before has the Collector see events before the driver's observer does.
func Before[D any](c *Collector, open func(context.Context, automation.Observer) (D, error)) func(context.Context, automation.Observer) (D, error) {
	c.readers, c.results, c.errs = map[string]*plan.Reader{}, map[string]automation.Result{}, map[string]string{}
	return func(ctx context.Context, o automation.Observer) (D, error) {
		c.Observer = o
		return open(ctx, c)
	}
}

// StackStarted forgets the events of an earlier attempt.
func (c *Collector) StackStarted(stack, operation string) {
	c.mu.Lock()
	c.readers[stack] = &plan.Reader{}
	c.mu.Unlock()
	c.Observer.StackStarted(stack, operation)
}

// EngineEvent reads the event, and passes it on.
func (c *Collector) EngineEvent(stack string, e events.EngineEvent) {
	c.mu.Lock()
	if c.readers[stack] == nil {
		c.readers[stack] = &plan.Reader{}
	}
	c.readers[stack].Read(e)
	c.mu.Unlock()
	c.Observer.EngineEvent(stack, e)
}

// Finished takes the end of a preview.
func (c *Collector) Finished(cluster string, r automation.Result, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results[cluster] = r
	if err != nil {
		c.errs[cluster] = err.Error()
	}
}

// errorOf says why the preview of a cluster is incomplete; "" when it is not.
func (c *Collector) errorOf(cluster string) string {
	if _, ok := c.results[cluster]; !ok {
		return "it was not previewed"
	}
	return c.errs[cluster]
}

// kinds are those of the stacks of a cluster that were previewed, in their order; core and bootstrap are
// among them.
func (c *Collector) kinds(cluster string) []stacks.Kind {
	var out []stacks.Kind
	for _, s := range c.results[cluster].Stacks {
		out = append(out, s.Kind)
	}
	for _, k := range stacks.Kinds() {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

func (c *Collector) stack(f *fleet.Fleet, of *config.Cluster, k stacks.Kind) (plan.Stack, bool) {
	name := stacks.Name(of.Name, k)
	reader := c.readers[name]
	if reader == nil {
		return plan.Stack{}, false
	}
	s := reader.Stack(f.Clouds.Of(of, nil), name, string(k))
	if r, ok := c.results[of.Name].Stack(k); ok {
		s.Placeholders = r.Placeholders
	}
	return s, true
}

// Gather puts what was seen of each cluster into the set.
func (c *Collector) Gather(ctx context.Context, set *plan.Set, f *fleet.Fleet, all []*config.Cluster) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range all {
		cluster := plan.Cluster{
			Name: of.Name, Wave: of.Wave, Account: of.Cloud.Account, Labels: of.RegistrationLabels(), Secrets: of.SecretUses(), Warnings: of.Warnings,
			Err: c.errorOf(of.Name), FileChanges: c.results[of.Name].FileChanges,
		}
		if f.Changed != nil {
			for _, reason := range f.Changed.Clusters[of.Name] {
				cluster.Reasons = append(cluster.Reasons, reason.String())
			}
		}
		for _, k := range c.kinds(of.Name) {
			if s, ok := c.stack(f, of, k); ok {
				cluster.Stacks = append(cluster.Stacks, s)
			}
		}
		set.Unseen = append(set.Unseen, c.results[of.Name].Unseen...)
		cluster.Settle()
		trace(ctx, f, &cluster, of)
		set.Clusters = append(set.Clusters, cluster)
	}
	set.Unchanged = f.Unchanged
	if f.Changed != nil {
		for _, s := range f.Changed.Shared {
			set.Shared = append(set.Shared, s.String())
		}
		for _, u := range f.Changed.Unseen {
			set.Unseen = append(set.Unseen, u.String())
		}
	}
	set.Sort()
}

// trace follows what changes in core, and in values of other stacks and of Parameter
// Store, to what GitOps reads. What cannot be followed makes
// the preview incomplete, and says so.
func trace(ctx context.Context, f *fleet.Fleet, cluster *plan.Cluster, of *config.Cluster) {
	err := cluster.Trace(func(outputs, read map[string]any) (plan.Contents, error) {
		contents, err := f.Programs.ContentsOf(ctx, of, outputs, read)
		return plan.Contents(contents), err
	})
	if err != nil && cluster.Err == "" {
		cluster.Err = err.Error()
	}
}

// Planned is a cluster with what would be done to it.
type Planned struct {
	*config.Cluster
	Plan approved.Cluster
}

// Plans of the clusters that were previewed with one.
func (c *Collector) Plans(all []*config.Cluster) []Planned {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Planned
	for _, of := range all {
		if p := c.results[of.Name].Plan; p != nil {
			out = append(out, Planned{of, *p})
		}
	}
	return out
}

// Plan puts the plans of clusters together.
func Plan(all []Planned, refresh bool) (approved.Plan, error) {
	program, err := approved.ThisProgram()
	if err != nil {
		return approved.Plan{}, err
	}
	waves := map[string]int{}
	clusters := make([]approved.Cluster, len(all))
	for i, p := range all {
		waves[p.Name], clusters[i] = p.Wave, p.Plan
	}
	return approved.NewPlan(program, refresh, clusters, func(name string) int { return waves[name] }), nil
}
