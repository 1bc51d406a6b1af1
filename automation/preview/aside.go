package preview

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"

	"tombolo/automation/backend"
	"tombolo/automation/connect"
	"tombolo/automation/operation"
	"tombolo/automation/pulumicli"
	"tombolo/automation/redacted"
	"tombolo/config"
	"tombolo/internal/wording"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// This file works on stacks in a backend that is thrown away. A stack that does not exist is
// previewed there, as the role of a pull request's preview may only read the states. So is one of
// which nothing may be decrypted: on a copy of its state without the secrets.

// Aside opens a stack in a backend of its own, which end throws away. Without secrets, the stack is there
// with the copy of its state, if it has one, and so are the stacks whose outputs its program reads.
func (p Previewer) Aside(ctx context.Context, c *config.Cluster, k stacks.Kind, st *backend.State, so catalog.Options) (s *operation.Session, end func(), err error) {
	name := stacks.Name(c.Name, k)
	dir, err := os.MkdirTemp("", "tombolo-aside-")
	if err != nil {
		return nil, nil, fmt.Errorf("make directory for a copy of stack %s: %w", name, err)
	}
	end = func() { os.RemoveAll(dir) }
	if s, err = p.openAside(ctx, dir, c, k, st, so); err != nil {
		end()
		return nil, nil, err
	}
	return s, end, nil
}

func (p Previewer) openAside(ctx context.Context, dir string, c *config.Cluster, k stacks.Kind, st *backend.State, so catalog.Options) (*operation.Session, error) {
	name := stacks.Name(c.Name, k)
	at, err := p.Runner.CLI.Aside(dir, name, !so.WithoutSecrets)
	if err != nil {
		return nil, fmt.Errorf("prepare a backend to preview stack %s: %w", name, err)
	}
	if !so.WithoutSecrets || st == nil {
		return p.Runner.OpenAt(ctx, at, c, k, so, false, nil)
	}
	copied, err := p.copyStates(ctx, pulumicli.Backend(dir), c, k, st)
	if err != nil {
		return nil, fmt.Errorf("copy the state of stack %s to preview it without its secrets: %w", name, err)
	}
	s, err := p.Runner.OpenAt(ctx, at, c, k, so, true, copied.Around)
	if err != nil {
		return nil, err
	}
	s.Copied = &copied
	return s, nil
}

// copyStates places copies without secrets of a stack's state, and of those that its program reads.
func (p Previewer) copyStates(ctx context.Context, dir string, c *config.Cluster, k stacks.Kind, st *backend.State) (redacted.Copy, error) {
	own, err := redacted.Of(st.Raw.Deployment)
	if err != nil {
		return own, err
	}
	states := map[string]json.RawMessage{stacks.Name(c.Name, k): own.Deployment}
	if k == stacks.Bootstrap {
		for _, name := range append(connect.SourcesOf(c).Stacks(), stacks.Name(c.Name, stacks.Core)) {
			other, err := p.Backend.Deployment(ctx, name)
			if err != nil {
				return own, err
			}
			copied, err := redacted.Of(other)
			if err != nil {
				return own, fmt.Errorf("stack %s: %w", name, err)
			}
			if copied.Deployment != nil {
				states[name] = copied.Deployment
			}
		}
	}
	return own, backend.Place(dir, states)
}

// aside previews a stack in a backend of its own. st is the state that it has; nil for none.
func (p Previewer) aside(ctx context.Context, c *config.Cluster, k stacks.Kind, st *backend.State, o Options, so catalog.Options) (operation.StackResult, error) {
	s, end, err := p.Aside(ctx, c, k, st, so)
	if err != nil {
		return operation.StackResult{}, err
	}
	defer end()
	if o.Refresh && s.Copied != nil { // a stack that does not exist has nothing to compare
		if err := p.refreshCopy(ctx, s); err != nil {
			return operation.StackResult{}, err
		}
	}
	r, err := p.run(ctx, s, o, so)
	if s.Copied != nil {
		r.Events.Unseen = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.Copied.Held, s.Copied.Unreadable))))
	}
	return r, err
}

// NoteUnreadable says how much of a copied stack is not compared with the world.
func NoteUnreadable(s *operation.Session) {
	if n := len(s.Copied.Unreadable); n > 0 {
		s.Observer.Note(s.Name, wording.Count(n, "resource")+" not compared with the cluster: without secrets, Secrets and what is reached by one are left out")
	}
}

// refreshCopy compares a copied state with the world, and writes what it finds into the copy: a
// preview cannot leave out what may not be read.
func (p Previewer) refreshCopy(ctx context.Context, s *operation.Session) error {
	NoteUnreadable(s)
	_, err := s.Stack.Refresh(ctx, optrefresh.Exclude(s.Copied.Unreadable), optrefresh.SuppressProgress())
	if err == nil {
		return nil
	}
	return p.Runner.CLI.Failure(ctx, pulumicli.Failed{Stack: s.Name, Operation: "preview", Err: err})
}
