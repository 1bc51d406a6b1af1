package automation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"

	"tombolo/automation/backend"
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

// predictions are what is known of the stacks before an up: of both, of core
// alone, or of none.
type predictions map[stacks.Kind]prediction

// prediction is what a preview of a stack found.
type prediction struct {
	result StackResult
	// stays says that an up would leave the stack as it is, and state is the digest of the state
	// that was read before.
	stays bool
	state string
	// err of the preview. The up after it would fail as well, unless the causes go
	// away by themselves.
	err error
}

// passes says that the preview failed for what goes away by itself: then nothing is
// known, and the up is the next try.
func (f prediction) passes() bool { return f.err != nil && repeatable(f.result, f.err, false) }

// predict previews both stacks at the same time; bootstrap alone when nothing has changed since the
// last up that core depends on. Where that cannot tell what an up does, because an operation was
// interrupted or is under way, it does nothing. When core is to change, nothing is known of bootstrap.
func (d *Driver) predict(ctx context.Context, c *config.Cluster, o UpOptions, since compared) (predictions, error) {
	if o.Refresh || o.Previewed || o.Approved != nil {
		return nil, nil
	}
	before, err := d.predictable(ctx, c)
	if err != nil || before == nil {
		return nil, err
	}
	if name := stacks.Name(c.Name, stacks.Core); since.core && since.digests[name] == before[stacks.Core] {
		d.opts.Observer.Note(name, "unchanged since the "+since.last.String())
		core := prediction{result: since.stays(c, stacks.Core), stays: true, state: before[stacks.Core]}
		return d.predictAlone(ctx, c, since, core, before), nil
	}
	ofBootstrap, giveUp := context.WithCancel(ctx)
	defer giveUp()
	held := &held{to: d.opts.Observer}
	var core, bootstrap prediction
	var wg sync.WaitGroup
	wg.Go(func() {
		core = d.previewAhead(ctx, c, stacks.Core, d.opts.Observer, giveUp)
		core.state = before[stacks.Core]
		if core.stays {
			held.release()
		}
	})
	wg.Go(func() {
		bootstrap = d.previewAhead(ofBootstrap, c, stacks.Bootstrap, held, nil)
		bootstrap.state = before[stacks.Bootstrap]
	})
	wg.Wait()
	if core.passes() {
		return nil, nil
	}
	if !core.stays {
		return predictions{stacks.Core: core}, nil
	}
	return d.withBootstrap(ctx, c, core, bootstrap), nil
}

// predictAlone previews bootstrap, where core stays as it is. Where an input of bootstrap is another
// one for certain, the up finds out what that changes: a preview before it would take as long again.
func (d *Driver) predictAlone(ctx context.Context, c *config.Cluster, since compared, core prediction, before map[stacks.Kind]string) predictions {
	if since.differs {
		return predictions{stacks.Core: core}
	}
	bootstrap := d.previewAhead(ctx, c, stacks.Bootstrap, d.opts.Observer, nil)
	bootstrap.state = before[stacks.Bootstrap]
	return d.withBootstrap(ctx, c, core, bootstrap)
}

// withBootstrap are the predictions where core stays as it is.
func (d *Driver) withBootstrap(ctx context.Context, c *config.Cluster, core, bootstrap prediction) predictions {
	if bootstrap.passes() {
		return predictions{stacks.Core: core}
	}
	if bootstrap.err == nil {
		bootstrap.err = d.refuseLoss(ctx, c, bootstrap.result)
	}
	return predictions{stacks.Core: core, stacks.Bootstrap: bootstrap}
}

// predictable returns the digests of the states of both stacks when a preview of them would tell
// what up does, else nil: they are deployed, nothing is left of an interrupted operation, no operation works on
// them or has begun to destroy them, and bootstrap is with its hub and stays there.
func (d *Driver) predictable(ctx context.Context, c *config.Cluster) (map[stacks.Kind]string, error) {
	states := map[stacks.Kind]string{}
	for _, k := range stacks.Kinds() {
		name := stacks.Name(c.Name, k)
		locks, err := d.backend.LockFiles(name, "*")
		if err != nil {
			return nil, err
		}
		st, err := d.backend.State(ctx, name)
		if err != nil || len(locks) > 0 || !settled(st) {
			return nil, err
		}
		states[k] = digestOf(st)
		if k == stacks.Core {
			continue
		}
		if mayLose(st, c) || draining(st) || d.hasLeft(ctx, c, st) {
			return nil, nil
		}
	}
	return states, nil
}

// settled says that the stack was deployed to its end, and that a preview shows
// whatever would be different: of outputs that are secret it shows nothing.
func settled(s *backend.State) bool {
	if s.Resources() == 0 || len(s.Outputs()) == 0 || s.Interrupted() > 0 {
		return false
	}
	return !draining(s) && !backend.IsSpecial(s.Outputs())
}

// previewAhead previews a stack. giveUp, if not nil, is called as soon as
// something would change, or the preview fails.
func (d *Driver) previewAhead(ctx context.Context, c *config.Cluster, k stacks.Kind, to Observer, giveUp func()) (found prediction) {
	defer func() {
		if giveUp != nil && !found.stays {
			giveUp()
		}
	}()
	s, err := d.open(ctx, c, k, catalog.Options{}, true)
	if err != nil {
		return prediction{err: err}
	}
	s.observer, s.onDifference, s.command.States = to, giveUp, true
	var document string
	result, err := s.run(ctx, "preview", func(ctx context.Context, ch chan<- events.EngineEvent) error {
		res, err := s.stack.Preview(ctx, optpreview.EventStreams(ch), optpreview.SuppressProgress())
		document = res.StdOut
		return err
	})
	if err != nil {
		return prediction{result: result, err: err}
	}
	stays := !result.differs && result.Changes != nil && result.rootOutputs != nil && sameStates(document)
	if stays {
		result.Operation, result.Outputs = "up", result.rootOutputs
	}
	return prediction{result: result, stays: stays}
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
	return !slices.ContainsFunc(plan.Steps, func(s plannedStep) bool { return !s.stays() })
}

// stays says that the step leaves the resource's state as it is. What a step
// learns only when it runs is not compared: the id and outputs of a resource
// that is the same stay, and what the program puts out shows in events.
func (s plannedStep) stays() bool {
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
