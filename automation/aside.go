package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"

	"tombolo/automation/backend"
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

// aside opens a stack in a backend of its own, in dir. Without secrets, the stack is there with the
// copy of its state, if it has one, and so are the stacks whose outputs its program reads.
func (d *Driver) aside(ctx context.Context, dir string, c *config.Cluster, k stacks.Kind, st *backend.State, so catalog.Options) (*session, error) {
	name := stacks.Name(c.Name, k)
	at, err := d.pulumi.Aside(dir, name, !so.WithoutSecrets)
	if err != nil {
		return nil, fmt.Errorf("prepare a backend to preview stack %s: %w", name, err)
	}
	if !so.WithoutSecrets || st == nil {
		return d.openAt(ctx, at, c, k, so, false)
	}
	copied, err := d.copyStates(ctx, pulumicli.Backend(dir), c, k, st)
	if err != nil {
		return nil, fmt.Errorf("copy the state of stack %s to preview it without its secrets: %w", name, err)
	}
	s, err := d.openWith(ctx, at, c, k, so, true, copied.Around)
	if err != nil {
		return nil, err
	}
	s.copied = &copied
	return s, nil
}

// copyStates places copies without secrets of a stack's state, and of those that its program reads.
func (d *Driver) copyStates(ctx context.Context, dir string, c *config.Cluster, k stacks.Kind, st *backend.State) (redacted.Copy, error) {
	own, err := redacted.Of(st.Raw.Deployment)
	if err != nil {
		return own, err
	}
	states := map[string]json.RawMessage{stacks.Name(c.Name, k): own.Deployment}
	if k == stacks.Bootstrap {
		for _, name := range readBy(c) {
			other, err := d.backend.Deployment(ctx, name)
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

// readBy are the stacks whose outputs the bootstrap of a cluster reads, besides its own.
func readBy(c *config.Cluster) []string {
	names := []string{stacks.Name(c.Name, stacks.Core)}
	if c.HasHubFile() {
		names = append(names, stacks.Name(c.Hub(), stacks.Core))
	}
	for _, ref := range c.References() {
		if ref.Source.Stack != "" {
			names = append(names, ref.Source.StackName("organization", stacks.Project))
		}
	}
	return names
}

// previewAside previews a stack in a backend of its own. st is the state that it has; nil for none.
func (d *Driver) previewAside(ctx context.Context, c *config.Cluster, k stacks.Kind, st *backend.State,
	o PreviewOptions, so catalog.Options,
) (StackResult, error) {
	dir, err := os.MkdirTemp("", "tombolo-preview-")
	if err != nil {
		return StackResult{}, fmt.Errorf("make directory to preview stack %s: %w", stacks.Name(c.Name, k), err)
	}
	defer os.RemoveAll(dir)
	s, err := d.aside(ctx, dir, c, k, st, so)
	if err != nil {
		return StackResult{}, err
	}
	if o.Refresh {
		if err := s.refreshCopy(ctx); err != nil {
			return StackResult{}, err
		}
	}
	r, err := s.preview(ctx, o, so)
	if s.copied != nil {
		r.unseen = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.copied.Held, s.copied.Unreadable))))
	}
	return r, err
}

// noteUnreadable says how much of a copied stack is not compared with the world.
func (s *session) noteUnreadable() {
	if n := len(s.copied.Unreadable); n > 0 {
		s.observer.Note(s.name, wording.Count(n, "resource")+" not compared with the cluster: without secrets, Secrets and what is reached by one are left out")
	}
}

// refreshCopy compares a copied state with the world, and writes what it finds into the copy: a
// preview cannot leave out what may not be read.
func (s *session) refreshCopy(ctx context.Context) error {
	if s.copied == nil {
		return nil // a stack that does not exist has nothing to compare
	}
	s.noteUnreadable()
	_, err := s.stack.Refresh(ctx, optrefresh.Exclude(s.copied.Unreadable), optrefresh.SuppressProgress())
	if err == nil {
		return nil
	}
	return s.driver.pulumi.Failure(ctx, pulumicli.Failed{Stack: s.name, Operation: "preview", Err: err})
}
