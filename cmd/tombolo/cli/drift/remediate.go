package drift

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"tombolo/automation"
	"tombolo/automation/approved"
	"tombolo/automation/drift"
	"tombolo/automation/plan"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/change"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/cli/result"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// remedy is what puts drift right by the policies of the cluster files: it plans as preview
// does, refuses what only people may decide, and does what it planned, and nothing else.
type remedy struct {
	*Options
	session *fleet.Session[Driver]
	seen    *change.Collector

	mu sync.Mutex
	// plans of what puts a cluster right, and left is why one is left to people, by cluster.
	plans map[string]*approved.Cluster
	left  map[string]string
}

// run puts right what may be put right of the reports, and compares those clusters again.
func (m *remedy) run(ctx context.Context, all []*config.Cluster, reports *found) error {
	var candidates []*config.Cluster
	for _, c := range all {
		report := reports.get(c.Name)
		if report.Count(drift.Missing)+report.Count(drift.Changed) == 0 {
			continue
		}
		if why := m.leaves(c, report); why != "" {
			m.leave(c, why)
			continue
		}
		candidates = append(candidates, c)
	}
	if err := m.plan(ctx, candidates); err != nil {
		return err
	}
	if err := m.judge(ctx, candidates); err != nil {
		return err
	}
	m.tell(all)
	wanted := slices.DeleteFunc(candidates, func(c *config.Cluster) bool { return m.left[c.Name] != "" })
	if len(wanted) == 0 {
		return nil
	}
	return m.apply(ctx, wanted, reports)
}

// leaves says why a cluster is left to people before anything is planned; "" when it is not.
func (m *remedy) leaves(c *config.Cluster, r drift.Report) string {
	switch {
	case c.Drift.Remediate == config.RemediateNever:
		return "drift.remediate of its file is never"
	case c.Drift.Remediate == config.RemediateInWindow && c.Closed(m.Time()) != "":
		return "it " + c.Closed(m.Time())
	case r.Error != "":
		return "it was not compared in full: " + r.Error
	}
	for _, s := range r.Stacks {
		if s.Busy != "" || s.Skipped != "" {
			return fmt.Sprintf("%s: %s", s.Stack, strings.TrimSpace(s.Busy+s.Skipped))
		}
	}
	for _, d := range r.Differences {
		if d.Class != drift.Missing {
			continue
		}
		switch danger := plan.DangerOf(m.Clouds.Of(c, nil), d.Type, d.ID); danger {
		case "", plan.InfraConfigDanger, plan.RegistrationDanger: // the program has all that is in them
		default:
			return fmt.Sprintf("%s %s is missing (%s): what was in it is not made again", render.ResourceType(d.Type), d.Name, danger)
		}
	}
	return ""
}

func (m *remedy) leave(c *config.Cluster, why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left[c.Name] = why
}

// plan previews the clusters: first without the cloud, for what their files would change is
// no drift, and then with it.
func (m *remedy) plan(ctx context.Context, all []*config.Cluster) error {
	if len(all) == 0 {
		return nil
	}
	err := m.session.Look(ctx, "preview", all, fleet.Tasks{Work: func(ctx context.Context, _ fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
		r, err := m.session.Driver.Preview(ctx, c, automation.PreviewOptions{})
		if err == nil && result.Changes(r) {
			m.leave(c, "its file has changes that were not applied: `tombolo up "+c.Name+"`")
			return rollout.Work{}, nil
		}
		if err == nil {
			r, err = m.session.Driver.Preview(ctx, c, automation.PreviewOptions{Refresh: true, Plan: true})
			m.seen.Finished(c.Name, r, err)
		}
		switch {
		case ctx.Err() != nil:
			return rollout.Work{}, err
		case err != nil:
			m.leave(c, "it could not be planned: "+err.Error())
		case r.Plan == nil || !r.Plan.Changes():
			m.leave(c, "an up would change nothing of it: the cluster file does not set what differs")
		default:
			m.mu.Lock()
			m.plans[c.Name] = r.Plan
			m.mu.Unlock()
		}
		return result.Work(r), nil
	}})
	return err
}

// judge leaves the clusters whose plans are dangerous, and those that the project's policy
// has something against: nobody has approved them.
func (m *remedy) judge(ctx context.Context, all []*config.Cluster) error {
	rules, err := (&change.Judge{}).Rules(ctx, m.Fleet)
	if err != nil {
		return err
	}
	for _, c := range all {
		if m.plans[c.Name] == nil {
			continue
		}
		set := plan.Set{}
		m.seen.Gather(ctx, &set, m.Fleet, []*config.Cluster{c})
		if dangers := set.Dangerous(); len(dangers) > 0 {
			d := dangers[0]
			m.leave(c, fmt.Sprintf("it would %s %s %s (%s)", d.Op, render.ResourceType(d.Type), d.Name, d.Danger))
			continue
		}
		if incomplete := set.Clusters[0].Err; incomplete != "" {
			m.leave(c, "its plan is incomplete: "+incomplete)
			continue
		}
		if err := rules.Judge(&set); err != nil {
			return err
		}
		if err := change.Refuse(set); err != nil {
			m.leave(c, err.Error())
		}
	}
	return nil
}

// leftDocument says in the JSON format that a cluster is left to people.
type leftDocument struct {
	Type    string `json:"type"`
	Cluster string `json:"cluster"`
	Reason  string `json:"reason"`
}

func (m *remedy) tell(all []*config.Cluster) {
	for _, c := range all {
		if why := m.left[c.Name]; why != "" {
			m.session.Progress.Interlude(func() { m.Status().Plain("! %s is left to people: %s", c.Name, why) })
		}
	}
	if !m.JSON() {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m.left)) {
		_ = render.WriteJSON(m.Out, leftDocument{Type: "remediation-left", Cluster: name, Reason: m.left[name]})
	}
}

// apply does what was planned, wave after wave, each of which has to be healthy. Such a run
// is not resumed: the next one compares again, and plans what is left.
func (m *remedy) apply(ctx context.Context, wanted []*config.Cluster, reports *found) error {
	s := m.session.As(fleet.Operation{Name: "remediate", Order: rollout.Forward, Changes: true})
	return s.Run(ctx, wanted, m.Gated(fleet.Tasks{
		Changes: func(_ context.Context, c *config.Cluster) bool { return c.Drift.Remediate == config.RemediateInWindow },
		Work: func(ctx context.Context, t fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			r, err := s.Driver.Up(ctx, c, automation.UpOptions{Refresh: true, Approved: m.plans[c.Name]})
			if err != nil {
				return result.Work(r), err
			}
			return result.Work(r), m.look(ctx, s.Driver, t, c, reports)
		},
	}, s.Driver))
}
