package automation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/preflight"
	"tombolo/config"
	"tombolo/stacks"
)

// asking is a question to the account of a cluster that is under way.
type asking struct {
	driver  *Driver
	cluster *config.Cluster
	work    sync.WaitGroup
	report  preflight.Report
}

// hasToAsk says that the account is asked before core is made or previewed: as long as there is no
// managed cluster, and after a change of what the cloud is asked about. Otherwise the cluster has
// passed the check.
func (d *Driver) hasToAsk(c *config.Cluster, core *backend.State, changes config.Changes) bool {
	cloud := d.deps.cloud(c)
	return core.Resources() == 0 || coreOf(core).Awaits(c, cloud.ClusterType()) ||
		slices.ContainsFunc(changes, func(change config.Change) bool { return change.After != nil && cloud.AsksAgain(change.Path) })
}

// begin asks with the state of core.
func (a *asking) begin(ctx context.Context, core *backend.State) {
	d, c := a.driver, a.cluster
	a.work.Go(func() {
		a.report.Findings = d.doctor().Account(ctx, c, coreOf(core), d.deps.cloud(c).Demand(c, coreOf(core)))
	})
}

// note tells of what could not be asked, and of what may fail.
func (a *asking) note() {
	for _, f := range a.report.Of(preflight.Warn) {
		a.driver.opts.Observer.Note(stacks.Name(a.cluster.Name, stacks.Core), fmt.Sprintf("%s: %s; %s", f.Check, f.Message, f.Remedy))
	}
}

// refusal is the error of an operation that these findings stop; nil for none.
func (a *asking) refusal(operation string, found []preflight.Finding) error {
	if len(found) == 0 {
		return nil
	}
	reasons := make([]string, len(found))
	for i, f := range found {
		reasons[i] = fmt.Sprintf("%s: %s (%s)", f.Check, f.Message, f.Remedy)
	}
	return &fault.Error{
		What:   fmt.Sprintf("%s %s: %s", operation, a.cluster.Name, strings.Join(reasons, "; ")),
		Remedy: "nothing was started; `tombolo doctor " + a.cluster.Name + "` looks again",
	}
}
