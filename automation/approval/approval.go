package approval

import (
	"context"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/approved"
	"tombolo/automation/backend"
	"tombolo/automation/operation"
	"tombolo/automation/preview"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// Allowed is what an up may do to a stack, as it was compared right before.
type Allowed struct {
	approved.Stack
	// Unchanged is the result of an up that does nothing.
	Unchanged operation.StackResult

	of *approved.Cluster
	// inBackend is the name by which the backend knows the stack.
	inBackend string
}

// Request is an approved up, of which a stack is compared.
type Request struct {
	Approved *approved.Cluster
	// Refresh compares with the cloud, not only with the state.
	Refresh bool
}

// Require previews a stack right before its up, and refuses what was not approved of it.
func (a Approver) Require(ctx context.Context, c *config.Cluster, k stacks.Kind, r Request) (*Allowed, error) {
	of, want := r.Approved, r.Approved.Stack(k)
	if want == nil {
		return nil, fmt.Errorf("the plan of cluster %s has no stack %s", c.Name, k)
	}
	st, err := a.Backend.State(ctx, want.Name)
	if err != nil {
		return nil, err
	}
	if err := refuseMoved(of, want, st); err != nil {
		return nil, err
	}
	if err := a.requireWhole(ctx, c, k, st); err != nil {
		return nil, err
	}
	now := &Allowed{Stack: *want, of: of, inBackend: want.Name}
	err = a.compare(now, r, func(o preview.Options) (preview.Preview, error) {
		return a.Previewer.Stack(ctx, c, k, o, catalog.Options{})
	})
	if err != nil || len(want.Unseen) == 0 {
		return now, err
	}
	hidden, err := a.refuseHidden(ctx, c, k, r, st)
	if err != nil {
		return now, err
	}
	if !hidden.Differs {
		now.Unseen = nil // there is nothing to do for an up
	}
	return now, nil
}

// Own is an own stack of a cluster, whose program package own knows.
type Own struct {
	// Kind and Name of the stack, and its whole name in the backend.
	Kind            stacks.Kind
	Name, InBackend string
}

// RequireOwn previews an own stack right before its up, and refuses what was not approved of it.
func (a Approver) RequireOwn(ctx context.Context, o Own, r Request, see func(preview.Options) (preview.Preview, error)) (*Allowed, error) {
	of, want := r.Approved, r.Approved.Stack(o.Kind)
	if want == nil {
		return nil, approved.Refuse([]approved.Difference{{Cluster: of.Name, Stack: o.Name, What: "it is not in the plan"}})
	}
	now := &Allowed{Stack: *want, of: of, inBackend: o.InBackend}
	if err := a.RefuseMoved(ctx, now); err != nil {
		return nil, err
	}
	return now, a.compare(now, r, see)
}

// compare previews the stack, and refuses steps that were not approved of it.
func (a Approver) compare(now *Allowed, r Request, see func(preview.Options) (preview.Preview, error)) error {
	of, want := now.of, now.Stack
	key, err := a.keyOf(*of)
	if err != nil {
		return err
	}
	seen, err := see(preview.Options{Refresh: r.Refresh, States: true, WithoutSecrets: of.WithoutSecrets, ShowSecrets: key.Keyed()})
	if err != nil {
		return err
	}
	now.Unchanged = seen.Result
	now.Unchanged.Operation, now.Unchanged.Outputs = "up", seen.Result.Events.RootOutputs
	var like *approved.Stack
	if want.AfterCore { // what only core's up could tell when the plan was made is not known here either
		like = &want
	}
	if now.Steps, err = key.StepsOf(seen.Approved(), like); err != nil {
		return fmt.Errorf("compare stack %s with the plan: %w", want.Name, err)
	}
	return refuseOther(of, want.Kind, want.Differences(of.Name, now.Steps))
}

// refuseHidden previews a stack with its secrets, and refuses what a plan without them does not show
// but a secret that changes: before anything begins, as the engine has begun with a step when it
// announces it. It returns what the preview has told.
func (a Approver) refuseHidden(ctx context.Context, c *config.Cluster, k stacks.Kind, r Request, st *backend.State) (operation.Events, error) {
	of, want := r.Approved, r.Approved.Stack(k)
	seen, err := a.Previewer.Stack(ctx, c, k, preview.Options{Refresh: r.Refresh, States: true}, catalog.Options{})
	if err != nil {
		return operation.Events{}, err
	}
	inputs := map[string]map[string]any{}
	for _, resource := range st.All() {
		inputs[string(resource.URN)], _ = backend.Masked(resource.Inputs).(map[string]any)
	}
	hidden, err := want.Hidden(c.Name, seen.Approved(), inputs)
	if err != nil {
		return operation.Events{}, err
	}
	return seen.Result.Events, refuseOther(of, k, hidden)
}

// RefuseMoved refuses a stack whose state has moved since it was compared.
func (a Approver) RefuseMoved(ctx context.Context, may *Allowed) error {
	st, err := a.Backend.State(ctx, may.inBackend)
	if err != nil {
		return err
	}
	return refuseMoved(may.of, &may.Stack, st)
}

// refuseMoved refuses a stack whose state is another one than when it was planned.
func refuseMoved(of *approved.Cluster, want *approved.Stack, st *backend.State) error {
	now, err := stateOf(st)
	if err != nil {
		return err
	}
	return refuseOther(of, want.Kind, want.Moved(of.Name, now))
}

// refuseOther is the error for differences of a stack. It says what was done before.
func refuseOther(of *approved.Cluster, k stacks.Kind, differences []approved.Difference) error {
	err := approved.Refuse(differences)
	refused := new(approved.Error)
	if core := of.Stack(stacks.Core); errors.As(err, &refused) && k == stacks.Bootstrap && core != nil && len(core.Steps) > 0 {
		refused.Done = fmt.Sprintf("stack %s was applied as approved, and %s was not changed", core.Name, stacks.Name(of.Name, k))
	}
	return err
}

// Watch cancels an up that takes a step which was not approved: the engine has begun
// with the step then, and ends it. The function that it returns gives the error of the
// up, after its end.
func (may *Allowed) Watch(ctx context.Context, s *operation.Session) (context.Context, func(error) error) {
	within, cancel := context.WithCancel(ctx)
	var strange []approved.Difference
	s.OnStep = func(m apitype.StepEventMetadata) {
		if may.Has(m) {
			return
		}
		step := approved.Step{URN: m.URN, Op: string(m.Op)}
		strange = append(strange, approved.Difference{
			Cluster: may.of.Name, Stack: s.Name, URN: m.URN, What: fmt.Sprintf("the up began to %s, which is not in the plan", step),
		})
		cancel()
	}
	return within, func(err error) error {
		cancel()
		if len(strange) == 0 {
			return err
		}
		return &approved.Error{Differences: strange, Done: fmt.Sprintf("the up was cancelled, and stack %s has what it did until then", s.Name)}
	}
}
