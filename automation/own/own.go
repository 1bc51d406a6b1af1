// Package own runs the stacks of a team's own Pulumi programs, in their places among the stacks of a
// cluster: config.OwnStack says which. Their resources are the team's: the package knows nothing of
// them, adopts nothing, and takes no protection off.
//
// A program is code of the project, and runs with the rights of whoever runs the driver.
package own

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"

	"tombolo/automation/backend"
	"tombolo/automation/connect"
	"tombolo/automation/fault"
	"tombolo/automation/operation"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/internal/wording"
	"tombolo/stacks"
	"tombolo/stacks/handoff"
)

// Stacks runs own stacks. All fields are required.
type Stacks struct {
	Backend *backend.Backend
	Runner  *operation.Runner
	// Dir has the file that names the stacks. Started says that its programs are run: not those of
	// what somebody proposes.
	Dir     string
	Started bool
}

// Of are the own stacks of a cluster in one of the places, of all places without one, in their order.
func (s Stacks) Of(c *config.Cluster, places ...config.StackOrder) ([]config.OwnStack, error) {
	all, err := config.LoadStacks(s.Dir)
	if err != nil {
		return nil, err
	}
	return In(slices.DeleteFunc(all, func(o config.OwnStack) bool { return !o.Has(c.RegistrationLabels()) }), places...), nil
}

// In are the stacks in one of the places, in all places without one, in their order.
func In(all []config.OwnStack, places ...config.StackOrder) []config.OwnStack {
	if len(places) == 0 {
		places = []config.StackOrder{config.BeforeCore, config.AfterCore, config.AfterBootstrap}
	}
	var out []config.OwnStack
	for _, place := range places {
		for _, o := range all {
			if o.Order == place {
				out = append(out, o)
			}
		}
	}
	return out
}

// Kind is the kind of an own stack in results: its name without the cluster's.
func Kind(o config.OwnStack) stacks.Kind { return stacks.Kind(o.Name) }

// place is where the program of a stack runs. It learns by its environment whose stack it is.
func (s Stacks) place(c *config.Cluster, o config.OwnStack) (pulumicli.Place, error) {
	return s.Runner.CLI.In(o.Dir, map[string]string{
		"TOMBOLO_CLUSTER": c.Name, "TOMBOLO_ENVIRONMENT": c.Environment, "TOMBOLO_REGION": c.Cloud.Region,
	})
}

// Up of a stack.
type Up struct {
	// Refresh compares with the world first.
	Refresh bool
	// Watch, if not nil, watches an up for steps that were not approved: see approval.Allowed.Watch.
	Watch func(context.Context, *operation.Session) (context.Context, func(error) error)
}

// Up makes the stack of a cluster what its program says. changed says that anything of it is another than before.
func (s Stacks) Up(ctx context.Context, c *config.Cluster, o config.OwnStack, u Up) (result operation.StackResult, changed bool, err error) {
	var before *backend.State
	result, err = s.Runner.Retry(ctx, o.Stack(c.Name), operation.Usual, func(string) (operation.StackResult, error) {
		session, st, err := s.open(ctx, c, o)
		if err != nil {
			return operation.StackResult{}, err
		}
		before = st
		return u.run(ctx, session)
	})
	if err != nil {
		return result, true, s.failed(c, o, err)
	}
	return result, result.Events.Differs || !reflect.DeepEqual(backend.Masked(before.Outputs()), any(result.Outputs)), nil
}

// open opens the stack of a cluster, and makes it where it does not exist. It returns the state that it has.
func (s Stacks) open(ctx context.Context, c *config.Cluster, o config.OwnStack) (*operation.Session, *backend.State, error) {
	st, err := s.Backend.State(ctx, o.Whole(c.Name))
	if err != nil {
		return nil, nil, err
	}
	at, err := s.place(c, o)
	if err != nil {
		return nil, nil, err
	}
	session, err := s.Runner.OpenProgram(ctx, at, c, Kind(o), o.Whole(c.Name), st != nil)
	return session, st, err
}

func (u Up) run(ctx context.Context, session *operation.Session) (operation.StackResult, error) {
	watched, ended := ctx, func(err error) error { return err }
	if u.Watch != nil {
		watched, ended = u.Watch(ctx, session)
	}
	result, err := session.Run(watched, "up", func(ctx context.Context, ch chan<- events.EngineEvent) error {
		opts := []optup.Option{optup.EventStreams(ch), optup.SuppressProgress(), optup.SuppressOutputs()}
		if u.Refresh {
			opts = append(opts, optup.Refresh())
		}
		_, err := session.Stack.Up(ctx, opts...)
		return err
	})
	if err = ended(err); err != nil {
		return result, err
	}
	result.Outputs, err = session.Outputs(ctx, result)
	return result, err
}

// Removal of a stack.
type Removal struct {
	// Refresh compares with the world first, and Remove takes the stack out of the backend after it.
	Refresh, Remove bool
}

// Destroy destroys what the stack of a cluster has. There is no result where there is no stack.
func (s Stacks) Destroy(ctx context.Context, c *config.Cluster, o config.OwnStack, r Removal) (operation.StackResult, error) {
	st, err := s.Backend.State(ctx, o.Whole(c.Name))
	if err != nil || st == nil {
		return operation.StackResult{}, err
	}
	session, _, err := s.open(ctx, c, o)
	if err != nil {
		return operation.StackResult{}, s.failed(c, o, err)
	}
	result := operation.StackResult{Stack: session.Name, Kind: session.Kind, Operation: "destroy", Changes: operation.Changes{}}
	if len(st.All()) > 0 {
		s.Runner.Observer.StackPlanned(session.Name, len(st.All()))
		result, err = session.Run(ctx, "destroy", func(ctx context.Context, ch chan<- events.EngineEvent) error {
			opts := []optdestroy.Option{optdestroy.EventStreams(ch), optdestroy.SuppressProgress()}
			if r.Refresh {
				opts = append(opts, optdestroy.Refresh())
			}
			_, err := session.Stack.Destroy(ctx, opts...)
			return err
		})
	}
	if err == nil && r.Remove {
		session.Command.PreserveConfig = true
		err = session.Stack.Workspace().RemoveStack(ctx, session.Name)
		result.Removed = err == nil
	}
	if err != nil {
		return result, s.failed(c, o, err)
	}
	return result, nil
}

// RefuseInTheWay refuses to take core away while own stacks that are made after it, and that stay, have resources:
// these may be in the cluster's network, where they keep core from being destroyed.
func (s Stacks) RefuseInTheWay(ctx context.Context, c *config.Cluster, what string) error {
	all, err := s.Of(c, config.AfterCore, config.AfterBootstrap)
	if err != nil {
		return err
	}
	var inTheWay []string
	for _, o := range all {
		st, err := s.Backend.State(ctx, o.Whole(c.Name))
		if err != nil {
			return err
		}
		if st.Resources() > 0 {
			inTheWay = append(inTheWay, fmt.Sprintf("%s (program in %s)", o.Stack(c.Name), o.Program))
		}
	}
	if len(inTheWay) == 0 {
		return nil
	}
	return &fault.Error{
		What: fmt.Sprintf("%s %s: what own stacks have that are made after core may be in its network: %s", what, c.Name, wording.And(inTheWay)),
		Remedy: "nothing was changed: move what has to stay to a stack that is made before core, and destroy the others by " +
			"`pulumi destroy` in their directories first",
	}
}

// failed says which program failed, and that what comes after it was not begun.
func (s Stacks) failed(c *config.Cluster, o config.OwnStack, err error) error {
	what := fmt.Sprintf("own stack %s, program in %s, %s: %v", o.Stack(c.Name), o.Program, words[o.Order], err)
	if command := new(pulumicli.Error); !errors.As(err, &command) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("own stack %s, program in %s, %s: %w", o.Stack(c.Name), o.Program, words[o.Order], err)
	}
	return &fault.Error{Class: fault.Deployment, What: what, Remedy: "what comes after it was not begun", Err: err}
}

// words for the places.
var words = map[config.StackOrder]string{
	config.BeforeCore: "before core", config.AfterCore: "between core and bootstrap", config.AfterBootstrap: "after bootstrap",
}

// Told are the outputs of stacks as a cluster's bootstrap will find them, by the stacks' whole names: now are those
// that there are, and next those of own stacks as previews tell them. An own stack that does not exist and was not
// previewed has nil: what is read of it is known after its up.
func Told(c *config.Cluster, all []config.OwnStack, now, next map[string]map[string]any) map[string]map[string]any {
	out := maps.Clone(now)
	for _, o := range In(all, config.BeforeCore, config.AfterCore) {
		name := o.Whole(c.Name)
		if !slices.Contains(connect.SourcesOf(c).Values, name) {
			continue
		}
		if _, exists := now[name]; !exists {
			out[name] = nil
		}
		if told, was := next[name]; was {
			out[name] = told
		}
	}
	return out
}

// Unknown are the texts that stand in a preview of bootstrap for what own stacks put out and no preview knows, where
// it is told these outputs.
func Unknown(c *config.Cluster, all []config.OwnStack, told map[string]map[string]any) []string {
	var out []string
	for _, ref := range c.References() {
		name := ref.Source.StackName("organization", stacks.Project)
		ours := slices.ContainsFunc(all, func(o config.OwnStack) bool { return o.Whole(c.Name) == name })
		if ours && (told[name] == nil || handoff.AnyUnknown(told[name])) {
			out = append(out, ref.Source.Later())
		}
	}
	return out
}
