package automation

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"

	"tombolo/automation/approval"
	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/hubs"
	"tombolo/automation/operation"
	"tombolo/automation/preflight"
	"tombolo/automation/preview"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// stackUp is the up of one stack.
type stackUp struct {
	driver  *Driver
	cluster *config.Cluster
	kind    stacks.Kind
	options UpOptions
	// expected is what a preview has found, and allowed what may be done, as it was compared with the
	// plan; nil where no plan was approved.
	expected preview.Expected
	allowed  *approval.Allowed
	// tolerance of failures, and attempt that goes on.
	tolerance operation.Tolerance
	attempt   attempt
}

// attempt at an up.
type attempt int

const (
	firstAttempt attempt = iota
	// furtherAttempt follows one that may have moved the state.
	furtherAttempt
)

func (s *stackUp) name() string { return stacks.Name(s.cluster.Name, s.kind) }

// compare compares the stack with the plan that was approved.
func (s *stackUp) compare(ctx context.Context) error {
	var err error
	s.allowed, err = s.driver.approver().Require(ctx, s.cluster, s.kind, approval.Request{Approved: s.options.Approved, Refresh: s.options.Refresh})
	return err
}

// do makes the stack what the cluster file says, unless it is known that it stays as it is, and tries that again.
func (s *stackUp) do(ctx context.Context) (StackResult, error) {
	switch {
	case s.expected.Outcome == preview.Stays || s.expected.Outcome == preview.Fails:
		return s.expected.Result, s.expected.Err
	case s.allowed != nil && !s.allowed.MayChange():
		return s.allowed.Unchanged, nil
	}
	return s.driver.runner().Retry(ctx, s.name(), s.tolerance, func(failed string) (StackResult, error) {
		if failed == "up" {
			s.attempt = furtherAttempt
		}
		return s.try(ctx)
	})
}

func (s *stackUp) try(ctx context.Context) (StackResult, error) {
	// What an interrupted operation has left would fail the up, or be made twice.
	st, err := s.driver.runner().Recovery(s.cluster).Recover(ctx, s.cluster, s.kind, nil)
	if err != nil {
		return StackResult{}, err
	}
	making := s.beginMaking(ctx, st)
	defer making.end()
	exists := st != nil
	if s.kind == stacks.Bootstrap && exists {
		if st, err = s.restore(ctx, st); err != nil {
			return StackResult{}, err
		}
	}
	if s.previews(st) {
		if r, err := s.driver.previewer().Once(ctx, s.cluster, s.kind, preview.Options{Refresh: s.options.Refresh}, exists); err != nil {
			return r, err
		}
		exists = true
	}
	session, err := s.driver.runner().Open(ctx, s.cluster, s.kind, catalog.Options{}, exists)
	if err != nil {
		return StackResult{}, err
	}
	if s.kind == stacks.Core && st == nil {
		defer s.driver.openAhead(ctx, s.cluster)()
	}
	if err := making.wait(ctx); err != nil {
		return StackResult{}, err
	}
	// Another run may have moved the state since it was compared; a further attempt finds what the first has moved.
	if s.allowed != nil && s.attempt == firstAttempt {
		if err := s.driver.approver().RefuseMoved(ctx, s.allowed); err != nil {
			return StackResult{}, err
		}
	}
	return s.up(ctx, session, making)
}

// restore undoes what a destruction has begun that did not end. It returns the state to go on with.
func (s *stackUp) restore(ctx context.Context, st *backend.State) (*backend.State, error) {
	if err := s.driver.destroyer().Resume(ctx, s.cluster, st); err != nil {
		return nil, err
	}
	h := s.driver.hubs()
	st, err := h.ForgetMissing(ctx, s.cluster, st)
	if err != nil {
		return nil, err
	}
	return st, h.Restore(ctx, s.cluster, st)
}

// previews says that the stack is previewed right before its up: because that is asked for and no preview was made, or
// because the up might take away what Applications depend on.
func (s *stackUp) previews(st *backend.State) bool {
	asked := s.options.Plan && s.attempt == firstAttempt && s.expected.Outcome == preview.Unknown
	return asked || s.kind == stacks.Bootstrap && hubs.TakesAway(st, s.cluster)
}

// up runs the Pulumi engine.
func (s *stackUp) up(ctx context.Context, session *operation.Session, making *making) (StackResult, error) {
	watched, ended := ctx, func(err error) error { return err }
	if s.allowed != nil {
		watched, ended = s.allowed.Watch(ctx, session)
	}
	session.OnCreate(s.driver.deps.cloud(s.cluster).ClusterType(), making.started)
	result, err := session.Run(watched, "up", func(ctx context.Context, ch chan<- events.EngineEvent) error {
		opts := []optup.Option{optup.EventStreams(ch), optup.SuppressProgress(), optup.SuppressOutputs()}
		if s.options.Refresh {
			opts = append(opts, optup.Refresh())
		}
		_, err := session.Stack.Up(ctx, opts...)
		return err
	})
	if err = ended(err); err != nil {
		s.driver.runner().Recovery(s.cluster).AdoptUnanswered(ctx, s.cluster, s.kind, result.Events.Unanswered)
		return result, err
	}
	result.Outputs, err = session.Outputs(ctx, result)
	return result, err
}

// openAhead makes bootstrap's stack, as a preview does, while core is made: making
// one takes the CLI half a second. It returns what waits for the end of that; an
// error shows when bootstrap is opened for its up.
func (d *Driver) openAhead(ctx context.Context, c *config.Cluster) (wait func()) {
	var work sync.WaitGroup
	work.Go(func() {
		if st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap)); err == nil && st == nil {
			_, _ = d.runner().Open(ctx, c, stacks.Bootstrap, catalog.Options{}, false)
		}
	})
	return work.Wait
}

// making is the beginning of an up that makes a cluster: its account is checked while the stack is opened and previewed.
// A cluster that has a core passed the check before, and is not checked again.
type making struct {
	cluster *config.Cluster
	// started ends the start of the up: the next one may start.
	started func()
	work    sync.WaitGroup
	report  preflight.Report
}

func (s *stackUp) beginMaking(ctx context.Context, st *backend.State) *making {
	m := &making{cluster: s.cluster, started: func() {}}
	if s.kind != stacks.Core || st.Resources() > 0 {
		return m
	}
	m.started = s.driver.starts.Wait(ctx)
	d, c := s.driver, s.cluster
	m.work.Go(func() {
		m.report.Findings = d.doctor().Account(ctx, c, coreOf(st), d.deps.cloud(c).Demand(c, coreOf(st)))
	})
	return m
}

func (m *making) end() {
	m.work.Wait()
	m.started()
}

// wait until the check ends; its time is bounded. The error is that of an up.
func (m *making) wait(ctx context.Context) error {
	m.work.Wait()
	if err := ctx.Err(); err != nil {
		return pulumicli.Interrupted(pulumicli.Failed{Stack: stacks.Name(m.cluster.Name, stacks.Core), Operation: "up"}, err)
	}
	found := m.report.Of(preflight.Fail)
	if len(found) == 0 {
		return nil
	}
	reasons := make([]string, len(found))
	for i, f := range found {
		reasons[i] = fmt.Sprintf("%s: %s (%s)", f.Check, f.Message, f.Remedy)
	}
	return &fault.Error{
		What:   fmt.Sprintf("up %s: %s", m.cluster.Name, strings.Join(reasons, "; ")),
		Remedy: "nothing was started; `tombolo doctor " + m.cluster.Name + "` looks again",
	}
}
