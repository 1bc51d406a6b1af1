package up

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/approved"
	"tombolo/automation/inputs"
	"tombolo/automation/plan"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/change"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/cli/result"
	"tombolo/cmd/tombolo/cli/review"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// Approved has the options of an up that does what people have approved.
type Approved struct {
	// Plan is the plan's file; "" for an up without one.
	Plan string
	// PlanDigest is the digest that was approved; "" for that of the file.
	PlanDigest string
	change.Judge

	plan approved.Plan
	seen *change.Collector
	// hidden are the clusters that an up changes though the plan, which has no secrets, has no step.
	hidden map[string]bool
	// commit is what is applied to the clusters that committed has: see record.
	commit    string
	committed map[string]bool
}

func (a *Approved) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.Plan, "plan", "", "do what is in the plan `file` of preview --plan and nothing else; asks no question")
	cmd.Flags().StringVar(&a.PlanDigest, "plan-digest", "", "the `digest` of the plan that was approved: another plan is refused")
	a.AddPolicyFlags(cmd)
}

// checkPlan refuses what does not go with a plan.
func (o *Options) checkPlan(cmd *cobra.Command, _ []string) error {
	switch {
	case o.Plan == "" && o.PlanDigest != "":
		return fault.NewUsage("--plan-digest is used only with --plan", "pass --plan <file>")
	case o.Plan == "":
		for _, flag := range []string{"policy", "approvals"} {
			if cmd.Flags().Changed(flag) {
				return fault.NewUsage("--"+flag+" is used only with --plan", "pass --plan <file>")
			}
		}
		return nil
	case o.Refresh:
		return fault.NewUsage("--plan and --refresh: the plan says whether to compare with the cloud", "pass --refresh to preview --plan")
	case o.Resume:
		return fault.NewUsage("--plan and --resume: what was done has moved the states that were approved", "make a plan of the rest with `tombolo preview --plan`")
	}
	return nil
}

// compare compares what an up of the clusters would do with the plan, and has the policy
// judge it, before anything changes.
func (o *Options) compare(ctx context.Context, s *fleet.Session[Driver], all []*config.Cluster) error {
	of := func(name string) *config.Cluster {
		return all[slices.IndexFunc(all, func(c *config.Cluster) bool { return c.Name == name })]
	}
	o.Brought = func(ctx context.Context, cluster string) (inputs.Line, error) {
		return o.brought(ctx, s.Driver, of(cluster))
	}
	o.Applied = func(ctx context.Context, cluster string) (string, error) { return s.Driver.Applied(ctx, of(cluster)) }
	rules, err := o.Rules(ctx, o.Fleet)
	if err != nil {
		return err
	}
	failed := s.Look(ctx, "preview", all, fleet.Tasks{Work: func(ctx context.Context, _ fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
		was := o.plan.Cluster(c.Name)
		r, err := s.Driver.Preview(ctx, c, automation.PreviewOptions{
			Refresh: o.plan.Refresh, Plan: true, WithoutSecrets: was != nil && was.WithoutSecrets,
		})
		o.seen.Finished(c.Name, r, err)
		return result.Work(r), err
	}})
	if failed != nil {
		return failed
	}
	planned := o.seen.Plans(all)
	now, err := change.Plan(planned, o.plan.Refresh)
	if err != nil {
		return err
	}
	differences := o.plan.Setting(now)
	for _, c := range planned {
		if was := o.plan.Cluster(c.Name); was != nil {
			differences = append(differences, was.Differences(c.Plan)...)
		}
	}
	if err := approved.Refuse(differences); err != nil {
		return o.show(ctx, all, err)
	}
	set := plan.Set{}
	o.seen.Gather(ctx, &set, o.Fleet, all)
	if err := rules.Judge(&set); err != nil {
		return err
	}
	if err := change.Refuse(set); err != nil {
		return err
	}
	return o.findHidden(ctx, s, all)
}

// findHidden previews with their secrets the clusters of which the plan does not know whether anything
// changes: a cluster in which nothing does waits for no wave, no gate and no change window.
func (o *Options) findHidden(ctx context.Context, s *fleet.Session[Driver], all []*config.Cluster) error {
	unknown := slices.DeleteFunc(slices.Clone(all), func(c *config.Cluster) bool {
		p := o.plan.Cluster(c.Name)
		return p == nil || !p.MayChange()
	})
	if len(unknown) == 0 {
		return nil
	}
	var mu sync.Mutex
	o.hidden = map[string]bool{}
	failed := s.Look(ctx, "preview", unknown, fleet.Tasks{Work: func(ctx context.Context, _ fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
		r, err := s.Driver.Preview(ctx, c, automation.PreviewOptions{Refresh: o.plan.Refresh, Plan: true})
		mu.Lock()
		o.hidden[c.Name] = err == nil && r.Plan.Changes()
		mu.Unlock()
		return result.Work(r), err
	}})
	if failed != nil || len(o.planned(unknown)) == 0 {
		return failed
	}
	return o.Enter(o.touched(all, o.planned(all)))
}

// approvedRun does what is in the plan, and nothing else.
func (o *Options) approvedRun(ctx context.Context, all []*config.Cluster) error {
	o.seen = &change.Collector{}
	var digest string
	var err error
	if o.plan, digest, err = approved.Read(o.Plan, o.PlanDigest); err != nil {
		return err
	}
	if err := o.setting(ctx, all); err != nil {
		return err
	}
	o.Status().Doing("the plan %s has the digest %s: %s", o.Plan, digest, o.plan.Summary())
	if len(all) == 0 {
		o.Status().Done("the plan is empty: nothing to do")
		return nil
	}
	if err := o.Tools(all); err != nil {
		return err
	}
	if err := o.Enter(o.touched(all, o.planned(all))); err != nil {
		return err
	}
	return fleet.With(ctx, o.Fleet, change.Before(o.seen, o.Driver), func(s *fleet.Session[Driver]) error {
		if err := o.ready(ctx, s, all); err != nil {
			return err
		}
		if err := o.compare(ctx, s, all); err != nil {
			return err
		}
		o.commits(ctx, all)
		for _, c := range all {
			if !slices.Contains(o.planned(all), c) {
				o.record(ctx, s.Driver, c)
			}
		}
		if len(o.planned(all)) == 0 {
			o.Status().Done("the plan is empty: nothing to do")
		}
		return s.Run(ctx, all, o.tasks(s.Driver, o.planned(all)))
	})
}

// brought is the line of commits since the one that was applied to the cluster.
func (o *Options) brought(ctx context.Context, driver Driver, c *config.Cluster) (inputs.Line, error) {
	root, err := o.Root()
	if err != nil {
		return inputs.Line{}, err
	}
	applied, err := driver.Applied(ctx, c)
	if err != nil {
		return inputs.Line{}, err
	}
	return inputs.Brought(ctx, root, applied, c)
}

// commits finds out what is applied. Outside of a repository, or with changes that are not
// committed, there is nothing to record: the next apply looks at more requests then.
func (o *Options) commits(ctx context.Context, all []*config.Cluster) {
	root, err := o.Root()
	if err == nil {
		o.commit, o.committed, err = inputs.AtHead(ctx, root, all)
	}
	if err != nil {
		o.commit = ""
	}
}

// record writes down that the commit is applied to the cluster.
func (o *Options) record(ctx context.Context, driver Driver, c *config.Cluster) {
	if o.commit == "" || !o.committed[c.Name] {
		return
	}
	if err := driver.RecordApplied(ctx, c, o.commit); err != nil {
		o.Status().Plain("! %s: the next apply will want approvals of what is applied now, too: %v", c.Name, err)
	}
}

// planned are the clusters that the plan changes, or that a secret changes which it does not have.
func (o *Options) planned(all []*config.Cluster) []*config.Cluster {
	return slices.DeleteFunc(slices.Clone(all), func(c *config.Cluster) bool {
		p := o.plan.Cluster(c.Name)
		return p == nil || !p.Changes() && !o.hidden[c.Name]
	})
}

// setting compares what needs no preview: the program, the cluster files, the clusters
// and their waves.
func (o *Options) setting(ctx context.Context, all []*config.Cluster) error {
	planned := make([]change.Planned, len(all))
	for i, c := range all {
		own, err := automation.PlanFiles(c)
		if err != nil {
			return err
		}
		planned[i] = change.Planned{Cluster: c, Plan: own}
	}
	now, err := change.Plan(planned, o.plan.Refresh)
	if err != nil {
		return err
	}
	return o.show(ctx, all, approved.Refuse(o.plan.Setting(now)))
}

// show writes what differs from the plan, as the comment on a change shows it, and
// returns the error.
func (o *Options) show(ctx context.Context, all []*config.Cluster, err error) error {
	refused := new(approved.Error)
	if !errors.As(err, &refused) {
		return err
	}
	set := plan.Set{}
	o.seen.Gather(ctx, &set, o.Fleet, all)
	text := review.Differences(only(set, refused.Differences), refused)
	if o.JSON() {
		for _, d := range refused.Differences {
			if written := render.WriteJSON(o.Out, differenceDocument{"difference", d.Cluster, d.Stack, d.URN, d.What}); written != nil {
				return written
			}
		}
		return err
	}
	if _, written := io.WriteString(o.Streams.ErrOut, text); written != nil {
		return fmt.Errorf("write what differs from the plan: %w", written)
	}
	return err
}

// differenceDocument is a difference from the plan in the JSON format.
type differenceDocument struct {
	Type    string `json:"type"`
	Cluster string `json:"cluster,omitempty"`
	Stack   string `json:"stack,omitempty"`
	URN     string `json:"urn,omitempty"`
	What    string `json:"what"`
}

// only leaves the resources that the differences are about.
func only(set plan.Set, differences []approved.Difference) plan.Set {
	for i := range set.Clusters {
		for j := range set.Clusters[i].Stacks {
			s := &set.Clusters[i].Stacks[j]
			s.Outputs = nil
			s.Resources = slices.DeleteFunc(s.Resources, func(r plan.Resource) bool {
				return !slices.ContainsFunc(differences, func(d approved.Difference) bool { return d.Stack == s.Name && d.URN == r.URN })
			})
		}
	}
	return set
}
