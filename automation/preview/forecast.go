package preview

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"tombolo/automation/backend"
	"tombolo/automation/hubs"
	"tombolo/automation/lastup"
	"tombolo/automation/operation"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// This file finds out whether an up would change anything, which is cheaper than
// an up that does not: both stacks are previewed at the same time, as core's
// outputs are there already, and a preview takes no lock and writes no state.
//
// A stack is left alone only when the state would be the same in everything: no
// step of the engine but same and read, the same options of each resource, such
// as protection and dependencies, and the same outputs.

// Outcome of a preview ahead of an up.
type Outcome int

const (
	// Unknown is that of a stack that was not previewed, or whose preview failed for what passes: the
	// up is the next try.
	Unknown Outcome = iota
	// Changes says that the up changes something.
	Changes
	// Stays says that the up would leave the stack as it is.
	Stays
	// Fails says that the preview failed, as the up after it would.
	Fails
)

// Expected is what is known of a stack ahead of its up.
type Expected struct {
	Outcome Outcome
	Result  operation.StackResult
	// State is the digest of the state that was read before.
	State string
	// Err of a preview that failed.
	Err error
}

// Forecast is what is known of both stacks ahead of an up.
type Forecast struct{ Core, Bootstrap Expected }

// Forecast previews both stacks at the same time; bootstrap alone when nothing has changed since the
// last up that core depends on. It does nothing where that cannot tell what an up does, because an operation
// was interrupted or is under way. When core is to change, nothing is known of bootstrap.
func (p Previewer) Forecast(ctx context.Context, c *config.Cluster, since lastup.Diff) (Forecast, error) {
	// The states are read now: what the up has read before may have been written by another run.
	before, err := p.predictable(ctx, c)
	if err != nil || before == nil {
		return Forecast{}, err
	}
	if since.IsCore(c, before.core) {
		p.Runner.Note(stacks.Name(c.Name, stacks.Core), "unchanged since the "+since.Last.String())
		core := Expected{Outcome: Stays, Result: since.Result(c, stacks.Core), State: before.core}
		if since.Outcome == lastup.BootstrapDiffers { // the up finds out what that changes: a preview would take as long again
			return Forecast{Core: core}, nil
		}
		bootstrap := p.ahead(ctx, c, stacks.Bootstrap, p.Runner.Observer, nil)
		return p.forecast(ctx, c, core, bootstrap.of(before.bootstrap)), nil
	}
	ofBootstrap, giveUp := context.WithCancel(ctx)
	defer giveUp()
	held := &held{to: p.Runner.Observer}
	var core, bootstrap Expected
	var wg sync.WaitGroup
	wg.Go(func() {
		core = p.ahead(ctx, c, stacks.Core, p.Runner.Observer, giveUp).of(before.core)
		if core.Outcome == Stays {
			held.release()
		}
	})
	wg.Go(func() { bootstrap = p.ahead(ofBootstrap, c, stacks.Bootstrap, held, nil).of(before.bootstrap) })
	wg.Wait()
	if core.Outcome != Stays {
		return Forecast{Core: core}, nil
	}
	return p.forecast(ctx, c, core, bootstrap), nil
}

// of is what is expected of a state with the digest.
func (e Expected) of(digest string) Expected {
	e.State = digest
	return e
}

// forecast is that where core stays as it is.
func (p Previewer) forecast(ctx context.Context, c *config.Cluster, core, bootstrap Expected) Forecast {
	if bootstrap.Outcome == Changes || bootstrap.Outcome == Stays {
		if bootstrap.Err = p.Hubs.RefuseLoss(ctx, c, bootstrap.Result.Events.Lost); bootstrap.Err != nil {
			bootstrap.Outcome = Fails
		}
	}
	return Forecast{Core: core, Bootstrap: bootstrap}
}

// digests of the states of both stacks.
type digests struct{ core, bootstrap string }

// predictable returns the digests, or nil: they are there when a preview of both stacks would tell what up does: both are deployed,
// nothing is left of an interrupted operation, no operation works on them or has begun to destroy them, and
// bootstrap is with its hub and stays there.
func (p Previewer) predictable(ctx context.Context, c *config.Cluster) (*digests, error) {
	out := &digests{}
	for _, k := range stacks.Kinds() {
		name := stacks.Name(c.Name, k)
		locks, err := p.Backend.LockFiles(name, "*")
		if err != nil {
			return nil, err
		}
		st, err := p.Backend.State(ctx, name)
		if err != nil || len(locks) > 0 || !isWhole(st) {
			return nil, err
		}
		if k == stacks.Core {
			out.core = lastup.StateDigest(st)
			continue
		}
		if hubs.TakesAway(st, c) || st.Draining() || p.Hubs.Standing(ctx, c, st) != hubs.Whole {
			return nil, nil
		}
		out.bootstrap = lastup.StateDigest(st)
	}
	return out, nil
}

// isWhole says that the stack was deployed to its end, and that a preview shows
// whatever would be different: of outputs that are secret it shows nothing.
func isWhole(s *backend.State) bool {
	if s.Resources() == 0 || len(s.Outputs()) == 0 || s.Interrupted() > 0 {
		return false
	}
	return !s.Draining() && !backend.IsSpecial(s.Outputs())
}

// ahead previews a stack. giveUp, if not nil, is called as soon as
// something would change, or the preview fails.
func (p Previewer) ahead(ctx context.Context, c *config.Cluster, k stacks.Kind, to operation.Observer, giveUp func()) (e Expected) {
	defer func() {
		if giveUp != nil && e.Outcome != Stays {
			giveUp()
		}
	}()
	s, err := p.Runner.Open(ctx, c, k, catalog.Options{}, true)
	if err != nil {
		return Expected{Outcome: Fails, Err: err}
	}
	s.Observer, s.OnDifference, s.Command.States = to, giveUp, true
	result, err := document(ctx, s)
	switch {
	case err != nil && result.Passes(err, operation.Usual):
		return Expected{}
	case err != nil:
		return Expected{Outcome: Fails, Result: result, Err: err}
	case result.Events.Differs || result.Changes == nil || result.Events.RootOutputs == nil || !sameStates(result.Events.Preview.Document):
		return Expected{Outcome: Changes, Result: result}
	}
	result.Operation, result.Outputs = "up", result.Events.RootOutputs
	return Expected{Outcome: Stays, Result: result}
}

// plannedStep is a step of a preview, with the resource's state as it is and as
// it would be.
type plannedStep struct {
	Op       string         `json:"op"`
	OldState map[string]any `json:"oldState"`
	NewState map[string]any `json:"newState"`
}

// sameStates says whether a preview's document has the same state before and
// after for every resource. Without a document that can be read it has not.
func sameStates(document string) bool {
	var plan struct {
		Steps []plannedStep `json:"steps"`
	}
	decoder := json.NewDecoder(bytes.NewBufferString(document))
	if decoder.Decode(&plan) != nil || len(plan.Steps) == 0 {
		return false
	}
	return !slices.ContainsFunc(plan.Steps, func(s plannedStep) bool { return !s.isSame() })
}

// isSame says that the step leaves the resource's state as it is. What a step
// learns only when it runs is not compared: the id and outputs of a resource
// that is the same stay, and what the program puts out shows in events.
func (s plannedStep) isSame() bool {
	switch s.Op {
	case "read":
		return true // what another stack has, and compared where it is used
	case "same":
	default:
		return false
	}
	for _, key := range []string{"id", "outputs", "created", "modified", "sourcePosition", "stackTrace"} {
		delete(s.OldState, key)
		delete(s.NewState, key)
	}
	return s.OldState != nil && reflect.DeepEqual(unordered(s.OldState), unordered(s.NewState))
}

// unordered is a state with its sets in one order.
func unordered(state map[string]any) map[string]any {
	sortNames(state["dependencies"])
	if byProperty, ok := state["propertyDependencies"].(map[string]any); ok {
		for _, names := range byProperty {
			sortNames(names)
		}
	}
	return state
}

func sortNames(names any) {
	if list, ok := names.([]any); ok {
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
}
