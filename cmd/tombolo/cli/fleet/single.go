package fleet

import (
	"context"

	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/window"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// Single gives a command that changes one cluster in steps of its own what a run of several
// has: change windows, and a journal. Commands embed it in their options.
type Single struct {
	factory.Base
	// Operation is the name of the command.
	Operation string
	// Journals record the command's runs.
	Journals func() (rollout.Journals, error)
	// Looks for drift are kept there.
	Looks Looks
	// Guard refuses a change that begins outside of a change window.
	window.Guard
}

// NewSingle returns the Single of a command.
func NewSingle(f *factory.Factory, operation string) Single {
	return Single{Base: f.Base(), Operation: operation, Journals: f.Journals, Looks: f.Drift}
}

// Record does the work on a cluster, when its change windows let it begin, with a journal of
// it.
func (s *Single) Record(ctx context.Context, status render.Status, c *config.Cluster, work func(context.Context) error) error {
	root, err := s.Root()
	if err != nil {
		return err
	}
	journals, err := s.Journals()
	if err != nil {
		return err
	}
	h := rollout.Header{Operation: s.Operation, Selection: rollout.Selection{Names: []string{c.Name}}}
	if err := h.SetClusters(root, []*config.Cluster{c}); err != nil {
		return err
	}
	journal, err := journals.Begin(h)
	if err != nil {
		return unwritable(err)
	}
	defer journal.Close()
	runner := rollout.Runner{
		Operation: s.Operation, Journal: journal,
		Hold: func(context.Context, string) error { return s.Admit(c, journal) },
		Work: func(ctx context.Context, _ string) (rollout.Work, error) {
			return rollout.Work{Phase: s.Operation}, work(ctx)
		},
	}
	summary, err := runner.Run(ctx, rollout.Jobs([]*config.Cluster{c}, rollout.Free, nil))
	if err != nil {
		return err
	}
	if summary.Journal != nil {
		status.Failed("%s; the %s continued", summary.Journal, s.Operation)
	}
	return summary.Err()
}

func unwritable(err error) error {
	return fault.NewPrecondition("the journal of the run cannot be written", "make the directory writable", err)
}
